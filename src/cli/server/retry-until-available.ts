import type { Logger } from 'pino';
import { isUnavailable } from '../../domain/errors.js';
import { retryAfterSeconds } from '../../domain/limits.js';
import { secondMs } from '../../domain/time/duration.js';
import { retry } from '../../shared/retry.js';

/** Retries `work` until the store is available or `signal` is aborted. Logs each new reason. Throws all other errors. */
export async function retryUntilAvailable(
  work: () => Promise<void>,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<void> {
  if (signal.aborted) return;
  let reason: string | undefined;
  const warn = (error: Error): void => {
    if (error.message !== reason) log.warn({ err: error }, 'the database cannot be used; trying again');
    reason = error.message;
  };
  try {
    const delayMs = () => retryAfterSeconds * secondMs;
    await retry(work, { isRetryable: isUnavailable, delayMs, onRetry: warn, signal });
    if (reason !== undefined) log.info('the database can be used');
  } catch (error) {
    if (!(signal.aborted && isUnavailable(error))) throw error;
  }
}
