/** A primary server and its standby, for failovers. */

import { onDatabase } from '../storage/store.js';
import { eventually, ownPostgres } from './nodes.js';
import { newestPostgres, type PostgresServer } from './postgres-server.js';

/**
 * A commit waits until a standby has it on disk. Every server of a run begins with the same empty data folder, so a standby
 * only fetches what its primary has written since, all of which the primary keeps.
 */
const kept = { wal_keep_size: '1GB', max_wal_size: '1GB', synchronous_standby_names: '*' };

/** A primary server, whose commits wait for a standby. */
export function ownPrimary(): Promise<PostgresServer> {
  return ownPostgres(newestPostgres(), { settings: kept });
}

/** A new standby, which has all that its primary has. */
export async function ownStandby(primary: PostgresServer, port?: number): Promise<PostgresServer> {
  const connection = `host=127.0.0.1 port=${primary.port} user=tester password=${primary.password}`;
  const standby = await ownPostgres(newestPostgres(), {
    settings: { ...kept, primary_conninfo: connection },
    files: { 'standby.signal': '' },
    ...(port === undefined ? {} : { port }),
  });
  await onDatabase(primary.url(), (client) =>
    eventually(async () => {
      const { rowCount } = await client.query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'");
      return rowCount === 1 ? true : undefined;
    }),
  );
  return standby;
}

/** Makes a standby a primary server. */
export async function promote(standby: PostgresServer): Promise<void> {
  await onDatabase(standby.url(), (client) => client.query('SELECT pg_promote()'));
}

/** The URL of a database on several servers, whose user has the same password on all of them. */
export function urlOf(servers: readonly PostgresServer[], parameters: string): string {
  const [first] = servers;
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return `postgres://tester:${first?.password}@${hosts}/postgres?${parameters}`;
}
