import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import type { ImportedCount } from '../../src/domain/counting/imported-count.js';
import { importedCountMax, importedCountsMax, importedSpanDaysMax } from '../../src/domain/limits.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { dayMs } from '../../src/domain/time/duration.js';
import type { Store } from '../../src/storage/ports/store.js';
import { by, type PlaceFactory, projectOf, purgeAll, retainAll } from '../support/storage/store.js';

const day = (number: number): number => Date.UTC(2024, 0, 1) + number * dayMs;

/** The count of one day. */
const ofDay = (number: number, caller: string, count: number, source = 'old'): ImportedCount => ({
  ...{ source, caller, start: day(number), end: day(number + 1), count },
});

/** The edges that find what a bound cuts. */
const cutAt = (bound: number) => [bound - importedSpanDaysMax * dayMs, bound];

async function expectSound(store: Store): Promise<void> {
  expect(await store.maintenance.verify()).toMatchObject({
    damage: [],
    differences: [],
    differencesTotal: 0,
  });
}

export function describeImportedCounts(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    await store.directory.createProject(projectOf('p'), by);
    return { store, other };
  };

  describe(`${kind}: imported counts`, () => {
    test('refuses an unknown and a deleted project', async () => {
      const { store, other } = await openTwo();
      await store.directory.deleteProject(DEFAULT_ORGANIZATION_ID, 'p', by);
      for (const id of ['none', 'p']) {
        for (const counts of [[], [ofDay(0, 'web', 1)]])
          await expect(other.counts.importCounts(id, counts)).rejects.toMatchObject({ code: 'not_found' });
      }
      expect(await store.counts.readImportedCounts('none', undefined, 10)).toEqual([]);
      expect(await store.counts.findCutSpan('none', [0, 1])).toBeUndefined();
    });

    test.each<[what: string, sent: ImportedCount, detail: RegExp]>([
      ['another count', ofDay(1, 'slack', 7), /the count sent is 7; the count already there is 5$/],
      ['zero', ofDay(1, 'slack', 0), /the count sent is 0; the count already there is 5$/],
      ['a count where zero is there', ofDay(2, 'slack', 1), /is 1; the count already there is 0$/],
      ['another end', { ...ofDay(1, 'slack', 5), end: day(1) + 1 }, /overlaps the span/],
      [
        'a span that begins inside',
        { ...ofDay(1, 'slack', 5), start: day(1) + 1 },
        /overlaps the span 2024-01-02T00:00:00.000Z to 2024-01-03T00:00:00.000Z, whose count is 5$/,
      ],
      ['a span that ends inside', { ...ofDay(1, 'slack', 5), start: day(0), end: day(1) + 1 }, /overlaps/],
      ['a span around', { ...ofDay(1, 'slack', 5), start: day(0), end: day(9) }, /overlaps/],
    ])('refuses %s for an imported span by name, and changes nothing', async (_what, sent, detail) => {
      const { store, other } = await openTwo();
      const imported = [ofDay(1, 'slack', 5), ofDay(2, 'slack', 0)];
      await store.counts.importCounts('p', imported, { day: 20_000 });
      const fresh = [ofDay(5, 'new', 1), ofDay(1, 'slack', 5), sent];
      for (const options of [{}, { dryRun: true }]) {
        await expect(other.counts.importCounts('p', fresh, options)).rejects.toMatchObject({
          code: 'already_exists',
          message: expect.stringMatching(/^Nothing was imported: 1 count contradicts one /),
          details: [expect.stringMatching(detail)],
        });
      }
      // The same within one batch, whatever its order.
      for (const batch of [
        [...imported, sent],
        [sent, ...imported],
      ])
        await expect(other.counts.importCounts('p', batch)).rejects.toMatchObject({ code: 'already_exists' });
      expect(await store.counts.readImportedCounts('p', undefined, 10)).toEqual(
        imported.map((one) => ({ ...one, day: 20_000 })),
      );
      expect(await other.counts.countCallers('p', ALL_TIME)).toMatchObject({
        total: 5,
        callers: [{ caller: 'slack' }],
      });
      await expectSound(store);
    });

    test('names a bounded number of conflicts and counts all', async () => {
      const { store } = await openTwo();
      const days = Array.from({ length: 250 }, (_, number) => number);
      await store.counts.importCounts(
        'p',
        days.map((number) => ofDay(number, 'web', 1)),
      );
      const refusal = await store.counts
        .importCounts(
          'p',
          days.map((number) => ofDay(number, 'web', 2)),
        )
        .catch((error: unknown) => error);
      expect(refusal).toMatchObject({ message: expect.stringContaining('250 counts contradict others') });
      const { details } = refusal as { details: string[] };
      expect(details).toHaveLength(101);
      expect(details[0]).toBe(
        'old, caller web, 2024-01-01T00:00:00.000Z to 2024-01-02T00:00:00.000Z: the count sent is 2; the count already there is 1',
      );
      expect(details.at(-1)).toBe('and 150 more conflicts');
    });

    test('counts at the start of the span, next to recorded queries', async () => {
      const { store, other } = await openTwo();
      await store.counts.record('p', [{ id: 'a', caller: 'slack', occurredAt: day(0) }]);
      const counts = [ofDay(0, 'slack', 10), ofDay(0, 'web', 20), ofDay(1, 'api', 30), ofDay(1, 'web', 0)];
      expect(await store.counts.importCounts('p', counts)).toEqual({ recorded: 4, duplicates: 0 });
      const all = { web: 20, api: 30, other: 11, total: 61 };
      expect(await other.counts.count('p', ALL_TIME)).toEqual(all);
      expect(await other.counts.count('p', { from: day(0), to: day(0) + 1 })).toEqual({
        ...all,
        api: 0,
        total: 31,
      });
      expect(await other.counts.count('p', { from: day(0) + 1, to: day(1) })).toMatchObject({ total: 0 });
      expect(await other.counts.countSeries('p', [day(0), day(1), day(2)])).toMatchObject([
        { total: 31 },
        { total: 30 },
      ]);
      expect(await other.counts.countCallers('p', ALL_TIME)).toEqual({
        total: 61,
        callers: [
          { caller: 'api', type: 'api', count: 30 },
          { caller: 'web', type: 'web', count: 20 },
          { caller: 'slack', type: 'other', count: 11 },
        ],
      });
      expect(await other.counts.findExtent('p')).toEqual({ from: day(0), to: day(1) + 1 });
      expect(await other.maintenance.verify()).toMatchObject({
        queries: 1,
        importedQueries: 60,
        differencesTotal: 0,
      });
    });

    test('counts each count once, even if several senders repeat it', async () => {
      const { store, other } = await openTwo();
      const counts = [ofDay(0, 'web', 3), ofDay(1, 'web', 4), ofDay(0, 'web', 3, 'another')];
      expect(await store.counts.importCounts('p', counts, { dryRun: true })).toEqual({
        recorded: 3,
        duplicates: 0,
      });
      expect(await store.counts.count('p', ALL_TIME)).toMatchObject({ total: 0 });
      const results = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          (at % 2 === 0 ? store : other).counts.importCounts('p', [...counts, ...counts].toReversed()),
        ),
      );
      expect(results.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(3);
      expect(results.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(12 * 6 - 3);
      expect(await store.counts.importCounts('p', counts, { dryRun: true })).toEqual({
        recorded: 0,
        duplicates: 3,
      });
      expect(await store.counts.count('p', ALL_TIME)).toEqual({ web: 10, api: 0, other: 0, total: 10 });
      await expectSound(other);
    });

    test('takes as many counts as a request may have, and the largest', async () => {
      const { store, other } = await openTwo();
      // Those of a copy know when they arrived.
      const counts = Array.from({ length: importedCountsMax }, (_, number) => ({
        ...ofDay(Math.floor(number / 3), ['web', 'api', 'slack'][number % 3] ?? '', importedCountMax),
        day: number,
      }));
      expect(await store.counts.importCounts('p', counts, { day: 20_000 })).toEqual({
        recorded: counts.length,
        duplicates: 0,
      });
      expect(await other.counts.count('p', ALL_TIME)).toMatchObject({
        total: counts.length * importedCountMax,
      });
      const pages: ImportedCount[] = [];
      for (let page: ImportedCount[] | undefined; page?.length !== 0; ) {
        page = await other.counts.readImportedCounts('p', pages.at(-1), 777);
        pages.push(...page);
      }
      const inOrder = (all: readonly ImportedCount[]) => all.map((one) => JSON.stringify(one)).toSorted();
      expect(inOrder(pages)).toEqual(inOrder(counts));
    });

    test('finds the spans that a bound cuts', async () => {
      const { store } = await openTwo();
      const longest = { ...ofDay(10, 'web', 7), end: day(10 + importedSpanDaysMax) };
      await store.counts.importCounts('p', [
        ofDay(1, 'slack', 0),
        ofDay(2, 'slack', 2),
        { ...ofDay(2, 'web', 3), end: day(4) },
        longest,
      ]);
      for (const bound of [day(0), day(1) + 1, day(2), day(4), day(10), longest.end])
        expect(await store.counts.findCutSpan('p', cutAt(bound)), String(bound)).toBeUndefined();
      expect(await store.counts.findCutSpan('p', cutAt(day(2) + 1))).toEqual({
        start: day(2),
        end: day(4),
        count: 5,
      });
      expect(await store.counts.findCutSpan('p', cutAt(day(3)))).toEqual({
        start: day(2),
        end: day(4),
        count: 3,
      });
      for (const bound of [longest.start + 1, longest.end - 1])
        expect(await store.counts.findCutSpan('p', cutAt(bound))).toEqual({
          ...{ start: longest.start, end: longest.end, count: 7 },
        });
      const monthly = [day(0), day(3), day(300), day(400)];
      expect(await store.counts.findCutSpan('p', monthly)).toEqual({
        ...{ start: day(2), end: longest.end, count: 10 },
      });
      expect(await store.counts.findCutSpan('p', [day(0), day(2), day(4), day(10)])).toBeUndefined();
      expect(await store.counts.findCutSpan('p', [day(3)])).toBeUndefined();
      expect(await store.counts.findCutSpan('p', [])).toBeUndefined();
    });

    test('retention keeps imported counts and lets older ones in', async () => {
      const { store, other } = await openTwo();
      await store.directory.changeProject(DEFAULT_ORGANIZATION_ID, 'p', { retentionDays: 10 }, by);
      await store.counts.record('p', [{ id: 'a', caller: 'slack', occurredAt: day(1) }]);
      const counts = [ofDay(1, 'slack', 5), ofDay(40, 'slack', 6)];
      await store.counts.importCounts('p', counts);
      await retainAll(store, day(42));
      expect(await store.counts.readQueries('p', undefined, 10)).toEqual([]);
      expect(await other.counts.importCounts('p', [...counts, ofDay(2, 'slack', 7)])).toEqual({
        recorded: 1,
        duplicates: 2,
      });
      await expect(other.counts.importCounts('p', [ofDay(1, 'slack', 6)])).rejects.toMatchObject({
        code: 'already_exists',
      });
      expect(await other.counts.count('p', ALL_TIME)).toMatchObject({ other: 1 + 5 + 6 + 7 });
      await expectSound(store);
    });

    test('deleting a project removes its imported counts, in steps', async () => {
      const { store, other } = await openTwo();
      await store.directory.createProject(projectOf('kept'), by);
      const counts = [0, 1, 2, 3].map((number) => ofDay(number, 'slack', 5));
      for (const id of ['p', 'kept']) await store.counts.importCounts(id, counts);
      await store.directory.deleteProject(DEFAULT_ORGANIZATION_ID, 'p', by);
      expect(await store.counts.readImportedCounts('p', undefined, 10)).toEqual([]);
      expect(await store.counts.findCutSpan('p', cutAt(day(0) + 1))).toBeUndefined();
      expect(await store.maintenance.verify()).toMatchObject({ importedQueries: 20, differencesTotal: 0 });
      expect(await other.maintenance.purgeDeleted(3)).toEqual({ removed: 3, done: false });
      await purgeAll(other);
      await store.directory.createProject(projectOf('p'), by);
      expect(await store.counts.importCounts('p', [ofDay(0, 'slack', 8)])).toEqual({
        recorded: 1,
        duplicates: 0,
      });
      expect(await store.counts.count('p', ALL_TIME)).toMatchObject({ total: 8 });
      expect(await store.counts.count('kept', ALL_TIME)).toMatchObject({ total: 20 });
      await expectSound(store);
    });
  });
}
