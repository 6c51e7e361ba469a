/**
 * How a series of adjacent ranges is cut into buckets so that few of them are read. Cut one by one, each local day of a
 * zone that is not UTC would take narrow buckets at both of its ends. Here each bound is moved to the nearest edge of a
 * wide bucket; what lies between bound and edge is read once, added to the range on its one side and taken from the
 * range on its other.
 */
import { BUCKET_WIDTHS_MS, bucketWidthMs, type Segment, splitIntoBuckets } from './buckets.js';
import { type Counts, mapTypes, type TypeCounts, withTotal } from './counts.js';

/** A segment, and the number of the sum that it belongs to. */
export interface SumSegment extends Segment {
  readonly sum: number;
}

/**
 * The segments whose sums make a series: first one sum for each range between two moved bounds, then one for each
 * bound. `bounds` ascend. A sum may have no segments: then it is nothing.
 */
export function splitSeriesIntoBuckets(bounds: readonly number[]): SumSegment[] {
  const edges = movedBounds(bounds);
  const segments: SumSegment[] = [];
  let sum = 0;
  const add = (from: number, to: number): void => {
    for (const { level, first, end } of splitIntoBuckets({ from, to }))
      segments.push({ sum, level, first, end });
    sum++;
  };
  for (const [at, to] of edges.entries()) if (at > 0) add(edges[at - 1] ?? to, to);
  for (const [at, edge] of edges.entries()) {
    const bound = bounds[at] ?? edge;
    add(Math.min(bound, edge), Math.max(bound, edge));
  }
  return segments;
}

/** The counts of a series: `sums` has those of the segments by number, without those that are nothing. */
export function combineSeriesCounts(
  bounds: readonly number[],
  sums: ReadonlyMap<number, TypeCounts>,
): Counts[] {
  const edges = movedBounds(bounds);
  const ranges = Math.max(bounds.length - 1, 0);
  /** What lies before a bound and behind its edge; less than nothing where the edge lies behind the bound. */
  const restOf = (at: number, type: keyof TypeCounts): number => {
    const rest = sums.get(ranges + at)?.[type] ?? 0;
    return (bounds[at] ?? 0) < (edges[at] ?? 0) ? -rest : rest;
  };
  return Array.from({ length: ranges }, (_, at) => {
    const count = (type: keyof TypeCounts): number =>
      (sums.get(at)?.[type] ?? 0) + restOf(at + 1, type) - restOf(at, type);
    return withTotal(mapTypes(count));
  });
}

/** Each bound at the nearest edge of the widest buckets that fit into the middle one of the ranges by length. */
function movedBounds(bounds: readonly number[]): number[] {
  const lengthsMs = Float64Array.from(bounds.slice(1), (to, at) => to - (bounds[at] ?? to)).sort();
  const middleMs = Math.max(lengthsMs[Math.floor(lengthsMs.length / 2)] ?? 1, 1);
  const width = bucketWidthMs(BUCKET_WIDTHS_MS.findLastIndex((widthMs) => widthMs <= middleMs));
  return bounds.map((bound) => Math.round(bound / width) * width);
}
