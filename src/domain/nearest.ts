import { closest, distance } from 'fastest-levenshtein';
import { quote } from './result.js';

/** The message for a name that is not one of `known`, with the known name it was probably meant to be. */
export function unknownName(
  kind: 'field' | 'parameter' | 'column',
  name: string,
  known: readonly string[],
): string {
  const shown = quote(name);
  if (known.length === 0) return `${shown}: is not a ${kind} here; there is none`;
  const nearest = closest(
    name.toLowerCase(),
    known.map((one) => one.toLowerCase()),
  );
  const meant = known.find((one) => one.toLowerCase() === nearest);
  const near = meant !== undefined && distance(name.toLowerCase(), nearest) <= Math.max(2, meant.length / 2);
  return `${shown}: is not a ${kind} here; ${near ? `did you mean ${meant}?` : `there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`}`;
}
