/** SQLite connections for tests of what works with one. */
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import type { Connection } from '../../src/storage/sqlite/connection.js';
import { openMigrated } from '../../src/storage/sqlite/migrations.js';
import { whenOver } from './cleanup.js';
import { temporaryFolder } from './temporary.js';

/** A database in memory with all tables, gone when the test is over. */
export function databaseInMemory(): Connection {
  const db = openMigrated(':memory:');
  whenOver(() => db.close());
  return db;
}

/** Two connections to one file with all tables. */
export async function twoConnections(): Promise<readonly [one: Connection, other: Connection]> {
  const file = `${await temporaryFolder()}/store.db`;
  const connections = [openMigrated(file), new DatabaseSync(file)] as const;
  whenOver(() => {
    for (const db of connections) db.close();
  });
  return connections;
}

/** Has the SQL of each statement noted that is run from now on and was prepared from now on. */
export function notedRuns(db: Connection): string[] {
  const ran: string[] = [];
  const prepare = db.prepare.bind(db);
  Object.defineProperty(db, 'prepare', {
    value: (sql: string) => {
      const statement = prepare(sql);
      for (const method of ['run', 'get', 'all'] as const) note(statement, method, () => ran.push(sql));
      return statement;
    },
  });
  return ran;
}

function note(statement: StatementSyncInstance, method: 'run' | 'get' | 'all', before: () => void): void {
  const original = statement[method].bind(statement);
  Object.defineProperty(statement, method, {
    value: (...parameters: unknown[]) => {
      before();
      return original(...parameters);
    },
  });
}
