import { closest, distance } from 'fastest-levenshtein';
import { quote } from './result.js';

/** The message for a name that is not one of `known`, with the known name it was probably meant to be. */
export function unknownNameMessage(
  kind: 'field' | 'parameter' | 'column',
  name: string,
  known: readonly string[],
): string {
  const shown = quote(name);
  if (known.length === 0) return `${shown}: is not a ${kind} here; there is none`;
  const meant = nearestOf(name.toLowerCase(), known);
  const all = `there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`;
  return `${shown}: is not a ${kind} here; ${meant === undefined ? all : `did you mean ${meant}?`}`;
}

/** Comparing takes time in proportion to both lengths, and no long name is a mistyped short one. */
const comparedCharactersMax = 64;

function nearestOf(name: string, known: readonly string[]): string | undefined {
  if (name.length > comparedCharactersMax) return undefined;
  const longer = known.find((one) => one.toLowerCase().endsWith(name) && name.length > 1);
  if (longer !== undefined) return longer;
  const nearest = closest(
    name,
    known.map((one) => one.toLowerCase()),
  );
  const meant = known.find((one) => one.toLowerCase() === nearest);
  return meant !== undefined && distance(name, nearest) <= Math.max(2, meant.length / 2) ? meant : undefined;
}

/** The known name that this one, which is none of them, misses by one character or by its case. */
export function suggestNearMiss<Name extends string>(name: string, known: readonly Name[]): Name | undefined {
  if (name.length > comparedCharactersMax || known.some((one) => one === name)) return undefined;
  return known.find((one) => distance(name.toLowerCase(), one) <= 1);
}
