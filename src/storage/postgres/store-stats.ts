import { type StoreStats, statsTimeoutMs } from '../ports/store-stats.js';
import { type Database, withDatabaseDeadline } from './database.js';
import type { Statements } from './statements.js';

/** The stats of this node's connections and of the database. */
export async function readStats(
  database: Database,
  { databaseSize }: Statements,
  pending: Pick<StoreStats, 'pendingOperations' | 'pendingQueries'>,
): Promise<StoreStats> {
  // Read before reading the size takes a connection.
  const { pools } = database;
  const size = withDatabaseDeadline(statsTimeoutMs, () =>
    database.read<{ readonly bytes: number }>({ text: databaseSize }),
  );
  const sizeBytes = await size.then(([row]) => row?.bytes).catch(() => undefined);
  return { ...pending, pools, sizeBytes };
}
