/** Suggests the name that a mistyped one was probably meant to be. */
import { closest, distance } from 'fastest-levenshtein';
import { unknownNamesMax } from './limits.js';
import { quote } from './result.js';

/** The message for a name that is not one of `known`, with a suggestion if a known name is close. */
export function unknownNameMessage(
  kind: 'field' | 'parameter' | 'column',
  name: string,
  known: readonly string[],
): string {
  const unknown = `${quote(name)}: is not a ${kind} here`;
  if (known.length === 0) return `${unknown}; there is none`;
  const suggestion = suggest(name.toLowerCase(), known);
  if (suggestion !== undefined) return `${unknown}; did you mean ${suggestion}?`;
  return `${unknown}; there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`;
}

/** The messages for unknown names: for the first of them, and one that says how many more there are. */
export function unknownNameMessages(
  kind: 'field' | 'parameter',
  names: readonly string[],
  known: readonly string[],
  namedMax = unknownNamesMax,
): string[] {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return [];
  const named = unknown.slice(0, namedMax).map((name) => unknownNameMessage(kind, name, known));
  const more = unknown.length - named.length;
  return more > 0 ? [...named, `and ${more} more unknown ${kind}s`] : named;
}

/** The time to compare grows with both lengths, and a very long name is not a mistyped short one. */
const comparedCharactersMax = 64;

/** The known name that is most like this one, which is in lower case. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  if (name.length > comparedCharactersMax) return undefined;
  const lowered = known.map((one) => one.toLowerCase());
  const longer = known.find((_, at) => name.length > 1 && lowered[at]?.endsWith(name));
  if (longer !== undefined) return longer;
  const nearest = closest(name, lowered);
  return distance(name, nearest) <= Math.max(2, nearest.length / 2)
    ? known[lowered.indexOf(nearest)]
    : undefined;
}

/** The known name that differs from this unknown one by at most these characters, or by case. */
export function suggestNearMiss<Name extends string>(
  name: string,
  known: readonly Name[],
  differencesMax = 1,
): Name | undefined {
  if (name.length > comparedCharactersMax || known.some((one) => one === name)) return undefined;
  return known.find((one) => distance(name.toLowerCase(), one.toLowerCase()) <= differencesMax);
}

/** `the periods are …`, after the one that was probably meant, or those that share the most words with the unknown name. */
export function listKnown(kind: string, unknown: string, known: readonly string[]): string {
  const near = suggestNearMiss(unknown, known);
  const meant = near === undefined ? withMostWordsOf(unknown, known) : [near];
  return `${meant.length === 0 ? 'the' : `did you mean ${meant.join(' or ')}? The`} ${kind}s are ${known.join(', ')}`;
}

function withMostWordsOf(unknown: string, known: readonly string[]): string[] {
  if (unknown.length > comparedCharactersMax) return [];
  const words = wordsOf(unknown);
  const shared = known.map((name) => wordsOf(name).filter((word) => words.includes(word)).length);
  const most = Math.max(1, ...shared);
  return known.filter((_, at) => shared[at] === most);
}

/** Numbers and words without a plural's `s`. `last`, `this` and `to date` say too little. */
const wordsOf = (name: string): string[] =>
  (name.toLowerCase().match(/[a-z]{3,}|\d+/g) ?? [])
    .map((word) => word.replace(/s$/, ''))
    .filter((word) => !['last', 'thi', 'date'].includes(word));
