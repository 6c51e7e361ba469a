import { describe, expect, test } from 'vitest';
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import type { Query } from '../../src/domain/queries/query.js';
import { dayMs, hourMs } from '../../src/domain/time/duration.js';
import type { Store } from '../../src/storage/ports/store.js';
import { recount } from '../support/storage/ledger.js';
import { by, type PlaceFactory, projectOf, retainAll } from '../support/storage/store.js';

const org = DEFAULT_ORGANIZATION_ID;
const today = Date.UTC(2026, 5, 15);
const now = today + 40_000_000;

/** Queries around each midnight of the last forty days, ids in no order of time. */
const queries: readonly Query[] = Array.from({ length: 40 }, (_, day) =>
  [-1, 0, 1, 7_200_000].map((beside, at) => ({
    id:
      at % 2 === 0
        ? `${(day * 17) % 41} ${at}`
        : `0190a8b2-7c3e-7d4f-8a5b-${String((day * 17) % 41).padStart(11, '0')}${at}`,
    caller: ['web', 'api', 'slack', 'sdk-python', 'bot'][(day + at) % 5] ?? 'web',
    occurredAt: today - day * dayMs + beside,
  })),
).flat();

const since = (timeMs: number) => queries.filter(({ occurredAt }) => occurredAt >= timeMs);

/** All queries that still have their rows. */
async function rowsOf(store: Store, projectId: string): Promise<Query[]> {
  const rows = await store.counts.readQueries(projectId, undefined, 10_000);
  return rows
    .map(({ receipt: _receipt, ...query }) => query)
    .toSorted((a, b) => a.occurredAt - b.occurredAt || (a.id < b.id ? -1 : 1));
}

const sorted = (some: readonly Query[]) =>
  some.toSorted((a, b) => a.occurredAt - b.occurredAt || (a.id < b.id ? -1 : 1));

/** Counts are what they would be with all rows, at any bounds, and verification finds nothing. */
async function expectCounted(store: Store, projectId: string, recorded: readonly Query[]): Promise<void> {
  for (const width of BUCKET_WIDTHS_MS.slice(3)) {
    for (const [from, to] of [
      [today - 35 * dayMs + 1, today - 3 * dayMs],
      [today - 4 * width, today],
      [today - width, today + width],
    ] as const) {
      expect(await store.counts.count(projectId, { from, to })).toEqual(recount(recorded, { from, to }));
    }
  }
  expect(await store.counts.count(projectId, ALL_TIME)).toEqual(recount(recorded, ALL_TIME));
  expect((await store.counts.countCallers(projectId, ALL_TIME)).total).toBe(recorded.length);
  expect(await store.maintenance.verify()).toMatchObject({
    damage: [],
    differences: [],
    differencesTotal: 0,
  });
}

