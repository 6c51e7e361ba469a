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
  if (numbers.length !== tiles.length - 1) throw new Error('Invariant violated: each tile has a number.');
  /** The sum of the tiles before each bound. */
  const before = new Map<number, number>();
  let sum = 0;
  for (const [at, bound] of tiles.entries()) {
    before.set(bound, sum);
    sum += numbers[at] ?? 0;
  }
  const sumBefore = (bound: number | undefined): number => {
    const found = bound === undefined ? undefined : before.get(bound);
    if (found === undefined) throw new Error('Invariant violated: each bound is one of the tiles.');
    return found;
  };
  return bounds.slice(1).map((to, at) => sumBefore(to) - sumBefore(bounds[at]));
}

/** As `numbersBetween`, with counts. */
export function countsBetween(
  bounds: readonly number[],
  tiles: readonly number[],
  counts: readonly Counts[],
): readonly Counts[] {
  if (bounds === tiles) return counts;
  const byType = mapTypes((type) =>
    numbersBetween(
      bounds,
      tiles,
      counts.map((one) => one[type]),
    ),
  );
  return byType.web.map((_, at) => withTotal(mapTypes((type) => byType[type][at] ?? Number.NaN)));
}

/** The counts of one range whose bounds are among the tiles'. */
export function countsOf(
  { from, to }: DateRange,
  tiles: readonly number[],
  counts: readonly Counts[],
): Counts {
  const [sums] = countsBetween([from, to], tiles, counts);
  if (sums === undefined) throw new Error('Invariant violated: two bounds have one range between them.');
  return sums;
}
