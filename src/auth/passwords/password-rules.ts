/** Which passwords are too easy to guess, however long they are (OWASP ASVS 5.0, 6.2; NIST SP 800-63B, 3.1.1.2). */
import { CallerStatsError } from '../../domain/errors.js';
import { later } from '../../shared/later.js';

const commonPasswords = later(() => import('@zxcvbn-ts/language-common').then(toCommon));

/** Whose password it is. */
interface PasswordOwner {
  /** In lower case. */
  readonly email: string;
  readonly name: string;
}

/** Characters that a password needs besides what others know of its owner. */
const ownCharactersMin = 8;
/** Fewer different characters are one key pressed again and again, or a few. */
const differentCharactersMin = 5;
/** Shorter parts of names and addresses occur in many words. */
const partCharactersMin = 3;

const PRODUCT = ['caller', 'stats', 'callerstats'];

/** What people write instead of letters. */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Passwords that nobody may choose. */
export interface PasswordList {
  has(password: string): Promise<boolean>;
}

/** What a password is for. */
export interface PasswordUse {
  readonly owner: PasswordOwner;
  /** The field of the request. */
  readonly field: 'password' | 'newPassword';
}

/**
 * Throws `invalid`, with what is wrong with the field, for a password that is easy to guess, or that is one of `breached`.
 */
export async function requireGoodPassword(
  password: string,
  { owner, field }: PasswordUse,
  breached?: PasswordList,
): Promise<void> {
  const problem = (await findProblem(password, owner)) ?? (await findBreach(password, breached));
  if (problem === undefined) return;
  throw new CallerStatsError('invalid', 'The request is invalid.', { details: [`${field}: ${problem}`] });
}

async function findBreach(password: string, breached: PasswordList | undefined): Promise<string | undefined> {
  if (!(await breached?.has(password))) return undefined;
  return 'is known from a breach of another site; a few words that belong to nothing make a good one';
}

async function findProblem(password: string, owner: PasswordOwner): Promise<string | undefined> {
  const text = password.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
  if (text === '') return 'has only blanks; a few words make a good one';
  const isAgain = [text, text.replaceAll(/[^\p{L}\p{N}]/gu, '')].some((one) =>
    /^(.{1,12}?)\1+.{0,3}$/s.test(one),
  );
  const isRepeated = new Set(text).size < differentCharactersMin || isAgain;
  if (isRepeated) return 'repeats the same characters; a few words make a good one';
  if (countOwn(withoutParts(text, partsOf(owner))) < ownCharactersMin)
    return 'is mostly your address, your name or the name of this program; a few other words make a good one';
  if (await isCommon(text))
    return 'is one that many people use, and is tried first; a few words make a good one';
  if (countSurprises(text) < ownCharactersMin)
    return 'is mostly a sequence such as abcdef, 123456 or qwerty; a few words make a good one';
  return undefined;
}

/** In the alphabet and in Unicode, neighbors have neighboring numbers; so have the keys of a keyboard here. */
const KEYBOARD = [
  '1234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'йцукенгшщзхъ',
  'фывапролджэ',
  'ячсмитьбю',
].join('   ');

/**
 * How many characters do not follow from the two before them, as in abc, 9876 and qwerty, or from every other one, as in a1b2c3 and
 * aabbcc; of each sequence one: abc123def456 has four.
 */
function countSurprises(text: string): number {
  const characters = [...text];
  const ways = [
    characters.map((one) => one.codePointAt(0) ?? 0),
    characters.map((one, at) => {
      const key = KEYBOARD.indexOf(one);
      // No neighbor of anything.
      return key < 0 ? -10 * (at + 1) ** 2 : key;
    }),
  ];
  const follows = (numbers: readonly number[], at: number, step: number) => {
    const [first = 0, second = 0, third = 0] = [at - 2 * step, at - step, at].map((one) => numbers[one]);
    return (
      at >= 2 * step &&
      at < numbers.length &&
      third - second === second - first &&
      Math.abs(third - second) <= 2
    );
  };
  const isOfSequence = (at: number) =>
    ways.some((numbers) => follows(numbers, at, 1) || follows(numbers, at, 2));
  return characters.filter((_, at) => !isOfSequence(at) && !isOfSequence(at + 1)).length;
}

/** What others know of the owner, longest first. */
function partsOf({ email, name }: PasswordOwner): readonly string[] {
  const lowered = name.toLowerCase();
  const words = `${email} ${lowered}`.split(/[^\p{L}\p{N}]+/u);
  const parts = [email, lowered, ...words, ...PRODUCT];
  return parts.filter(({ length }) => length >= partCharactersMin).sort((a, b) => b.length - a.length);
}

function withoutParts(text: string, parts: readonly string[]): string {
  return parts.reduce((rest, part) => rest.replaceAll(part, ' '), text);
}

/** The letters and digits, and each different other character: those between the parts are often the same. */
function countOwn(text: string): number {
  const others = text.match(/[^\p{L}\p{N}\s]/gu) ?? [];
  return (text.match(/[\p{L}\p{N}]/gu) ?? []).length + new Set(others).size;
}

/** Whether the password is on the list, also with other digits around it, or with digits for letters. */
async function isCommon(text: string): Promise<boolean> {
  const common = await commonPasswords();
  const withLetters = text.replaceAll(/[013457@$!]/g, (character) => SUBSTITUTES[character] ?? character);
  const spellings = [text, withLetters];
  return spellings
    .flatMap((one) => [
      one,
      one.replaceAll(' ', ''),
      text.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, ''),
      bare(one),
    ])
    .some((one) => common.has(one));
}

function bare(text: string): string {
  return text.replaceAll(/[^\p{L}]/gu, '');
}

/** 49,000 passwords take 5 MB. */
function toCommon({ dictionary }: typeof import('@zxcvbn-ts/language-common')): ReadonlySet<string> {
  return new Set(dictionary['passwords-common'].map(String));
}