export function describeRetention(kind: string, factory: PlaceFactory): void {
  const openNew = async (retentionDays: number | null) => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    await store.directory.createProject(projectOf('p', { retentionDays }), by);
    await store.directory.createProject(projectOf('kept'), by);
    await store.counts.record('p', queries);
    await store.counts.record('kept', queries);
    return { store, other };
  };

  describe(`${kind}: retention`, () => {
    test('refuses queries from before the retained rows by index and records nothing', async () => {
      const { store, other } = await openNew(10);
      const rowsFrom = today - 10 * dayMs;
      const old = { id: 'old', caller: 'web', occurredAt: rowsFrom - 1 };
      const fresh = { id: 'fresh', caller: 'web', occurredAt: rowsFrom };
      await retainAll(store, now);
      expect(await other.directory.findProject(org, 'p')).toEqual(
        projectOf('p', { retentionDays: 10, rowsFrom }),
      );
      const before = await store.counts.count('p', ALL_TIME);
      const refusal = await other.counts
        .record('p', [fresh, old, { ...old, id: 'older', occurredAt: 0 }])
        .then(
          () => undefined,
          (error) => error,
        );
      const at = '2026-06-05T00:00:00.000Z';
      expect(refusal).toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(
          /^Nothing was recorded\. The project's retention has removed old rows/,
        ),
        details: [1, 2].map(
          (index) => `queries[${index}]: occurredAt: lies before ${at}, from when on the project keeps rows`,
        ),
      });
      expect(await store.counts.count('p', ALL_TIME)).toEqual(before);
      // A repeat of what came earlier in the batch is one, whatever it says.
      expect(await other.counts.record('p', [fresh, { ...fresh, occurredAt: 5 }])).toEqual({
        recorded: 1,
        duplicates: 1,
      });
      expect(await other.counts.record('kept', [old])).toEqual({ recorded: 1, duplicates: 0 });
    });

    test('records concurrent batches although one is refused', async () => {
      const { store } = await openNew(10);
      await retainAll(store, now);
      const batches = Array.from({ length: 12 }, (_, at) => ({
        id: `at once ${at}`,
        caller: 'web',
        occurredAt: at % 3 === 0 ? today - 11 * dayMs : today,
      }));
      const results = await Promise.allSettled(batches.map((query) => store.counts.record('p', [query])));
      for (const [at, result] of results.entries()) {
        if (at % 3 === 0) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'invalid' } });
        else expect(result).toMatchObject({ status: 'fulfilled', value: { recorded: 1 } });
      }
    });

    test('removes whole days in steps by any handle without changing counts', async () => {
      const { store, other } = await openNew(10);
      await expectCounted(store, 'p', queries);
      let removed = 0;
      for (let done = false; !done; ) {
        const pieces = await Promise.all(
          [store, other].map((handle) => handle.maintenance.applyRetention(now, 7)),
        );
        for (const piece of pieces) {
          expect(piece.removed).toBeLessThanOrEqual(7);
          removed += piece.removed;
        }
        done = pieces.every((piece) => piece.done);
        await expectCounted(other, 'p', queries);
      }
      const kept = since(today - 10 * dayMs);
      expect(removed).toBe(queries.length - kept.length);
      expect(await rowsOf(store, 'p')).toEqual(sorted(kept));
      expect(await rowsOf(store, 'kept')).toEqual(sorted(queries));
      expect(await store.maintenance.applyRetention(now, 7)).toEqual({ removed: 0, done: true });
      expect(await store.maintenance.applyRetention(today + dayMs - 1, 7)).toEqual({
        removed: 0,
        done: true,
      });
      expect(await store.maintenance.verify()).toMatchObject({ queries: kept.length + queries.length });
    });

    test('never moves back, whatever changes', async () => {
      const { store } = await openNew(10);
      await retainAll(store, now);
      const rowsFrom = today - 10 * dayMs;
      for (const retentionDays of [20, 10, null]) {
        await store.directory.changeProject(org, 'p', { retentionDays }, by);
        await retainAll(store, now - 3 * dayMs);
        expect(await store.directory.findProject(org, 'p')).toMatchObject({ rowsFrom });
      }
      await expect(
        store.counts.record('p', [{ id: 'x', caller: 'web', occurredAt: rowsFrom - 1 }]),
      ).rejects.toMatchObject({ code: 'invalid' });
      await store.directory.changeProject(org, 'p', { retentionDays: 9 }, by);
      await retainAll(store, now);
      expect(await store.directory.findProject(org, 'p')).toMatchObject({ rowsFrom: rowsFrom + dayMs });
      await expectCounted(store, 'p', queries);
    });

    test.each([10, null])(
      'takes a clock that was ten years ahead back, if rows are then kept for %s days',
      async (days) => {
        const { store, other } = await openNew(10);
        const at = (occurredAt: number): Query => ({ id: `at ${occurredAt}`, caller: 'slack', occurredAt });
        await retainAll(store, now + 3650 * dayMs);
        expect(await rowsOf(store, 'p')).toEqual([]);
        await expect(store.counts.record('p', [at(now)])).rejects.toMatchObject({ code: 'invalid' });
        await store.directory.changeProject(org, 'p', { retentionDays: days }, by);
        const rowsFrom = Math.ceil(now / hourMs) * hourMs;
        expect(await other.maintenance.applyRetention(now, 1000)).toEqual({
          removed: 0,
          done: false,
          movedBack: { projectId: 'p', rowsFrom },
        });
        await retainAll(other, now);
        expect(await store.directory.findProject(org, 'p')).toMatchObject({ rowsFrom });
        // Its row may be gone.
        await expect(store.counts.record('p', [at(rowsFrom - 1)])).rejects.toMatchObject({ code: 'invalid' });
        const fresh = [0, 1, 900_000, dayMs].map((later) => at(rowsFrom + later));
        expect(await store.counts.record('p', fresh)).toEqual({ recorded: 4, duplicates: 0 });
        expect(await store.counts.record('p', fresh)).toEqual({ recorded: 0, duplicates: 4 });
        await expectCounted(store, 'p', [...queries, ...fresh]);
        await retainAll(other, now + 11 * dayMs);
        expect(await rowsOf(store, 'p')).toEqual(days === null ? fresh : fresh.slice(-1));
        await expectCounted(store, 'p', [...queries, ...fresh]);
      },
    );

    test('finishes a sweep that has begun although it was turned off', async () => {
      const { store, other } = await openNew(10);
      await store.maintenance.applyRetention(now, 5);
      await store.maintenance.applyRetention(now, 5);
      await store.directory.changeProject(org, 'p', { retentionDays: null }, by);
      await retainAll(other, now);
      expect(await rowsOf(store, 'p')).toEqual(sorted(since(today - 10 * dayMs)));
    });

    test('ends with its project', async () => {
      const { store } = await openNew(10);
      await store.maintenance.applyRetention(now, 5);
      await store.maintenance.applyRetention(now, 5);
      await store.directory.deleteProject(org, 'p', by);
      expect(await store.maintenance.applyRetention(now, 5)).toEqual({ removed: 0, done: true });
      expect(await store.maintenance.verify()).toMatchObject({
        projects: 1,
        queries: queries.length,
        differencesTotal: 0,
      });
    });
  });
}
