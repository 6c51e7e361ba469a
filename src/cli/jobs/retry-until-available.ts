import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CallerStatsError } from '../../domain/errors.js';
import { retryAfterSeconds } from '../../domain/limits.js';

/**
 * Does `work`, again and again while the store is unavailable, and says why in the log whenever the reason changes.
 * Resolves when it is done or `signal` says that it is not wanted any more. Other errors are passed on.
 */
export async function whenAvailable(
  work: () => Promise<void>,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<void> {
  let said: string | undefined;
  while (!signal.aborted) {
    try {
      await work();
      if (said !== undefined) log.info('the database can be used');
      return;
    } catch (error) {
      if (!(error instanceof CallerStatsError && error.code === 'unavailable')) throw error;
      if (error.message !== said) log.warn({ err: error }, 'the database cannot be used; trying again');
      said = error.message;
    }
    // Rejects when it is cut short; then the loop ends by itself.
    await delay(retryAfterSeconds * 1000, undefined, { signal }).catch(() => {});
  }
}
