/** SQLite connections for tests of what works with one. */
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import type { Query } from '../../../src/domain/queries/query.js';
import { type Connection, inTransaction } from '../../../src/storage/sqlite/connection.js';
import { CounterDeltas, Placed } from '../../../src/storage/sqlite/counters/counter-deltas.js';
import { openMigrated } from '../../../src/storage/sqlite/migrations/migrate.js';
import { Statements } from '../../../src/storage/sqlite/statements.js';
import {
  CALLER_COUNTERS,
  CounterInsert,
  TYPE_COUNTERS,
} from '../../../src/storage/sqlite/writer/counter-insert.js';
import { Recording } from '../../../src/storage/sqlite/writer/recording.js';
import { whenOver } from '../cleanup.js';
import { temporaryFolder } from '../temporary.js';
import { projectOf } from './entities.js';

/** A database in memory with all tables, gone when the test is over. */
export function databaseInMemory(): Connection {
  const db = openMigrated(':memory:');
  whenOver(() => db.close());
  return db;
}

/** Adds to counters of every level, as versions up to 29 did, and as is done where there are many queries. */
function addToAllLevels(db: Connection, deltas: CounterDeltas): void {
  const tables = [TYPE_COUNTERS, CALLER_COUNTERS].map((table) => new CounterInsert(db, table));
  const parts = deltas.rows((_project, { times, types, callers }) => {
    const placed = new Placed();
    for (const [at, timeMs] of times.entries()) placed.add(0, timeMs, types[at] ?? 0, callers[at] ?? 0, 1);
    return placed;
  });
  for (const part of parts) for (const table of tables) table.add(part);
}

/** Records queries into a project, which is made where there is none. */
export function recordInto(
  db: Connection,
  projectId: string,
  queries: readonly Query[],
  { inAllLevels = false } = {},
): void {
  const { organizationId, name, createdAt } = projectOf(projectId);
  const statements = new Statements(db);
  const recording = new Recording(db, statements);
  const deltas = new CounterDeltas();
  const batch = {
    projectId,
    ids: queries.map(({ id }) => id),
    callers: queries.map(({ caller }) => caller),
    occurredAt: Float64Array.from(queries, ({ occurredAt }) => occurredAt),
  };
  inTransaction(db, () => {
    statements.run(
      'INSERT OR IGNORE INTO project (id, organization_id, name, created_at) VALUES (?, ?, ?, ?)',
      [projectId, organizationId, name, createdAt],
    );
    recording.record(batch, deltas);
    if (inAllLevels) addToAllLevels(db, deltas);
    else recording.addToCounters(deltas);
  });
}

/** Deletes a project and leaves its queries and counters to be removed, as `deleteProject` does. */
export function deleteProjectIn(db: Connection, projectId: string): void {
  const statements = new Statements(db);
  inTransaction(db, () => {
    statements.run('INSERT INTO deleted_project (number) SELECT number FROM project WHERE id = ?', [
      projectId,
    ]);
    statements.run('DELETE FROM project WHERE id = ?', [projectId]);
  });
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
