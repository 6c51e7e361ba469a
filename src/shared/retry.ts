import { setTimeout as delay } from 'node:timers/promises';

interface SleepOptions {
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the wait keeps the process running. True by default. */
  readonly ref?: boolean;
}

/** Resolves after `durationMs`, or as soon as `signal` is aborted. */
export async function sleep(durationMs: number, options: SleepOptions = {}): Promise<void> {
  // Rejects only if it is aborted.
  await delay(durationMs, undefined, options).catch(() => {});
}

export interface RetryOptions {
  /** Attempts in total, including the first. Unlimited by default. */
  readonly attemptsMax?: number;
  /** Whether another attempt may succeed after this error, and does no harm. */
  readonly isRetryable: (error: Error) => boolean;
  /** Milliseconds to wait after the n-th attempt, counted from 1, which failed with `error`. */
  readonly delayMs: (attempt: number, error: Error) => number;
  /** Called before each wait. */
  readonly onRetry?: (error: Error, waitMs: number) => void;
  /** Once it is aborted, no further attempt is made. */
  readonly signal?: AbortSignal | undefined;
  /** For tests. */
  readonly sleep?: typeof sleep | undefined;
}

/** Runs `work` until it succeeds, and throws its last error once there are no attempts left. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { attemptsMax = Number.POSITIVE_INFINITY, isRetryable, delayMs, onRetry, signal } = options;
  const wait = options.sleep ?? sleep;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (attempt >= attemptsMax || signal?.aborted || !isRetryable(error)) throw thrown;
      const waitMs = delayMs(attempt, error);
      onRetry?.(error, waitMs);
      await wait(waitMs, { signal });
      if (signal?.aborted) throw thrown;
    }
  }
}
