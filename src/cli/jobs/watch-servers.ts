/** A job that says in the log which servers of a cluster fail and come back. */
import type { Logger } from 'pino';
import { serverWatchIntervalMs } from '../../domain/limits.js';
import { sleep } from '../../shared/retry.js';
import type { Store } from '../../storage/ports/store.js';

interface WatchContext {
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** For tests. */
  readonly pause?: () => Promise<void>;
}

/** Looks every few seconds, until `signal` is aborted. Without a cluster it logs nothing. */
export async function watchServers(
  store: Pick<Store, 'stats'>,
  { signal, log, pause = () => sleep(serverWatchIntervalMs, { signal, ref: false }) }: WatchContext,
): Promise<void> {
  const down = new Set<string>();
  for (; !signal.aborted; await pause()) {
    const { servers } = await store.stats();
    for (const { name: server, isUp } of servers) {
      if (signal.aborted) return;
      if (!isUp && !down.has(server)) {
        down.add(server);
        log.warn(
          { server },
          'a server of the cluster cannot be used: its projects get 503, others are served',
        );
      } else if (isUp && down.delete(server))
        log.info({ server }, 'a server of the cluster can be used again');
    }
  }
}
