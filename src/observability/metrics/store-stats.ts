import { Gauge, type Registry } from 'prom-client';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { expiryNotice } from '../../domain/keys/key-lifetime.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
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
    'server',
  ]);
  const limit = gauge('database_connections_limit', 'Maximum number of connections to PostgreSQL.', [
    'pool',
    'server',
  ]);
  const waiting = gauge(
    'database_connection_waiters',
    'Statements that wait for a connection to PostgreSQL.',
    ['pool', 'server'],
  );
  const serverUp = gauge(
    'database_server_up',
    '1 if projects on this server of a Citus cluster can be counted, otherwise 0.',
    ['server'],
  );
  const keyExpiry = gauge(
    'key_expiry_seconds',
    'Seconds until a key that may record and is in use expires, if that is within 30 days.',
    ['organization', 'project', 'key'],
  );
  return async () => {
    // At once, because each may take as long as a collector waits.
    const [stats, isRecording, expiring] = await Promise.all([
      store.maintenance.stats(),
      canRecord(store, clock),
      findExpiring(store, clock),
    ]);
    keyExpiry.reset();
    for (const { organizationId: organization, projectId, id: key, expiresAt } of expiring)
      keyExpiry.set(
        { organization, project: projectId ?? '', key },
        ((expiresAt ?? 0) - clock.now()) / secondMs,
      );
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
    for (const { purpose: pool, server, max, used, idle, waiting: waiters } of pools) {
      const labels = server === undefined ? { pool } : { pool, server };
      connections.set({ ...labels, state: 'used' }, used);
      connections.set({ ...labels, state: 'idle' }, idle);
      limit.set(labels, max);
      waiting.set(labels, waiters);
    }
  };
}

/** None while the database cannot be reached, which other metrics show. */
async function findExpiring(store: Store, clock: Clock): Promise<ApiKey[]> {
  const late = () => new Error('looking for keys took too long');
  return withDeadline(statsTimeoutMs, late, () =>
    store.directory.listExpiringKeys(expiryNotice(clock.now())),
  ).catch(() => []);
}

async function canRecord(store: Store, clock: Clock): Promise<boolean> {
  const late = () => new Error('trying a commit took too long');
  return withDeadline(statsTimeoutMs, late, () => store.maintenance.checkRecording(clock.now())).then(
    () => true,
    () => false,
  );
}
