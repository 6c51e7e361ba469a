/**
 * Stores that the tests of a file use one after the other. Opening a new one takes longer than most tests: a thread and a
 * file on SQLite, migrations and connections on PostgreSQL. After each test it is emptied, as if by another process.
 */
import type { Client } from 'pg';
import type { Store } from '../../../src/storage/ports/store.js';
import { whenOver } from '../cleanup.js';
import { withFile } from './sqlite-file.js';

/** A new database. The first `open` creates the newest schema. */
export interface NewDatabase {
  /** Another handle on it, which the caller closes. */
  readonly open: () => Promise<Store>;
  /** Notes the rows of the new schema, and returns a function that removes all others. */
  readonly noteRows: () => Promise<() => Promise<void>>;
  readonly remove: () => Promise<void>;
}

interface IdleDatabase<Database = NewDatabase> {
  readonly database: Database;
  readonly empty: () => Promise<void>;
  readonly handles: readonly Store[];
}

/** The databases that no test uses now, by kind. */
const idle = new Map<string, IdleDatabase[]>();

/** Closes and removes all databases. `setup/places-setup.ts` calls it after each file of tests. */
export async function removeIdleDatabases(): Promise<void> {
  const all = [...idle.values()].flat();
  idle.clear();
  for (const { database, handles } of all) {
    for (const handle of handles) await handle.close();
    await database.remove();
  }
}

/**
 * Returns a function that opens handles on a database as it was made, which other tests of the file use as well. `onEnd`
 * registers what empties it for the next one.
 */
export async function reusedDatabase<Database extends NewDatabase>(
  kind: string,
  make: () => Promise<Database>,
  onEnd: (end: () => Promise<void>) => void = whenOver,
): Promise<{ readonly database: Database; readonly open: () => Promise<Store> }> {
  const { database, empty, handles } = (idle.get(kind)?.pop() ??
    (await prepare(await make()))) as IdleDatabase<Database>;
  const unused = [...handles];
  const used: Store[] = [];
  onEnd(async () => {
    const kept = [...unused];
    for (const handle of used) {
      if (await isIdle(handle)) kept.push(handle);
      else await handle.close();
    }
    await empty();
    idle.set(kind, [...(idle.get(kind) ?? []), { database, empty, handles: kept }]);
  });
  const open = async () => {
    const handle = unused.shift() ?? (await database.open());
    used.push(handle);
    return handle;
  };
  return { database, open };
}

async function prepare<Database extends NewDatabase>(database: Database): Promise<IdleDatabase<Database>> {
  const handles = [await database.open()];
  return { database, empty: await database.noteRows(), handles };
}

/** Whether a store is open and has nothing left to do that would change the data of the next test. */
async function isIdle(store: Store): Promise<boolean> {
  try {
    await store.maintenance.check();
    const { pendingOperations, pools } = await store.maintenance.stats();
    return pendingOperations === 0 && pools.every(({ used, waiting }) => used === 0 && waiting === 0);
  } catch {
    return false;
  }
}

type Row = Readonly<Record<string, string | number | null>>;

/** `noteRows` of a SQLite file. */
export function noteSqliteRows(file: string): () => Promise<void> {
  const tables = withFile(file, (db) => {
    const found = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all() as { name: string }[];
    return found.map(({ name }) => ({ name, rows: db.prepare(`SELECT * FROM ${name}`).all() as Row[] }));
  });
  return async () =>
    withFile(file, (db) => {
      db.exec('PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE');
      // Leaves `sqlite_sequence` alone: the store relies on it that the number of a project is never used again.
      for (const { name, rows } of tables) {
        db.exec(`DELETE FROM ${name}`);
        for (const row of rows) {
          const marks = Object.keys(row).map(() => '?');
          const insert = `INSERT INTO ${name} (${Object.keys(row)}) VALUES (${marks})`;
          db.prepare(insert).run(...Object.values(row));
        }
      }
      db.exec('COMMIT');
    });
}

/** `noteRows` of a schema. */
export async function notePostgresRows(client: Client, schema: string): Promise<() => Promise<void>> {
  const tables = await client.query<{ name: string }>(
    "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname = $1",
    [schema],
  );
  // Without checks of references, so that their order does not matter.
  const statements = ['BEGIN', 'SET LOCAL session_replication_role = replica'];
  for (const { name } of tables.rows) {
    statements.push(`DELETE FROM ${name}`);
    const noted = await client.query<{ rows: string | null }>(
      `SELECT json_agg(one)::text AS rows FROM ${name} AS one`,
    );
    const rows = noted.rows[0]?.rows ?? null;
    if (rows === null) continue;
    const values = `json_populate_recordset(NULL::${name}, ${client.escapeLiteral(rows)})`;
    statements.push(`INSERT INTO ${name} SELECT * FROM ${values}`);
  }
  const all = [...statements, 'COMMIT'].join(';\n');
  return async () => void (await client.query(all));
}
