/**
 * Splits a series of adjacent ranges into few buckets. Split one by one, each local day of a zone other than UTC would
 * need narrow buckets at both ends. Instead, each bound moves to the nearest edge of a wide bucket. The time between a
 * bound and its edge is read once, added to the range on one side and subtracted from the range on the other.
 */
import { mapInSteps, type Steps } from '../../shared/steps.js';
import { BUCKET_WIDTHS_MS, bucketWidthMs, type Segment, splitIntoBuckets } from './buckets.js';
import { type Counts, mapTypes, type TypeCounts, withTotal } from './counts.js';

/** A segment, and the index of the sum that it belongs to. */
export interface SumSegment extends Segment {
  readonly sum: number;
}

/**
 * The segments whose sums make a series: one sum for each range between two moved bounds, then one for each bound.
 * `bounds` ascend. A sum without segments is zero.
 */
export function* splitSeriesIntoBuckets(bounds: readonly number[]): Steps<SumSegment[]> {
  const edges = moveBounds(bounds);
  const split = (sum: number, from: number, to: number): SumSegment[] =>
    splitIntoBuckets({ from, to }).map(({ level, first, end }) => ({ sum, level, first, end }));
  const ofRanges = yield* mapInSteps(edges.slice(1), (to, at) => split(at, edges[at] ?? to, to));
  const ofBounds = yield* mapInSteps(edges, (edge, at) => {
    const bound = bounds[at] ?? edge;
    return split(ofRanges.length + at, Math.min(bound, edge), Math.max(bound, edge));
  });
  return [...ofRanges, ...ofBounds].flat();
}

/** The counts of a series from the sums of its segments, by index; zero sums may be missing. */
export function* combineSeriesCounts(
  bounds: readonly number[],
  sums: ReadonlyMap<number, TypeCounts>,
): Steps<Counts[]> {
  const combine = combinerFor(bounds);
  yield;
  const byType = mapTypes((type) => combine((index) => sums.get(index)?.[type] ?? 0));
  return yield* mapInSteps(byType.web, (_, at) => withTotal(mapTypes((type) => byType[type][at] ?? 0)));
}

/** Returns a function that combines the sums of segments, by index, to the numbers of a series. */
export function combinerFor(bounds: readonly number[]): (sumAt: (index: number) => number) => number[] {
  const edges = moveBounds(bounds);
  const ranges = Math.max(bounds.length - 1, 0);
  return (sumAt) => {
    /** The number between a moved bound and the bound itself; negative if the bound moved forward. */
    const moved = (at: number): number => {
      const sum = sumAt(ranges + at);
      return (bounds[at] ?? 0) < (edges[at] ?? 0) ? -sum : sum;
    };
    return Array.from({ length: ranges }, (_, at) => sumAt(at) + moved(at + 1) - moved(at));
  };
}

/** Moves each bound to the nearest edge of the widest buckets that fit into the range of median length. */
function moveBounds(bounds: readonly number[]): number[] {
  const lengthsMs = Float64Array.from(bounds.slice(1), (to, at) => to - (bounds[at] ?? to)).sort();
  const medianMs = Math.max(lengthsMs[Math.floor(lengthsMs.length / 2)] ?? 1, 1);
  const width = bucketWidthMs(BUCKET_WIDTHS_MS.findLastIndex((widthMs) => widthMs <= medianMs));
  return bounds.map((bound) => Math.round(bound / width) * width);
}
