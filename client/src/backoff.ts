/** How long to wait after requests that failed. */
import type { CallerStatsError } from './errors.js';

export interface BackoffOptions {
  /** The longest wait after the first failure, in milliseconds; it doubles with each in a row. 500 unless given. */
  readonly retryBaseMs: number;
  /** The longest wait, in milliseconds, but for a `Retry-After`. 30,000 unless given. */
  readonly retryMaxMs: number;
}

/**
 * Milliseconds until the next try: exponential with full jitter, so that clients that failed together do not come back
 * together. No server mends its keys and projects in a second: where it refuses those, half of the longest wait at least.
 * A `Retry-After` is kept, with some jitter behind it for the same reason.
 *
 * @param failures in a row, at least 1
 */
export function backoffMs(
  { status, retryAfterMs }: CallerStatsError,
  failures: number,
  random: number,
  { retryBaseMs, retryMaxMs }: BackoffOptions,
): number {
  const boundMs = Math.min(retryMaxMs, retryBaseMs * 2 ** (failures - 1));
  if (retryAfterMs !== undefined) return retryAfterMs + random * retryBaseMs;
  const passes = status === 0 || status === 408 || status === 429 || status >= 500;
  return passes ? random * boundMs : ((1 + random) * retryMaxMs) / 2;
}
