/** Cached counts and series, compared with a recount at every look-up and after every change. */
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import type { Query } from '../../src/domain/queries/query.js';
import type { Store } from '../../src/storage/ports/store.js';
import { openSqliteStore } from '../../src/storage/sqlite/store.js';
import { whenOver } from '../support/cleanup.js';
import { knownDelivery, rangesOver, recount } from '../support/ledger.js';
import { by, projectOf } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

const dayMs = 86_400_000;

/** Enough look-ups to cache whole days, then their insides, then those of their ten seconds. */
const asks = 300;

async function openWithProjects(...ids: string[]): Promise<{ readonly store: Store; readonly file: string }> {
  const file = `${await temporaryFolder()}/store.db`;
  const store = await openSqliteStore(file);
  whenOver(() => store.close());
  for (const id of ids) await store.createProject(projectOf(id), by);
  return { store, file };
}

/** Each of them, `asks` times. */
async function expectCounts(
  store: Store,
  projectId: string,
  queries: readonly Query[],
  ranges: readonly DateRange[],
) {
  for (const range of ranges) {
    const answers = new Set<string>();
    for (let ask = 0; ask < asks; ask++) answers.add(JSON.stringify(await store.count(projectId, range)));
    expect([...answers], JSON.stringify(range)).toEqual([JSON.stringify(recount(queries, range))]);
  }
}

test('many counts between recordings, in two projects', async () => {
  const { store } = await openWithProjects('one', 'two');
  const recorded: Record<string, Map<string, Query>> = { one: new Map(), two: new Map() };
  for (let delivery = 0; delivery < 16; delivery++) {
    const projectId = delivery % 3 === 0 ? 'two' : 'one';
    const queries = knownDelivery(delivery);
    await store.record(projectId, queries);
    for (const query of queries) {
      const known = recorded[projectId];
      if (!known?.has(query.id)) known?.set(query.id, query);
    }
    for (const [id, known] of Object.entries(recorded)) {
      const all = [...known.values()];
      const days = rangesOver(all, 8).map(({ from, to }) => ({
        from: Math.floor(from / dayMs) * dayMs,
        to: Math.ceil(to / dayMs) * dayMs,
      }));
      await expectCounts(store, id, all, [...rangesOver(all, 12), ...days]);
    }
  }
});

test('more series than are cached, between recordings, in two projects', async () => {
  const { store } = await openWithProjects('one', 'two');
  const recorded: Query[] = [];
  for (let delivery = 0; delivery < 4; delivery++) {
    const queries = knownDelivery(delivery).filter(({ id }) => !recorded.some((one) => one.id === id));
    await store.record('one', queries);
    recorded.push(...queries);
    for (let ask = 0; ask < 3; ask++) {
      for (const { from, to } of rangesOver(recorded, 60)) {
        const bounds = [from, Math.floor((from + to) / 2), to];
        const counts = [
          [from, bounds[1]],
          [bounds[1], to],
        ].map(([begin = 0, end = 0]) => recount(recorded, { from: begin, to: end }));
        expect(await store.countSeries('one', bounds)).toEqual(counts);
        expect((await store.countSeries('two', bounds)).map(({ total }) => total)).toEqual([0, 0]);
      }
    }
  }
});

test('more days than are cached', async () => {
  const { store } = await openWithProjects('long');
  const queries = Array.from({ length: 4_002 }, (_, day) => ({
    id: `day ${day}`,
    caller: 'web',
    occurredAt: day * dayMs,
  }));
  for (const some of [queries.slice(0, 4_000), queries.slice(4_000)]) {
    await store.record('long', some);
    const all = queries.slice(0, some === queries ? undefined : queries.indexOf(some.at(-1) as Query) + 1);
    await expectCounts(store, 'long', all, [
      ALL_TIME,
      { from: 5, to: 4_001 * dayMs },
      { from: dayMs, to: 3_999 * dayMs },
    ]);
  }
});

test('a day with more milliseconds than are cached, and all of its buckets of ten seconds', async () => {
  const { store } = await openWithProjects('hot');
  const queries = Array.from({ length: 4_001 + 8_640 }, (_, at) => ({
    id: `query ${at}`,
    caller: at % 3 === 0 ? 'api' : 'web',
    occurredAt: at < 4_001 ? 7 * at : (at - 4_001) * 10_000 + 5,
  }));
  queries.push(...[9_999, -1].map((occurredAt) => ({ id: `at ${occurredAt}`, caller: 'slack', occurredAt })));
  await store.record('hot', queries);
  const ranges = [-1, 3, 5, 9_999, 10_000, 10_006, 27_999, 43_210_007, 86_390_005, 86_399_999].flatMap(
    (from) => [
      { from, to: dayMs },
      { from, to: 86_390_006 },
      { from: from - 11_000, to: dayMs + 1 },
      { from: -dayMs, to: from },
    ],
  );
  await expectCounts(
    store,
    'hot',
    queries,
    ranges.filter(({ from, to }) => from <= to),
  );
});

test('a project that was deleted and created again', async () => {
  const { store } = await openWithProjects('docs');
  const queries = knownDelivery(3);
  await store.record('docs', queries);
  await expectCounts(store, 'docs', queries, [ALL_TIME]);
  await store.deleteProject('default', 'docs', by);
  await expectCounts(store, 'docs', [], [ALL_TIME]);
  while (!(await store.purgeDeleted(1000)).done);
  await store.createProject(projectOf('docs'), by);
  await expectCounts(store, 'docs', [], [ALL_TIME]);
});

test('readSync reads one snapshot, and the next call a newer one', async () => {
  const { store, file } = await openWithProjects('docs');
  await store.record('docs', [{ id: 'a', caller: 'web', occurredAt: 0 }]);
  const other = new DatabaseSync(file);
  whenOver(async () => other.close());
  const total = () => store.readSync?.((reads) => reads.count('docs', ALL_TIME).total);
  for (let more = 1; more <= 3; more++) {
    store.readSync?.((reads) => {
      for (let ask = 0; ask < asks; ask++) {
        expect(reads.count('docs', ALL_TIME).total).toBe(more);
        expect(reads.count('docs', { from: -1, to: 2 * dayMs + 1 }).total).toBe(more);
        if (ask === 5) other.exec('UPDATE type_counter SET web = web + 1');
      }
    });
    expect(total()).toBe(more + 1);
  }
});

test('readSync works after it has thrown', async () => {
  const { store } = await openWithProjects('docs');
  expect(() =>
    store.readSync?.(() => {
      throw new RangeError('no');
    }),
  ).toThrow('no');
  await store.record('docs', [{ id: 'a', caller: 'web', occurredAt: 0 }]);
  expect(store.readSync?.((reads) => reads.count('docs', ALL_TIME).total)).toBe(1);
  await store.close();
  expect(() => store.readSync?.(() => 0)).toThrow('closing');
});
