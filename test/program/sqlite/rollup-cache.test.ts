/** Cached counts and series, compared with a recount at every look-up and after every change. */
import { setImmediate } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { ALL_TIME, type DateRange } from '../../../src/domain/counting/date-range.js';
import type { Query } from '../../../src/domain/queries/query.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { whenOver } from '../../support/cleanup.js';
import { knownDelivery, rangesOver, recount } from '../../support/storage/ledger.js';
import { by, projectOf } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';

/** Enough look-ups to cache whole days, then their insides, then those of their ten seconds. */
const asks = 300;

async function openWithProjects(...ids: string[]): Promise<{ readonly store: Store; readonly file: string }> {
  const file = `${await temporaryFolder()}/store.db`;
  const store = await openSqliteStore(file);
  whenOver(() => store.close());
  for (const id of ids) await store.directory.createProject(projectOf(id), by);
  return { store, file };
}

/** Counts as often as it takes to cache everything. */
async function expectCount(store: Store, id: string, queries: readonly Query[], range: DateRange) {
  const answers = new Set<string>();
  for (let ask = 0; ask < asks; ask++) answers.add(JSON.stringify(await store.counts.count(id, range)));
  expect([...answers], JSON.stringify(range)).toEqual([JSON.stringify(recount(queries, range))]);
}

test('counts equal a recount, cached or not, between recordings in two projects', async () => {
  const { store } = await openWithProjects('one', 'two');
  const recorded: Record<string, Map<string, Query>> = { one: new Map(), two: new Map() };
  for (let delivery = 0; delivery < 16; delivery++) {
    const projectId = delivery % 3 === 0 ? 'two' : 'one';
    const queries = knownDelivery(delivery);
    await store.counts.record(projectId, queries);
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
      for (const range of [...rangesOver(all, 12), ...days]) await expectCount(store, id, all, range);
    }
  }
});

test('reads that follow a look-up of a key in one turn have its snapshot, and later ones a newer one', async () => {
  const { store, file } = await openWithProjects('docs');
  await store.counts.record('docs', [{ id: 'a', caller: 'web', occurredAt: 0 }]);
  const other = new DatabaseSync(file);
  whenOver(async () => other.close());
  for (let more = 1; more <= 3; more++) {
    await Promise.all(
      ['one', 'another', 'a third'].map(async (key) => {
        await store.directory.findAccess(key, 'docs');
        for (let ask = 0; ask < asks; ask++) {
          expect((await store.counts.count('docs', ALL_TIME)).total).toBe(more);
          expect((await store.counts.count('docs', { from: -1, to: 2 * dayMs + 1 })).total).toBe(more);
          if (ask === 5 && key === 'another') other.exec('UPDATE query_counter SET web = web + 1');
        }
      }),
    );
    await setImmediate();
    expect((await store.counts.count('docs', ALL_TIME)).total).toBe(more + 1);
  }
});

test('a store can be closed while it holds a snapshot', async () => {
  const { store } = await openWithProjects('docs');
  await store.directory.findAccess('one', 'docs');
  await store.close();
  await setImmediate();
  await expect(store.counts.count('docs', ALL_TIME)).rejects.toThrow('closing');
});
