/** What the store on a file does around its thread: it starts one anew, leaves it alone, waits for it, and tells what failed. */
import { existsSync, readFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { nextLoopTurn } from '../../../src/shared/fair-share.js';
import { STORE_PARTS } from '../../../src/storage/ports/store-stats.js';
import { openReader } from '../../../src/storage/sqlite/connection.js';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { openMigrated } from '../../../src/storage/sqlite/migrations/migrate.js';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { whenOver } from '../../support/cleanup.js';
import { keptFile, upgradedVersions } from '../../support/storage/kept-schemas.js';
import { by, projectOf } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';

/** A store with one project, the same file past the program, and the threads that write. */
async function place() {
  const file = `${await temporaryFolder()}/store.db`;
  const threads = notedThreads();
  const store = await openSqliteStore(file);
  whenOver(() => store.close());
  await store.directory.createProject(projectOf('docs'), by);
  const other = new DatabaseSync(file);
  whenOver(() => other.close());
  return { file, store, other, threads };
}

/** The threads that start from now on. */
function notedThreads(): Worker[] {
  const threads: Worker[] = [];
  const note = (thread: Worker) => void threads.push(thread);
  process.on('worker', note);
  whenOver(() => process.off('worker', note));
  return threads;
}

const query = (id: string) => ({ id, caller: 'web', occurredAt: 0 });

test('refuses a file without a table that it reads', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  const db = openMigrated(file);
  db.exec('DROP TABLE deleted_project');
  db.close();
  await expect(openSqliteStore(file)).rejects.toThrow(/no such table: deleted_project/);
});

