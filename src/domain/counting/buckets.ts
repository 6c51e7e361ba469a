/**
 * Splits time into the buckets that counters exist for. Recording, counting and verification all use this file, so that
 * they cannot disagree.
 */
import { dayMs, hourMs, minuteMs, secondMs } from '../time/duration.js';

/**
 * Bucket widths in milliseconds, narrowest first; the index is the bucket's *level*. Each width divides the next.
 *
 * - 1 ms is the precision of the service, so any bound falls between two buckets.
 * - 10 s and 15 min: every UTC offset in use is a multiple of 15 min, so local days are sums of whole buckets.
 * - 3 h limits the buckets read between 15 min and a day to a dozen per end, instead of ninety.
 * - 1 day and 32 days cover decades with a few hundred buckets.
 */
export const BUCKET_WIDTHS_MS = [1, 10 * secondMs, 15 * minuteMs, 3 * hourMs, dayMs, 32 * dayMs] as const;

/**
 * A query is counted from some level on: in the counters of that level and of all wider ones. It is one of these levels while the
 * bucket has few queries; then narrower ranges read them one by one. All other queries are counted from level 0 on.
 */
export const ROW_LEVELS = [1, 2] as const;

/** The level of buckets that are whole days in UTC. */
export const DAY_LEVEL = BUCKET_WIDTHS_MS.indexOf(dayMs);

/** Consecutive buckets of one level, from `first` up to but not including `end`. A bucket's number is floor(time / width). */
export interface Segment {
  readonly level: number;
  readonly first: number;
  readonly end: number;
}

/** The number of the bucket that contains a time. Rounds down, so times before 1970 are right, too. */
export function bucketAt(timeMs: number, level: number): number {
  return Math.floor(timeMs / bucketWidthMs(level));
}

export function bucketWidthMs(level: number): number {
  const width = BUCKET_WIDTHS_MS[level];
  if (width === undefined) throw new RangeError(`bucket level ${level} does not exist`);
  return width;
}

/**
 * Splits the half-open range [from, to) into the widest buckets that fit inside, then narrower ones towards both ends.
 * The segments are exactly the range and do not overlap. There are at most 2 × levels − 1, none of them empty.
 */
export function splitIntoBuckets({ from, to }: { readonly from: number; readonly to: number }): Segment[] {
  const segments: Segment[] = [];
  split(from, to, BUCKET_WIDTHS_MS.length - 1, segments);
  return segments;
}

function split(from: number, to: number, level: number, segments: Segment[]): void {
  if (from >= to) return;
  const width = bucketWidthMs(level);
  const first = Math.ceil(from / width);
  const end = Math.floor(to / width);
  if (first >= end) {
    split(from, to, level - 1, segments);
    return;
  }
  segments.push({ level, first, end });
  split(from, first * width, level - 1, segments);
  split(end * width, to, level - 1, segments);
}
