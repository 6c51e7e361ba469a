import type { Logger } from 'pino';
import { isUnavailable } from '../../domain/errors.js';
import { retryAfterSeconds } from '../../domain/limits.js';
import { secondMs } from '../../domain/time/duration.js';
import { retry } from '../../shared/retry.js';

interface Waiting {
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Called once, when the first attempt has succeeded or found the store unavailable. */
  readonly onFirstAttempt: () => void;
}

/** Retries `work` until the store is available or `signal` is aborted. Logs each new reason. Throws all other errors. */
export async function retryUntilAvailable(
  work: () => Promise<void>,
  { signal, log, onFirstAttempt }: Waiting,
): Promise<void> {
  if (signal.aborted) return;
  let reason: string | undefined;
  const warn = (error: Error): void => {
    if (reason === undefined) onFirstAttempt();
    if (error.message !== reason) log.warn({ err: error }, 'the database cannot be used; trying again');
    reason = error.message;
  };
  try {
    const delayMs = () => retryAfterSeconds * secondMs;
    await retry(work, { isRetryable: isUnavailable, delayMs, onRetry: warn, signal });
    if (reason === undefined) onFirstAttempt();
    else log.info('the database can be used');
  } catch (error) {
    if (!(signal.aborted && isUnavailable(error))) throw error;
  }
}
