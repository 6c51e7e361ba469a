/**
 * Counts several ranges that may overlap in one statement, and so in one snapshot: their bounds divide time into adjacent
 * ranges, the tiles, and the count of a range is the sum of its tiles.
 */
import { type Counts, mapTypes, withTotal } from './counts.js';
import type { DateRange } from './date-range.js';

/** The bounds of the tiles, in order. */
export function tile(bounds: readonly number[]): number[] {
  return [...new Set(bounds)].sort((a, b) => a - b);
}

/** The numbers between adjacent `bounds`, from those between adjacent `tiles`, which include all of the bounds. */
export function numbersBetween(
  bounds: readonly number[],
  tiles: readonly number[],
  numbers: readonly number[],
): readonly number[] {
  if (bounds === tiles) return numbers;
  const sumBefore = sumsBefore(tiles, numbers);
  return bounds.slice(1).map((to, at) => sumBefore(to) - sumBefore(bounds[at]));
}

/** Returns the sum of the tiles before a bound. */
function sumsBefore(
  tiles: readonly number[],
  numbers: readonly number[],
): (bound: number | undefined) => number {
  if (numbers.length !== tiles.length - 1) throw new Error('Invariant violated: each tile has a number.');
  const before = new Map<number, number>();
  let sum = 0;
  for (const [at, bound] of tiles.entries()) {
    before.set(bound, sum);
    sum += numbers[at] ?? 0;
  }
  return (bound) => {
    const found = bound === undefined ? undefined : before.get(bound);
    if (found === undefined) throw new Error('Invariant violated: each bound is one of the tiles.');
    return found;
  };
}

/** Returns the counts of a range whose bounds are among the tiles'. */
export function createCounter(
  tiles: readonly number[],
  counts: readonly Counts[],
): (range: DateRange) => Counts {
  const sumBefore = mapTypes((type) =>
    sumsBefore(
      tiles,
      counts.map((one) => one[type]),
    ),
  );
  return ({ from, to }) => withTotal(mapTypes((type) => sumBefore[type](to) - sumBefore[type](from)));
}
