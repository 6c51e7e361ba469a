import { describe, expect, test } from 'vitest';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { by, type PlaceFactory, projectOf, purgeAll } from '../support/storage/store.js';

const query = (id: string, occurredAt: number) => ({ id, caller: 'web', occurredAt });
const count = (start: number, source = 'old') => ({
  source,
  caller: 'web',
  start,
  end: start + dayMs,
  count: 2,
});
const file = (day: number, name = 'a.csv') => ({ day, sender: `import:${name}` });

export function describeImportRanges(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    for (const id of ['p', 'q']) await store.directory.createProject(projectOf(id), by);
    return { store, other };
  };

  describe(`${kind}: where imports lie`, () => {
    test('nowhere in an unknown project, for what keys sent, and for what is a duplicate', async () => {
      const { store } = await openTwo();
      await store.counts.record('p', [query('a', 0)], { day: 20_000, sender: 'key:a' });
      await store.counts.record('p', [query('a', 0)], file(20_000));
      await store.counts.record('p', [], file(20_000));
      await store.counts.importCounts('p', [count(0)], { day: 20_000, dryRun: true });
      expect(await store.counts.listImports('p', 10)).toEqual([]);
      expect(await store.counts.listImports('none', 10)).toEqual([]);
    });

    test('from their first to their last query, over batches and handles, newest first', async () => {
      const { store, other } = await openTwo();
      await store.counts.record('p', [query('a', 7), query('b', 3)], file(20_000));
      await other.counts.record('p', [query('b', -99), query('c', 5 * dayMs)], file(20_000));
      await other.counts.record('p', [query('d', 1)], file(20_001));
      await store.counts.record('p', [query('e', 2)], file(20_001, 'b.csv'));
      await store.counts.record('q', [query('a', 4)], file(20_000));
      await other.counts.importCounts('p', [count(0), count(dayMs)], { day: 20_002 });
      await other.counts.importCounts('p', [count(0)], { day: 20_003 });
      const all = [
        { day: 20_002, sender: 'counts:old', first: 0, last: 2 * dayMs - 1 },
        { ...file(20_001), first: 1, last: 1 },
        { ...file(20_001, 'b.csv'), first: 2, last: 2 },
        { ...file(20_000), first: -99, last: 5 * dayMs },
      ];
      for (const limit of [10, 2])
        expect(await store.counts.listImports('p', limit)).toEqual(all.slice(0, limit));
      expect(await other.counts.listImports('q', 10)).toEqual([{ ...file(20_000), first: 4, last: 4 }]);
    });

    test('not where one brought what the day before left', async () => {
      const { store } = await openTwo();
      await store.counts.record('p', [query('a', 19_999 * dayMs), query('b', 20_000 * dayMs)], file(20_000));
      expect(await store.counts.listImports('p', 10)).toEqual([]);
    });

    test('nowhere once the project is deleted, also in the next one of its name', async () => {
      const { store } = await openTwo();
      await store.counts.record('p', [query('a', 7)], file(20_000));
      await store.directory.deleteProject(DEFAULT_ORGANIZATION_ID, 'p', by);
      expect(await store.counts.listImports('p', 10)).toEqual([]);
      await purgeAll(store);
      await store.directory.createProject(projectOf('p'), by);
      expect(await store.counts.listImports('p', 10)).toEqual([]);
    });
  });
}
