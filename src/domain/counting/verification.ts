/** Plans the verification of counters of a level: from rows, or from the counters of the next narrower level. */
import { bucketAt, bucketWidthMs } from './buckets.js';

/** Before every bucket and every time. */
const never = Number.MIN_SAFE_INTEGER;
/** After every bucket and every time. */
const always = Number.MAX_SAFE_INTEGER;

/**
 * How to verify the counters of a level. Buckets from `firstBucket` (which starts at `fromMs`) on still have all their
 * rows and are recounted. Each earlier bucket is compared with the sum of `ratio` buckets of the next narrower level, all
 * of them before `narrowerEnd`. Earlier buckets of the narrowest level cannot be verified. `rowsFrom` is the project's;
 * null if every query still has its row.
 *
 * If the narrower level is known to be right, all buckets are compared with it, which is the same as recounting them. Then
 * `readsRows` is false.
 */
export function planVerification(level: number, rowsFrom: number | null, isNarrowerRight = false) {
  const width = bucketWidthMs(level);
  const ratio = level === 0 ? 1 : width / bucketWidthMs(level - 1);
  if (level > 0 && isNarrowerRight)
    return { readsRows: false, firstBucket: always, fromMs: always, ratio, narrowerEnd: always };
  if (rowsFrom === null)
    return { readsRows: true, firstBucket: never, fromMs: never, ratio, narrowerEnd: never };
  const firstBucket = bucketAt(rowsFrom + width - 1, level);
  const narrowerEnd = level === 0 ? never : firstBucket * ratio;
  return { readsRows: true, firstBucket, fromMs: firstBucket * width, ratio, narrowerEnd };
}
