import { figuresTimeoutMs, type StoreFigures } from '../ports/store-stats.js';
import { type Database, withDatabaseDeadline } from './database.js';
import type { Statements } from './statements.js';

/** How the database and the connections to it are now; `pending` is what waits here to be written. */
export async function figuresOf(
  database: Database,
  { databaseSize }: Statements,
  pending: Pick<StoreFigures, 'pendingOperations' | 'pendingQueries'>,
): Promise<StoreFigures> {
  // Before a connection is taken to ask for the rest.
  const { pools } = database;
  return { ...pending, pools, sizeBytes: await sizeOf(database, databaseSize) };
}

async function sizeOf(database: Database, text: string): Promise<number | undefined> {
  try {
    const [row] = await withDatabaseDeadline(figuresTimeoutMs, () => database.read({ text }));
    return Number(row?.['bytes']);
  } catch {
    return undefined;
  }
}
