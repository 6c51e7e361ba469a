/** Many writers, on several nodes, of the same ids at once: exact, and never in each other's way for ever. */
import { describe, expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import type { Query } from '../../../src/domain/queries/query.js';
import type { RecordResult, Store } from '../../../src/storage/ports/store.js';
import { eventually } from '../../support/postgres/nodes.js';
import { knownEvent, rangesOver, recount } from '../../support/storage/ledger.js';
import { by, newDatabase, onDatabase, openForTest, projectOf } from '../../support/storage/store.js';
import { isDeep } from '../../support/volume.js';

/** Long enough for any machine: a writer that waits its turn is not a failure here. */
const timeoutMs = 60_000;

/** Each writes through a store of its own. */
const writers = isDeep ? 32 : 12;

/** Many more than the connections of all nodes. */
const projectCount = isDeep ? 1000 : 200;

async function openMany(url: string, handles: number, connectionsMax: number): Promise<Store[]> {
  const open = () => openForTest(url, { connectionsMax, timeoutMs });
  // The first makes the schema.
  const first = await open();
  return [first, ...(await Promise.all(Array.from({ length: handles - 1 }, open)))];
}

/** Closes all, waits until the server has noticed, and gives how many deadlocks it counted. */
async function deadlocksAfter(stores: readonly Store[], url: string): Promise<number> {
  await Promise.all(stores.map((store) => store.close()));
  return onDatabase(url, async (client) => {
    const others =
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'caller-stats' AND datname = current_database()";
    await eventually(async () => ((await client.query(others)).rowCount === 0 ? true : undefined));
    const { rows } = await client.query<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(rows[0]?.deadlocks);
  });
}

/** Counts and counters are those of a recount, and nobody met a deadlock on the way. Closes the stores. */
async function expectExactly(events: readonly Query[], stores: readonly Store[], url: string): Promise<void> {
  for (const range of rangesOver(events, 50)) {
    expect(await stores[1]?.counts.count('p', range)).toEqual(recount(events, range));
  }
  expect(await stores[2]?.maintenance.verify()).toMatchObject({
    queries: events.length,
    damage: [],
    differencesTotal: 0,
  });
  expect(await deadlocksAfter(stores, url)).toBe(0);
}

/** Every event once, in an order of the writer's own, cut into batches. `events` must not be a multiple of the steps. */
function shuffled(events: readonly Query[], writer: number, batchSize: number): Query[][] {
  const step = [7, 11, 13, 17, 19, 23, 29, 31][writer % 8] ?? 7;
  const inOrder = events
    .map((_, at) => events[(at * step + writer * 37) % events.length])
    .filter((one) => one !== undefined);
  if (new Set(inOrder).size !== events.length) throw new Error(`${events.length} is a multiple of ${step}`);
  return Array.from({ length: Math.ceil(inOrder.length / batchSize) }, (_, at) =>
    inOrder.slice(at * batchSize, (at + 1) * batchSize),
  );
}

const sum = (results: readonly RecordResult[]) => ({
  recorded: results.reduce((total, { recorded }) => total + recorded, 0),
  duplicates: results.reduce((total, { duplicates }) => total + duplicates, 0),
});

describe.each(inject('postgresServers').map(({ version, url }) => [version, url] as const))(
  'PostgreSQL %s',
  (_version, serverUrl) => {
    test('many nodes record the same ids in different orders', async () => {
      const url = await newDatabase(serverUrl);
      const stores = await openMany(url, writers, 2);
      await stores[0]?.directory.createProject(projectOf('p'), by);
      const events = Array.from({ length: 1201 }, (_, number) => knownEvent(number));
      const results = await Promise.all(
        stores.map(async (store, writer) => {
          const own: RecordResult[] = [];
          for (const batch of shuffled(events, writer, 60)) own.push(await store.counts.record('p', batch));
          return own;
        }),
      );
      expect(sum(results.flat())).toEqual({
        recorded: events.length,
        duplicates: (writers - 1) * events.length,
      });
      await expectExactly(events, stores, url);
    });

    test('many nodes record different ids into the same counters in different orders', async () => {
      const url = await newDatabase(serverUrl);
      const stores = await openMany(url, writers, 2);
      await stores[0]?.directory.createProject(projectOf('p'), by);
      const eventsOf = (writer: number) =>
        Array.from({ length: 601 }, (_, number) => ({ ...knownEvent(number), id: `${writer}-${number}` }));
      const results = await Promise.all(
        stores.map(async (store, writer) => {
          const own: RecordResult[] = [];
          for (const batch of shuffled(eventsOf(writer), writer, 10 + writer * 9)) {
            own.push(await store.counts.record('p', batch));
          }
          return own;
        }),
      );
      const events = stores.flatMap((_, writer) => eventsOf(writer));
      expect(sum(results.flat())).toEqual({ recorded: events.length, duplicates: 0 });
      await expectExactly(events, stores, url);
    });

    test('four nodes record into many projects concurrently', async () => {
      const url = await newDatabase(serverUrl);
      const stores = await openMany(url, 4, 16);
      const projects = Array.from({ length: projectCount }, (_, number) => `project-${number}`);
      await Promise.all(
        projects.map((id, at) => stores[at % stores.length]?.directory.createProject(projectOf(id), by)),
      );
      const events = Array.from({ length: 10 }, (_, number) => knownEvent(number));
      const results = await Promise.all(
        stores.map(async (store, writer) => {
          const own: RecordResult[] = [];
          // A hundred at once: a project has one queue in each store, and the store's connections are shared.
          for (let at = 0; at < projects.length; at += 100) {
            const some = projects.slice(at, at + 100);
            const recorded = some.map((id) =>
              shuffled(events, writer, 10).map((batch) => store.counts.record(id, batch)),
            );
            own.push(...(await Promise.all(recorded.flat())));
          }
          return own;
        }),
      );
      expect(sum(results.flat())).toEqual({
        recorded: projects.length * events.length,
        duplicates: (stores.length - 1) * projects.length * events.length,
      });
      const expected = recount(events, ALL_TIME);
      const counts = await Promise.all(
        projects.map((id, at) => stores[at % stores.length]?.counts.count(id, ALL_TIME)),
      );
      expect(counts.filter((count) => JSON.stringify(count) !== JSON.stringify(expected))).toEqual([]);
      expect(await stores[0]?.maintenance.verify()).toMatchObject({
        projects: projects.length,
        queries: projects.length * events.length,
        damage: [],
        differencesTotal: 0,
      });
      expect(await deadlocksAfter(stores, url)).toBe(0);
    });
  },
);

test('counts are checked while a query of their project is being recorded', async () => {
  const url = await newDatabase(inject('postgresServers')[0]?.url ?? '');
  const store = await openForTest(url);
  await store.directory.createProject(projectOf('p'), by);
  const count = { source: 'old', caller: 'web', start: 0, end: 5, count: 1 };
  await store.counts.importCounts('p', [count]);
  await onDatabase(url, async (client) => {
    // As `record` does.
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock_shared(hashtextextended('caller_stats.p', 0))`);
    const dryRun = { dryRun: true };
    expect(await store.counts.importCounts('p', [count, { ...count, caller: 'api' }], dryRun)).toEqual({
      recorded: 1,
      duplicates: 1,
    });
    await expect(store.counts.importCounts('p', [{ ...count, count: 2 }], dryRun)).rejects.toMatchObject({
      code: 'already_exists',
    });
    await client.query('ROLLBACK');
  });
});
