import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { migrateStore, type OpenOptions, openStore } from '../../../src/storage/open.js';
import type { Store, Verification } from '../../../src/storage/ports/store.js';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { whenOver } from '../cleanup.js';
import { isDeep } from '../volume.js';
import { type NewDatabase, notePostgresRows, noteSqliteRows, reusedDatabase } from './reused-database.js';

export { by, keyOf, projectOf } from './entities.js';

/** A place where one store lives, for a test that opens it more than once. */
interface Place {
  /** What messages call this kind of store. */
  readonly kind: string;
  /** Another handle on the same store; closed when the test is over, or used by the next one. */
  readonly open: () => Promise<Store>;
}

/**
 * Makes an empty place. What every kind of store hands to the conformance suite and the laws. In the quick run, the tests of
 * a file use the same stores one after the other, unless they ask for a new one.
 */
export type PlaceFactory = (age?: 'new') => Promise<Place>;

/** Databases that are alike have the same key. */
function placesOf(kind: string, make: () => Promise<NewDatabase>, key = kind): PlaceFactory {
  return async (age) => {
    if (!isDeep && age !== 'new') return { kind, open: (await reusedDatabase(key, make)).open };
    const { open, remove } = await make();
    whenOver(remove);
    return { kind, open: () => closedAfterwards(open) };
  };
}

async function closedAfterwards(open: () => Promise<Store>): Promise<Store> {
  const store = await open();
  whenOver(() => store.close());
  return store;
}

const sqlitePlace = placesOf('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-store-'));
  const file = join(folder, 'store.db');
  return {
    open: () => openSqliteStore(file),
    noteRows: async () => noteSqliteRows(file),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
});

/** The deadline of a database whose machine other work keeps busy: the default of 5 s is for servers, and has tests of its own. */
const busyTimeoutMs = 60_000;

/** A new schema of a database. On a Citus cluster, it is distributed. */
export function postgresPlace(databaseUrl: string, key?: string): PlaceFactory {
  const make = async () => {
    const { url, schema } = nameSchemaIn(databaseUrl);
    if (await isCitus(databaseUrl)) await migrateStore(url, { distribute: true });
    const client = new pg.Client(databaseUrl);
    await client.connect();
    return {
      open: () => openStore(url, { timeoutMs: busyTimeoutMs }),
      noteRows: () => notePostgresRows(client, schema),
      remove: async () => {
        await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        await client.end();
      },
    };
  };
  return placesOf('postgres', make, key);
}

function nameSchemaIn(databaseUrl: string): { readonly url: string; readonly schema: string } {
  const schema = `test_${randomBytes(8).toString('hex')}`;
  const url = new URL(databaseUrl);
  url.searchParams.set('schema', schema);
  return { url: url.href, schema };
}

/** The URL of a schema of the test's own, which is not there yet, and is dropped when the test is over. */
export function newSchemaIn(databaseUrl: string): string {
  const { url, schema } = nameSchemaIn(databaseUrl);
  whenOver(async () => {
    await onDatabase(databaseUrl, (client) => client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`));
  });
  return url;
}

export function isCitus(databaseUrl: string): Promise<boolean> {
  return onDatabase(databaseUrl, async (client) => {
    const { rowCount } = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'");
    return rowCount === 1;
  });
}

/** Opens a store, which is closed after the test. */
export function openForTest(url: string, options?: OpenOptions): Promise<Store> {
  return closedAfterwards(() => openStore(url, options));
}

/** The schema that a URL names. */
export function schemaOf(url: string): string {
  return new URL(url).searchParams.get('schema') ?? '';
}

/** The URL of a new database with these settings, which is dropped after the test. */
export async function newDatabase(
  serverUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onDatabase(serverUrl, async (client) => {
    await client.query(`CREATE DATABASE ${name}`);
    for (const [setting, value] of Object.entries(settings))
      await client.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  });
  whenOver(() => onDatabase(serverUrl, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`)));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** What `verify` returns for an intact store. */
export const intact = (projects: number, queries: number): Verification => ({
  projects,
  queries,
  importedQueries: 0,
  damage: [],
  differences: [],
  differencesTotal: 0,
});

/** Works on a database past the program. */
export async function onDatabase<T>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Another database to run the suite and the laws on: a managed PostgreSQL, a Citus cluster. */
export const askedFor = process.env['CALLER_STATS_TEST_DATABASE_URL'];

/** Every kind of store there is; the conformance suite and the laws run on each. */
export const placeFactories: readonly (readonly [kind: string, factory: PlaceFactory])[] = [
  ['sqlite', sqlitePlace],
  ...inject('postgresServers').map(
    ({ version, url }) => [`PostgreSQL ${version}`, postgresPlace(url)] as const,
  ),
  ...(askedFor === undefined
    ? []
    : ([['CALLER_STATS_TEST_DATABASE_URL', postgresPlace(askedFor, askedFor)]] as const)),
];

/** For `describe.each`: each kind of database, and the URL of a new one for tests that start a service. */
export const databases: readonly (readonly [kind: string, newDatabase: () => string | undefined])[] = [
  ['SQLite', () => undefined],
  ...inject('postgresServers').map(
    ({ version, url }) => [`PostgreSQL ${version}`, () => newSchemaIn(url)] as const,
  ),
];

/** Removes all that deleted projects left behind; gives how much it was. */
export async function purgeAll(store: Store): Promise<number> {
  for (let total = 0; ; ) {
    const { removed, done } = await store.maintenance.purgeDeleted(1000);
    total += removed;
    if (done) return total;
  }
}

/** Does all that the retention of projects asks for at a time. */
export async function retainAll(store: Store, nowMs: number, limit = 1000): Promise<void> {
  while (!(await store.maintenance.applyRetention(nowMs, limit)).done);
}