test.each([
  ['with the first change, if it can be read as it is', 'WAL', 0],
  ['at once, if it was restored and has no log', 'DELETE', 1],
])('a file gets a writer thread %s', async (_when, journal, atOnce) => {
  const file = `${await temporaryFolder()}/store.db`;
  const db = openMigrated(file);
  db.exec(`PRAGMA journal_mode = ${journal}`);
  db.close();

  const threads = notedThreads();
  const store = await openSqliteStore(file);
  whenOver(() => store.close());
  expect(await store.directory.findProject(projectOf('docs').organizationId, 'docs')).toBeUndefined();
  expect(threads).toHaveLength(atOnce);
  await store.directory.createProject(projectOf('docs'), by);
  expect(threads).toHaveLength(1);
  const other = openReader(file);
  whenOver(() => other.close());
  expect(other.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
});

test('check reports the broken part, alone and with all others', async () => {
  const { store, other } = await place();
  const refused = async (part?: (typeof STORE_PARTS)[number]) =>
    store.maintenance.check(part).then(
      () => 'in order',
      (error: Error) => error.message,
    );
  other.exec(`PRAGMA user_version = ${NEWEST_VERSION + 1}`);
  expect(await Promise.all([...STORE_PARTS, undefined].map(refused))).toEqual([
    'in order',
    expect.stringMatching(/schema version/),
    'in order',
    expect.stringMatching(/schema version/),
  ]);
  other.exec(`PRAGMA user_version = ${NEWEST_VERSION}; DROP TABLE query_counter`);
  expect(await Promise.all([...STORE_PARTS, undefined].map(refused))).toEqual([
    'in order',
    'in order',
    expect.stringMatching(/no such table/),
    expect.stringMatching(/no such table/),
  ]);
});

test('verify throws if it cannot recount', async () => {
  const { store, other } = await place();
  other.exec('DROP TABLE query_counter');
  await expect(store.maintenance.verify()).rejects.toThrow(/no such table/);
});

test('passes on the error of a transaction from the writer thread', async () => {
  const { store, other } = await place();
  other.exec(`
    CREATE TRIGGER refuse BEFORE INSERT ON caller WHEN new.name = 'refused'
    BEGIN SELECT RAISE(ABORT, 'refused for a test'); END`);
  await expect(
    store.counts.record('docs', [{ id: 'a', caller: 'refused', occurredAt: 0 }]),
  ).rejects.toMatchObject({
    message: expect.stringMatching(/refused for a test/),
    cause: { message: expect.stringMatching(/refused for a test/) },
  });
});

test('starts another writer thread after one has ended', async () => {
  const { store, threads } = await place();
  await store.counts.record('docs', [query('a')]);
  expect(threads).toHaveLength(1);
  await threads[0]?.terminate();
  expect(await store.counts.record('docs', [query('a'), query('b')])).toEqual({ recorded: 1, duplicates: 1 });
  expect(threads).toHaveLength(2);
  expect((await store.counts.count('docs', ALL_TIME)).web).toBe(2);
});

test('asks the writer to clean up only if there is something to do', async () => {
  const { store, threads } = await place();
  const asked: unknown[] = [];
  for (const thread of threads) {
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (message: unknown) => {
      asked.push(message);
      post(message);
    };
  }
  expect(await store.maintenance.purgeDeleted(10)).toEqual({ removed: 0, done: true });
  // A process that was killed may have left something in the log.
  expect(asked.splice(0)).toEqual([[{ kind: 'emptyLog' }]]);
  expect(await store.maintenance.purgeDeleted(10)).toEqual({ removed: 0, done: true });
  expect(await store.maintenance.applyRetention(0, 10)).toEqual({ removed: 0, done: true });
  expect(asked).toEqual([]);
  await store.directory.deleteProject('default', 'docs', by);
  await store.maintenance.purgeDeleted(10);
  expect(asked).toMatchObject([
    [{ kind: 'directory', method: 'deleteProject' }],
    [{ kind: 'purgeDeleted', limit: 10 }],
  ]);
});

test('tries to empty the log of what was removed again until no reader needs it', async () => {
  const { file, store, other } = await place();
  const isOnDisk = (text: string) =>
    [file, `${file}-wal`].some((one) => existsSync(one) && readFileSync(one).includes(text));
  await store.counts.record('docs', [query('asked by somebody')]);
  await store.directory.deleteProject('default', 'docs', by);
  const purge = async () => {
    while (!(await store.maintenance.purgeDeleted(10)).done);
  };
  other.exec('BEGIN; SELECT * FROM project');
  await purge();
  expect(isOnDisk('asked by somebody')).toBe(true);
  other.exec('COMMIT');
  // A report of this process does not prevent it.
  const long = store.counts.readTogether('docs', async (counts) => {
    for (let turn = 0; turn < 20; turn++) await counts.countCallers('docs', ALL_TIME);
  });
  await purge();
  expect(isOnDisk('asked by somebody')).toBe(false);
  await long;
});

test('short reads do not wait for long ones', async () => {
  const { store } = await place();
  await store.counts.record(
    'docs',
    ['web', 'slack', 'slack', 'other'].map((caller, at) => ({ id: `${at}`, caller, occurredAt: at })),
  );
  let end = () => {};
  const long = store.counts.readTogether('docs', () => new Promise<void>((resolve) => (end = resolve)));
  const bounds = Array.from({ length: 100 }, (_, at) => at - 50);
  for (const [caller, counted] of [
    [undefined, 4],
    ['web', 1],
    ['api', 0],
    ['slack', 2],
    ['other', 1],
    ['nobody', 0],
  ] as const) {
    expect((await store.counts.count('docs', ALL_TIME, caller)).total).toBe(counted);
    const series = await store.counts.countSeries('docs', bounds, caller);
    expect(series.reduce((sum, { total }) => sum + total, 0)).toBe(counted);
  }
  end();
  await long;
});

test('reports the operations and queries that wait', async () => {
  const { store, other } = await place();
  other.exec('BEGIN IMMEDIATE');
  const first = store.counts.record('docs', [query('a')]);
  await nextLoopTurn();
  const others = [
    store.counts.record('docs', [query('b'), query('c'), query('d')]),
    store.directory.createProject(projectOf('more'), by),
  ];
  // The first is being written, and so does not wait any more.
  expect(await store.maintenance.stats()).toMatchObject({ pendingOperations: 2, pendingQueries: 4 });
  other.exec('ROLLBACK');
  await Promise.all([first, ...others]);
});

test.each(upgradedVersions)(
  'backs up a file of version %i and reports the name of the copy once',
  async (version) => {
    const file = await keptFile(version);
    const copies: string[] = [];
    for (let times = 0; times < 2; times++)
      await (await openSqliteStore(file, { onBackup: (copy) => copies.push(copy) })).close();
    expect(copies).toEqual([`${file}.version-${version}`]);
    expect(existsSync(`${file}.version-${version}`)).toBe(true);
  },
);
