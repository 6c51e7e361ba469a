/** Plans the verification of counters where retention has removed the rows of old queries. */
import { bucketAt, bucketWidthMs } from './buckets.js';

/** Before every bucket and every time. */
const never = Number.MIN_SAFE_INTEGER;

/**
 * How to verify the counters of a level. Buckets from `firstBucket` (which starts at `fromMs`) on still have all their
 * rows and are recounted. Each earlier bucket is compared with the sum of `ratio` buckets of the next narrower level, all
 * of them before `narrowerEnd`. Earlier buckets of the narrowest level cannot be verified. `rowsFrom` is the project's;
 * null if every query still has its row.
 */
export function planVerification(level: number, rowsFrom: number | null) {
  const width = bucketWidthMs(level);
  const ratio = level === 0 ? 1 : width / bucketWidthMs(level - 1);
  if (rowsFrom === null) return { firstBucket: never, fromMs: never, ratio, narrowerEnd: never };
  const firstBucket = bucketAt(rowsFrom + width - 1, level);
  const narrowerEnd = level === 0 ? never : firstBucket * ratio;
  return { firstBucket, fromMs: firstBucket * width, ratio, narrowerEnd };
}
