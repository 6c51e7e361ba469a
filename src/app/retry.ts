import { isUnavailable } from '../domain/errors.js';
import { RequestError } from '../shared/api-client.js';
import { type RetryOptions, retry } from '../shared/retry.js';

/** With the waits below, about half a minute: enough for a restart. */
const attemptsMax = 8;

const waitMsMax = 30_000;

/**
 * Runs `work` again while the store or server is unavailable, after the wait that the server's `Retry-After` asks for, if
 * any. Only for work that may be done twice, such as recording.
 */
export function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  { note, sleep }: { readonly note: (line: string) => void } & Pick<RetryOptions, 'sleep'>,
): Promise<T> {
  return retry(work, {
    attemptsMax,
    sleep,
    isRetryable: isUnavailable,
    delayMs: (attempt, { cause }) => {
      const retryAfterMs = cause instanceof RequestError ? cause.retryAfterMs : undefined;
      return Math.min(retryAfterMs ?? 250 * 2 ** (attempt - 1), waitMsMax);
    },
    onRetry: ({ message }, waitMs) => note(`${message} Trying again in ${waitMs / 1000} s.`),
  });
}
