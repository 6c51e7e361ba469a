/** SQLite connections for tests of what works with one. */
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import type { Query } from '../../src/domain/queries/query.js';
import type { Connection } from '../../src/storage/sqlite/connection.js';
import { openMigrated } from '../../src/storage/sqlite/migrations/migrate.js';
import type { Operation } from '../../src/storage/sqlite/writer/operations.js';
import { Writer } from '../../src/storage/sqlite/writer/writer.js';
import { whenOver } from './cleanup.js';
import { by, projectOf } from './entities.js';
import { temporaryFolder } from './temporary.js';

/** A database in memory with all tables, gone when the test is over. */
export function databaseInMemory(): Connection {
  const db = openMigrated(':memory:');
  whenOver(() => db.close());
  return db;
}

/** Records queries into a project, which is made where there is none. */
export function recordInto(db: Connection, projectId: string, queries: readonly Query[]): void {
  const record: Operation = {
    kind: 'record',
    projectId,
    ids: queries.map(({ id }) => id),
    callers: queries.map(({ caller }) => caller),
    occurredAt: Float64Array.from(queries, ({ occurredAt }) => occurredAt),
  };
  new Writer(db).commit([{ kind: 'createProject', project: projectOf(projectId), by }, record]);
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
