/** How the counts of a project came about: what a store tells of its past, in parts. */
import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import type { PastQueries } from '../../src/domain/history/timeline.js';
import { pastStepCounts, pastStepQueries } from '../../src/domain/limits.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { dayMs, hourMs } from '../../src/domain/time/duration.js';
import type { PastRange } from '../../src/storage/ports/history.js';
import type { Store } from '../../src/storage/ports/store.js';
import { by, type PlaceFactory, projectOf, retainAll } from '../support/storage/store.js';

const today = 20_000;
const start = today * dayMs;
const range = { ...ALL_TIME, atMs: start, spanMs: dayMs };
const notFound = { code: 'not_found' };

const query = (id: string, occurredAt: number) => ({ id, caller: 'web', occurredAt });

async function readAll({ history }: Store, asked: PastRange): Promise<PastQueries[]> {
  const all: PastQueries[] = [];
  let from: string | null = null;
  do {
    const { queries, next } = await history.readPast('p', asked, from);
    all.push(...queries);
    from = next;
  } while (from !== null);
  return all.toSorted((a, b) => a.first - b.first);
}

export function describeHistory(kind: string, factory: PlaceFactory): void {
  const openNew = async () => {
    const store = await (await factory()).open();
    await store.directory.createProject(projectOf('p', { retentionDays: 10 }), by);
    return store;
  };

  describe(`${kind}: the past`, () => {
    test('of an unknown and of a deleted project is told to nobody', async () => {
      const store = await openNew();
      await store.counts.record('p', [query('a', start)]);
      await store.directory.deleteProject(DEFAULT_ORGANIZATION_ID, 'p', by);
      for (const id of ['none', 'p']) {
        await expect(store.history.findPast(id, ALL_TIME)).rejects.toMatchObject(notFound);
        await expect(store.history.readPast(id, range, null)).rejects.toMatchObject(notFound);
      }
    });

    test('is not known where retention has removed rows, whether they still count or not', async () => {
      const store = await openNew();
      await store.counts.record('p', [query('old', start - 20 * dayMs), query('new', start)]);
      await retainAll(store, start + 1);
      const rowsFrom = start - 10 * dayMs;
      const known = async (from: number) =>
        (await store.history.findPast('p', { from, to: start + dayMs })).rowsFrom;
      expect(await known(start - 20 * dayMs)).toBe(rowsFrom);
      // Nothing was there.
      expect([await known(start - 19 * dayMs), await known(rowsFrom)]).toEqual([null, null]);
      expect(await store.history.findPast('p', ALL_TIME)).toEqual({
        ...{ knownFrom: null, rowsFrom, corrections: [], lateDay: null },
      });
    });

    test('has everything once, however many parts it takes', async () => {
      const store = await openNew();
      const queries = Array.from({ length: pastStepQueries + 1 }, (_, at) => query(`id ${at}`, start + at));
      await store.counts.record('p', queries);
      const counts = Array.from({ length: pastStepCounts + 1 }, (_, at) => ({
        ...{ source: 'old', caller: ['api', 'slack'][at % 2] ?? '', count: 2 },
        ...{ start: start + (at >> 1), end: start + (at >> 1) + 1 },
      }));
      await store.counts.importCounts('p', counts);
      const sums = new Map<string, number>();
      for (const one of await readAll(store, range))
        sums.set(one.caller, (sums.get(one.caller) ?? 0) + one.queries);
      const half = pastStepCounts / 2;
      expect(Object.fromEntries(sums)).toEqual({
        ...{ web: queries.length, api: 2 * (half + 1), slack: 2 * half },
      });
    });

    test('tells apart spans, what occurred before the moment, and what arrived from its day on', async () => {
      const store = await openNew();
      const at = (ms: number, sender: string, day = today) => ({
        ...query(`${ms} ${sender}`, start + ms),
        receipt: { day, sender },
      });
      await store.counts.record('p', [
        ...[at(-hourMs, 'key:a', today - 1), at(-1, 'key:b', today - 1), at(0, 'key:a', today - 1)],
        ...[at(hourMs, 'key:a'), at(2 * hourMs - 1, 'key:a'), at(2 * hourMs, 'key:a')],
        at(4 * hourMs, 'key:out of the range'),
      ]);
      const day = { source: 'old', caller: 'web', count: 5 };
      const imported = { ...day, start: start + 3 * hourMs, end: start + 4 * hourMs };
      await store.counts.importCounts('p', [imported], { day: today });
      const asked = { from: start - hourMs, to: start + 4 * hourMs, atMs: start, spanMs: hourMs };
      const told = (await readAll(store, asked)).map(({ first, last, queries, arrivedFrom }) => {
        return [(first - start) / hourMs, last - first, queries, arrivedFrom];
      });
      expect(told).toEqual([
        [-1, hourMs - 1, 2, null],
        [0, 0, 1, null],
        [1, hourMs - 1, 2, 'key:a'],
        [2, 0, 1, 'key:a'],
        [3, 0, 5, 'counts:old'],
      ]);
    });
  });
}
