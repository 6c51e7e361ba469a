/** Hashes of passwords, and the form in which they are stored. */
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

/** The memory and time of a hash: scrypt's N is 2 to the power of `ln`. */
interface Cost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** Of what a hash was made: the password exactly as it was received, or, in earlier versions, its NFKC form. */
export type HashedForm = 'exact' | 'normalized';

export interface PasswordHash {
  readonly cost: Cost;
  readonly form: HashedForm;
  readonly salt: string | Buffer;
  readonly key: Buffer;
}

/** Of the equal costs that OWASP ASVS 5.0 asks for (appendix C), the one with the least memory. */
const cost: Cost = { ln: 15, r: 8, p: 3 };
/** The cost of hashes that earlier versions made. */
const olderCost: Cost = { ln: 14, r: 16, p: 1 };
/** What an older hash costs less than a new one. */
const missingCost: Cost = { ln: 15, r: 8, p: 2 };

const memoryBytesMax = 2 ** 26;
const keyBytes = 64;
const saltBytes = 16;

/** The PHC string format, which begins with the version of the function, if it has one, and the cost. */
const COST = `ln=${cost.ln},r=${cost.r},p=${cost.p}$`;
const PREFIXES: Readonly<Record<HashedForm, string>> = {
  exact: `$scrypt$v=2$${COST}`,
  normalized: `$scrypt$${COST}`,
};
const PATTERN =
  /^\$scrypt\$(?<version>v=2\$)?ln=(?<ln>1\d),r=(?<r>[1-8]),p=(?<p>[1-9])\$(?<salt>[A-Za-z\d+/]{22})\$(?<key>[A-Za-z\d+/]{86})$/;
/** The oldest hashes: in hexadecimal, without the cost. */
const OLDEST_PATTERN = /^(?<salt>[\da-f]{32}):(?<key>[\da-f]{128})$/;

/**
 * The form of the hash that replaces an older one, whose password is known to be right. Undefined if the hash stays.
 * A password of ASCII characters is its own NFKC form. Of others, a device may send another form than the one of today, which
 * must continue to match: so their hashes keep the NFKC form until the password is changed.
 */
export function findRenewedForm(hash: string, password: string): HashedForm | undefined {
  const form = /^[\u0020-\u007e]*$/.test(password) ? 'exact' : 'normalized';
  return hash.startsWith(PREFIXES.exact) || hash.startsWith(PREFIXES[form]) ? undefined : form;
}

/** Undefined if the text is not a hash of this or an earlier version. */
export function parseHash(text: string): PasswordHash | undefined {
  const { version, ln, r, p, salt = '', key = '' } = PATTERN.exec(text)?.groups ?? {};
  if (ln !== undefined) {
    return {
      cost: { ln: Number(ln), r: Number(r), p: Number(p) },
      form: version === undefined ? 'normalized' : 'exact',
      salt: Buffer.from(salt, 'base64'),
      key: Buffer.from(key, 'base64'),
    };
  }
  const older = OLDEST_PATTERN.exec(text)?.groups;
  if (older === undefined) return undefined;
  const { salt: saltText = '', key: keyText = '' } = older;
  // The oldest hashes were made with the text of the salt.
  return { cost: olderCost, form: 'normalized', salt: saltText, key: Buffer.from(keyText, 'hex') };
}

/** A salt for new hashes, in the form in which they contain it. */
export function createSalt(): string {
  return toBase64(randomBytes(saltBytes));
}

/** The salt of a hash that has the newest form. */
export function saltOf(hash: string): string | undefined {
  return hash.startsWith(PREFIXES.exact) ? PATTERN.exec(hash)?.groups?.['salt'] : undefined;
}

/** Blocks its thread for as long as the hash costs. */
export function createHash(password: string, form: HashedForm, salt = createSalt()): string {
  const key = deriveKey(inForm(password, form), Buffer.from(salt, 'base64'), cost);
  return `${PREFIXES[form]}${salt}$${toBase64(key)}`;
}

/** Blocks its thread for as long as a new hash costs, so that the time does not tell who has an older one. */
export function matchesHash(password: string, { cost: own, form, salt, key }: PasswordHash): boolean {
  const text = inForm(password, form);
  if (own === olderCost) deriveKey(text, salt, missingCost);
  return timingSafeEqual(deriveKey(text, salt, own), key);
}

function inForm(password: string, form: HashedForm): string {
  return form === 'exact' ? password : password.normalize('NFKC');
}

function deriveKey(password: string, salt: string | Buffer, { ln, r, p }: Cost): Buffer {
  return scryptSync(password, salt, keyBytes, { N: 2 ** ln, r, p, maxmem: memoryBytesMax });
}

/** Without padding, as the PHC string format asks. */
function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
