import { Gauge, type Registry } from 'prom-client';
import type { Store } from '../../storage/ports/store.js';

/** Adds what the store says of itself. To be called anew, and waited for, each time before it is shown. */
export function addStoreStats(registry: Registry, store: Store): () => Promise<void> {
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: readonly string[] = []): Gauge<string> =>
    new Gauge({ name: `caller_stats_${name}`, help, labelNames: [...labelNames], registers });
  const queueQueries = gauge('queue_queries', 'Queries that wait to be written.');
  const queueRequests = gauge('queue_requests', 'Requests that wait to be written.');
  const up = gauge('database_up', '1 where the database can be reached, else 0.');
  const size = gauge('database_size_bytes', 'The database on disk; missing where it cannot be reached.');
  const connections = gauge(
    'database_connections',
    'Connections to PostgreSQL, by what they are for and whether they are in use.',
    ['pool', 'state'],
  );
  const limit = gauge('database_connections_limit', 'Connections to PostgreSQL, at most.', ['pool']);
  const waiting = gauge(
    'database_connection_waiters',
    'Statements that wait for a connection to PostgreSQL.',
    ['pool'],
  );
  return async () => {
    const { pendingQueries, pendingOperations, sizeBytes, pools } = await store.stats();
    queueQueries.set(pendingQueries);
    queueRequests.set(pendingOperations);
    up.set(sizeBytes === undefined ? 0 : 1);
    size.remove();
    if (sizeBytes !== undefined) size.set(sizeBytes);
    for (const { purpose: pool, max, used, idle, waiting: waiters } of pools) {
      connections.set({ pool, state: 'used' }, used);
      connections.set({ pool, state: 'idle' }, idle);
      limit.set({ pool }, max);
      waiting.set({ pool }, waiters);
    }
  };
}
