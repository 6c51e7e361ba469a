/** Removing what nobody can ask for any more, in pieces that recording does not wait long for. */
import type { Logger } from 'pino';
import { cleanupIntervalMs, cleanupRowsMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { sleep } from '../../shared/retry.js';
import type { Cleanup, Store } from '../../storage/ports/store.js';

/** Removes all that deleted projects left behind, or what there is of it until `signal`. Gives how many rows that was. */
export function purgeAll(store: Pick<Store, 'purgeDeleted'>, signal?: AbortSignal): Promise<number> {
  return repeat(() => store.purgeDeleted(cleanupRowsMax), signal);
}

/** Removes what is to be removed, now and every few seconds, until `signal`. Any number of servers may do it at once. */
export async function keepClean(
  store: Pick<Store, 'purgeDeleted' | 'applyRetention'>,
  { clock, signal, log }: { readonly clock: Clock; readonly signal: AbortSignal; readonly log: Logger },
): Promise<void> {
  let said: string | undefined;
  while (!signal.aborted) {
    try {
      const rows = await purgeAll(store, signal);
      if (rows > 0) log.info({ rows }, 'what deleted projects left behind was removed');
      const old = await repeat(() => store.applyRetention(clock.now(), cleanupRowsMax), signal);
      if (old > 0)
        log.info({ rows: old }, 'rows of queries older than the retention of their project were removed');
      said = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== said && !signal.aborted)
        log.warn(
          { err: error },
          'what is to be removed of deleted projects and old queries is not; trying again',
        );
      said = message;
    }
    await sleep(cleanupIntervalMs, { signal, ref: false });
  }
}

async function repeat(step: () => Promise<Cleanup>, signal: AbortSignal | undefined): Promise<number> {
  let total = 0;
  while (!signal?.aborted) {
    const { removed, done } = await step();
    total += removed;
    if (done) break;
  }
  return total;
}
