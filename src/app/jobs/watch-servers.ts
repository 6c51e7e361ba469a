/** A job that says in the log which servers of a cluster fail and come back. */
import { serverWatchIntervalMs } from '../../domain/limits.js';
import type { Store } from '../../storage/ports/store.js';
import { type JobContext, repeatStep } from './job.js';

/** Looks every few seconds. Without a cluster it logs nothing. */
export function watchServers(
  store: { readonly maintenance: Pick<Store['maintenance'], 'stats'> },
  context: JobContext,
): Promise<void> {
  const { signal, log } = context;
  const down = new Set<string>();
  const look = async () => {
    const { servers } = await store.maintenance.stats();
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
  };
  const failure = 'the servers of the cluster could not be checked; trying again';
  return repeatStep(look, { everyMs: serverWatchIntervalMs, failure }, context);
}
