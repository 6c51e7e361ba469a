import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../domain/time/clock.js';
import { withDeadline } from '../../shared/deadline.js';
import type { Store } from '../../storage/ports/store.js';
import { statsTimeoutMs } from '../../storage/ports/store-stats.js';

/** Adds the metrics of the store. The returned function updates them; await it before showing the page. */
export function addStoreStats(registry: Registry, store: Store, clock: Clock): () => Promise<void> {
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []): Gauge<string> =>
    new Gauge({ name: `caller_stats_${name}`, help, labelNames, registers });
  const queueQueries = gauge('queue_queries', 'Queries that wait for a commit.');
  const queueRequests = gauge('queue_requests', 'Requests that wait for a commit.');
  const up = gauge('database_up', '1 if the database is reachable, otherwise 0.');
  const recordingUp = gauge('recording_up', '1 if queries can be recorded, otherwise 0.');
  const size = gauge(
    'database_size_bytes',
    'Size of the database on disk; missing if the database is unreachable.',
  );
  const connections = gauge('database_connections', 'Connections to PostgreSQL, by purpose and state.', [
    'pool',
    'state',
  ]);
  const limit = gauge('database_connections_limit', 'Maximum number of connections to PostgreSQL.', ['pool']);
  const waiting = gauge(
    'database_connection_waiters',
    'Statements that wait for a connection to PostgreSQL.',
    ['pool'],
  );
  const serverUp = gauge(
    'database_server_up',
    '1 if projects on this server of a Citus cluster can be counted, otherwise 0.',
    ['server'],
  );
  return async () => {
    // At once, because both may take as long as a collector waits.
    const [stats, isRecording] = await Promise.all([store.maintenance.stats(), canRecord(store, clock)]);
    const { pendingQueries, pendingOperations, sizeBytes, pools, servers } = stats;
    recordingUp.set(Number(isRecording));
    queueQueries.set(pendingQueries);
    queueRequests.set(pendingOperations);
    up.set(sizeBytes === undefined ? 0 : 1);
    size.remove();
    if (sizeBytes !== undefined) size.set(sizeBytes);
    // Those that left the cluster are missing.
    serverUp.reset();
    for (const { name: server, isUp } of servers) serverUp.set({ server }, Number(isUp));
    for (const { purpose: pool, max, used, idle, waiting: waiters } of pools) {
      connections.set({ pool, state: 'used' }, used);
      connections.set({ pool, state: 'idle' }, idle);
      limit.set({ pool }, max);
      waiting.set({ pool }, waiters);
    }
  };
}

async function canRecord(store: Store, clock: Clock): Promise<boolean> {
  const late = () => new Error('trying a commit took too long');
  return withDeadline(statsTimeoutMs, late, () => store.maintenance.checkRecording(clock.now())).then(
    () => true,
    () => false,
  );
}
