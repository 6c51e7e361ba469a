/**
 * How a range of time is cut into buckets. Everything that counts (answers, recording, verification) uses
 * the widths and the cut of this file, so that no two of them can disagree.
 */
import { dayMs, hourMs, minuteMs, secondMs } from '../time/duration.js';

/**
 * Bucket widths in milliseconds, narrowest first; the index is the bucket's *level*. Each divides the next.
 *
 * - 1 ms: the precision of the service, so that any bound falls between buckets.
 * - 10 s, and 15 min: every UTC offset in use is a multiple of 15 min, so local days in any zone are sums of
 *   whole buckets of that width or wider.
 * - 3 h: keeps the buckets read between 15 min and a day at a dozen an end, not ninety.
 * - 1 day, and 32 days: decades in a few hundred buckets.
 */
export const BUCKET_WIDTHS_MS = [1, 10 * secondMs, 15 * minuteMs, 3 * hourMs, dayMs, 32 * dayMs] as const;

/** The level of buckets that are whole days in UTC. */
export const DAY_LEVEL = 4;

const WIDEST_LEVEL = BUCKET_WIDTHS_MS.length - 1;

/** Consecutive buckets of one level: `first` is in, `end` is not. A bucket is named by floor(time / width). */
export interface Segment {
  readonly level: number;
  readonly first: number;
  readonly end: number;
}

/** The bucket of `level` that holds `timeMs`. Floored, not truncated, so that times before 1970 fall right. */
export function bucketAt(timeMs: number, level: number): number {
  return Math.floor(timeMs / bucketWidthMs(level));
}

/** The width of `level` in milliseconds. */
export function bucketWidthMs(level: number): number {
  const width = BUCKET_WIDTHS_MS[level];
  if (width === undefined) throw new RangeError(`there is no bucket level ${level}`);
  return width;
}

/**
 * Cuts the half-open range [from, to), in whole milliseconds: the widest buckets that fit inside, then narrower
 * ones towards both ends, down to one millisecond. The segments do not overlap and together are exactly the range; at most
 * 2 × levels − 1 of them, none empty. An empty range has none.
 */
export function splitIntoBuckets(range: { readonly from: number; readonly to: number }): Segment[] {
  const segments: Segment[] = [];
  cut(range.from, range.to, WIDEST_LEVEL, segments);
  return segments;
}

function cut(from: number, to: number, level: number, into: Segment[]): void {
  if (from >= to) return;
  const width = bucketWidthMs(level);
  const first = Math.ceil(from / width);
  const end = Math.floor(to / width);
  if (first >= end) {
    cut(from, to, level - 1, into);
    return;
  }
  into.push({ level, first, end });
  cut(from, first * width, level - 1, into);
  cut(end * width, to, level - 1, into);
}
