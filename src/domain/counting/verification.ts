/** What of the counters can be recounted where the rows of old queries are gone (see `retention.ts`). */
import { bucketAt, bucketWidthMs } from './buckets.js';

/**
 * How the counters of a level are recounted. Buckets from `firstBucket` on hold only queries that have their rows, those
 * from `fromMs` on. What the others hold is known from the next narrower level alone: each is the sum of `ratio` buckets
 * of it, all before `narrowerEnd`. At the narrowest level nothing is left to tell them by.
 */
export interface VerificationPlan {
  readonly firstBucket: number;
  readonly fromMs: number;
  readonly ratio: number;
  readonly narrowerEnd: number;
}

/** Before every bucket and every time. */
const never = Number.MIN_SAFE_INTEGER;

/** `rowsFrom` is a project's; null where every query has its row. */
export function planVerification(level: number, rowsFrom: number | null): VerificationPlan {
  const width = bucketWidthMs(level);
  const ratio = level === 0 ? 1 : width / bucketWidthMs(level - 1);
  if (rowsFrom === null) return { firstBucket: never, fromMs: never, ratio, narrowerEnd: never };
  const firstBucket = bucketAt(rowsFrom + width - 1, level);
  return {
    firstBucket,
    fromMs: firstBucket * width,
    ratio,
    narrowerEnd: level === 0 ? never : firstBucket * ratio,
  };
}
