import { describe, expect, test } from 'vitest';
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { YEAR_ZERO_MS } from '../../src/domain/time/date-time.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';

const nothing = { web: 0, api: 0, other: 0, total: 0 };

export function describeCounting(kind: string, factory: PlaceFactory): void {
  async function openWith(...times: number[]) {
    const store = await (await factory()).open();
    await store.directory.createProject(projectOf('p'), by);
    await store.counts.record(
      'p',
      times.map((occurredAt, at) => ({ id: `query ${at}`, caller: 'web', occurredAt })),
    );
    return store;
  }

  describe(`${kind}: counting`, () => {
    test('returns zeros for an unknown project, a project without queries and an empty range', async () => {
      const store = await openWith(5);
      await store.directory.createProject(projectOf('quiet'), by);
      expect(await store.counts.count('none', ALL_TIME)).toEqual(nothing);
      expect(await store.counts.count('quiet', ALL_TIME)).toEqual(nothing);
      expect(await store.counts.count('p', { from: 5, to: 5 })).toEqual(nothing);
    });

    test('includes the start of a range and excludes its end', async () => {
      const edges = BUCKET_WIDTHS_MS.flatMap((width) => [-width, width]);
      const store = await openWith(...edges);
      for (const edge of edges) {
        expect((await store.counts.count('p', { from: edge, to: edge + 1 })).total).toBe(
          edges.filter((one) => one === edge).length,
        );
        expect((await store.counts.count('p', { from: edge - 1, to: edge })).total).toBe(
          edges.filter((one) => one === edge - 1).length,
        );
      }
    });

    test('counts queries at the earliest and latest possible times', async () => {
      const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
      const store = await openWith(YEAR_ZERO_MS, -1, 0, latest);
      expect((await store.counts.count('p', ALL_TIME)).total).toBe(4);
      expect((await store.counts.count('p', { from: ALL_TIME.from, to: YEAR_ZERO_MS })).total).toBe(0);
      expect((await store.counts.count('p', { from: YEAR_ZERO_MS, to: 0 })).total).toBe(2);
      expect((await store.counts.count('p', { from: latest, to: ALL_TIME.to })).total).toBe(1);
    });

    test('counts on every handle what another has just recorded', async () => {
      const { open } = await factory();
      const [one, other] = [await open(), await open()];
      await one.directory.createProject(projectOf('p'), by);
      for (let recorded = 1; recorded <= 20; recorded++) {
        await one.counts.record('p', [{ id: `query ${recorded}`, caller: 'api', occurredAt: recorded }]);
        expect(await other.counts.count('p', ALL_TIME)).toEqual({
          web: 0,
          api: recorded,
          other: 0,
          total: recorded,
        });
      }
    });
  });
}
