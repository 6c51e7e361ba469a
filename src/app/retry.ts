import { isUnavailable } from '../domain/errors.js';
import { type RetryOptions, retry } from '../shared/retry.js';

/** Attempts while a store or server is unavailable: about half a minute, enough for a restart. */
export const unavailableAttemptsMax = 8;

/** Milliseconds to wait after the n-th attempt, from 1, unless the server names a time. */
export const backoffMs = (attempt: number): number => Math.min(250 * 2 ** (attempt - 1), 10_000);

/** Runs `work` again while the store is unavailable. Only for work that may be done twice, such as recording. */
export function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  {
    note,
    ...options
  }: { readonly note: (line: string) => void } & Pick<RetryOptions, 'attemptsMax' | 'sleep'>,
): Promise<T> {
  return retry(work, {
    ...options,
    isRetryable: isUnavailable,
    delayMs: backoffMs,
    onRetry: ({ message }, waitMs) => note(`${message} Trying again in ${waitMs / 1000} s.`),
  });
}
