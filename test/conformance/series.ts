import { describe, expect, test } from 'vitest';
import { CALLER_STATS, CALLERS, SERIES } from '../../src/app/reading/reports.js';
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import type { Query } from '../../src/domain/queries/query.js';
import { YEAR_ZERO_MS } from '../../src/domain/time/date-time.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { UTC } from '../../src/domain/time/time-zone.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';
import { isDeep } from '../support/volume.js';

const turns = isDeep ? 20 : 8;

const nothing = { web: 0, api: 0, other: 0, total: 0 };
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export function describeSeries(kind: string, factory: PlaceFactory): void {
  async function openWith(...queries: readonly (readonly [caller: string, occurredAt: number])[]) {
    const store = await (await factory()).open();
    await store.directory.createProject(projectOf('p'), by);
    await store.directory.createProject(projectOf('quiet'), by);
    await store.counts.record(
      'p',
      queries.map(([caller, occurredAt], at): Query => ({ id: `${at}`, caller, occurredAt })),
    );
    return store;
  }

  describe(`${kind}: series`, () => {
    test('are zeros for an unknown project, no queries and empty ranges', async () => {
      const store = await openWith(['web', 5]);
      expect(await store.counts.countSeries('none', [0, 10, 20])).toEqual([nothing, nothing]);
      expect(await store.counts.countSeries('quiet', [0, 10, 20])).toEqual([nothing, nothing]);
      expect(await store.counts.countSeries('p', [5, 5, 5])).toEqual([nothing, nothing]);
      expect(await store.counts.countSeries('p', [5])).toEqual([]);
      expect(await store.counts.countSeries('p', [])).toEqual([]);
    });

    test('of one caller are zeros for an unknown caller, project and empty ranges', async () => {
      const store = await openWith(['slack', 5], ['web', 5]);
      for (const caller of ['slack', 'web', 'nobody']) {
        expect(await store.counts.count('none', ALL_TIME, caller)).toEqual(nothing);
        expect(await store.counts.count('quiet', ALL_TIME, caller)).toEqual(nothing);
        expect(await store.counts.count('p', { from: 5, to: 5 }, caller)).toEqual(nothing);
        expect(await store.counts.countSeries('p', [], caller)).toEqual([]);
        expect(await store.counts.countSeries('p', [5, 5], caller)).toEqual([nothing]);
        expect(await store.counts.countSeriesByCaller('none', [0, 10], [caller])).toEqual({
          all: [nothing],
          callers: [[0]],
        });
      }
      expect(await store.counts.count('p', ALL_TIME, 'nobody')).toEqual(nothing);
      expect(await store.counts.countSeriesByCaller('p', [0, 10], [])).toEqual({
        all: [{ web: 1, api: 0, other: 1, total: 2 }],
        callers: [],
      });
    });

    test('of callers with the names of missing values count only these', async () => {
      const store = await openWith(['undefined', 5], ['null', 5], ['null', 6], ['web', 5]);
      expect((await store.counts.countSeries('p', [0, 10]))[0]?.total).toBe(4);
      expect((await store.counts.countSeries('p', [0, 10], 'undefined'))[0]?.total).toBe(1);
      expect((await store.counts.countSeries('p', [0, 10], 'null'))[0]?.total).toBe(2);
      expect((await store.counts.count('p', ALL_TIME)).total).toBe(4);
      expect((await store.counts.count('p', ALL_TIME, 'undefined')).total).toBe(1);
      expect((await store.counts.countSeriesByCaller('p', [0, 10], ['null', 'undefined'])).callers).toEqual([
        [2],
        [1],
      ]);
    });

    test('of one caller count it in the field of its type, at any bound', async () => {
      const at = BUCKET_WIDTHS_MS.flatMap((width) => [-width, width]);
      const store = await openWith(
        ...at.flatMap(
          (time) =>
            [
              ['slack', time],
              ['zed', time],
              ['api', time],
            ] as const,
        ),
      );
      const bounds = at.toSorted((a, b) => a - b);
      const of = async (caller: string) =>
        (await store.counts.countSeries('p', bounds, caller)).map(({ total }) => total);
      expect(await of('slack')).toEqual(bounds.slice(1).map(() => 1));
      expect(await of('api')).toEqual(bounds.slice(1).map(() => 1));
      expect(await store.counts.count('p', ALL_TIME, 'slack')).toEqual({
        web: 0,
        api: 0,
        other: 12,
        total: 12,
      });
      expect(await store.counts.count('p', ALL_TIME, 'api')).toEqual({
        web: 0,
        api: 12,
        other: 0,
        total: 12,
      });
      expect(await store.counts.count('p', ALL_TIME, 'web')).toEqual(nothing);
    });

    test('count a query at a bound in the range that starts there', async () => {
      const store = await (await factory()).open();
      for (const width of BUCKET_WIDTHS_MS) {
        const projectId = `width-${width}`;
        await store.directory.createProject(projectOf(projectId), by);
        await store.counts.record(projectId, [
          { id: 'a', caller: 'web', occurredAt: -width },
          { id: 'b', caller: 'api', occurredAt: 0 },
          { id: 'c', caller: 'slack', occurredAt: width },
          { id: 'd', caller: 'web', occurredAt: width },
        ]);
        const counts = await store.counts.countSeries(projectId, [-width, 0, width, 2 * width]);
        expect(counts).toEqual([
          { web: 1, api: 0, other: 0, total: 1 },
          { web: 0, api: 1, other: 0, total: 1 },
          { web: 1, api: 0, other: 1, total: 2 },
        ]);
      }
    });

    test('equal the counts of each range', async () => {
      const queries = Array.from(
        { length: 400 },
        (_, at) =>
          [['web', 'api', 'slack', 'zed'][at % 4] ?? '', ((at * 7_919) % 400) * 65_432_101 - 9e9] as const,
      );
      const store = await openWith(...queries);
      const days = Array.from({ length: 300 }, (_, at) => -9e9 + at * dayMs + 7_200_000);
      for (const bounds of [
        days,
        days.filter((_, at) => at % 31 === 3),
        [ALL_TIME.from, ...days, ALL_TIME.to],
      ]) {
        const ranges = bounds.slice(1).map((to, at) => ({ from: bounds[at] ?? to, to }));
        expect(await store.counts.countSeries('p', bounds)).toEqual(
          await Promise.all(ranges.map((range) => store.counts.count('p', range))),
        );
      }
    });

    test('of one caller, of another and of all are different answers, asked in any order', async () => {
      const store = await openWith(['a', 1], ['b', 2], ['b', 3], ['web', 4]);
      // Above some number of bounds, answers are kept.
      const bounds = Array.from({ length: 400 }, (_, at) => at);
      const totalOf = async (caller?: string) =>
        (await store.counts.countSeries('p', bounds, caller)).reduce((sum, { total }) => sum + total, 0);
      const byCaller = async (...callers: string[]) => {
        const series = await store.counts.countSeriesByCaller('p', bounds, callers);
        return series.callers.map((counts) => counts.reduce((sum, count) => sum + count, 0));
      };
      for (let round = 0; round < 2; round++) {
        for (const [caller, total] of [
          ['a', 1],
          ['b', 2],
          [undefined, 4],
          ['web', 1],
        ] as const)
          expect([caller, await totalOf(caller)]).toEqual([caller, total]);
        expect(await byCaller('a', 'b')).toEqual([1, 2]);
        expect(await byCaller('b', 'web')).toEqual([2, 1]);
        expect(await byCaller('b')).toEqual([2]);
      }
    });

    test('see each recording completely or not at all, like all counts', async () => {
      const { open } = await factory();
      const [writer, reader] = [await open(), await open()];
      await writer.directory.createProject(projectOf('p'), by);
      const batchSize = 300;
      let done = false;
      const recording = (async () => {
        for (let turn = 0; turn < turns; turn++) {
          const batch = Array.from({ length: batchSize }, (_, at) => ({
            id: `${turn} ${at}`,
            caller: ['web', 'slack', 'zed'][at % 3] ?? '',
            occurredAt: at * 86_399_999,
          }));
          await writer.counts.record('p', batch);
        }
        done = true;
      })();
      const bounds = Array.from({ length: batchSize + 2 }, (_, at) => at * dayMs - 3_600_000);
      const seen = new Set<number>();
      while (!done) {
        const counts = await reader.counts.countSeries('p', bounds);
        seen.add(counts.reduce((sum, { total }) => sum + total, 0) % batchSize);
        seen.add((await reader.counts.countCallers('p', ALL_TIME)).total % batchSize);
        seen.add(((await reader.counts.count('p', ALL_TIME, 'slack')).total * 3) % batchSize);
        const { all, callers } = await reader.counts.countSeriesByCaller('p', bounds, [
          'web',
          'slack',
          'zed',
        ]);
        expect(callers.flat().reduce((sum, number) => sum + number, 0)).toBe(
          all.reduce((sum, { total }) => sum + total, 0),
        );
        seen.add((await reader.counts.count('p', { from: 0, to: batchSize * dayMs })).total % batchSize);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await recording;
      expect([...seen]).toEqual([0]);
    });

    test('and the counts that they are compared with see the same recordings', async () => {
      const { open } = await factory();
      const [writer, reader] = [await open(), await open()];
      await writer.directory.createProject(projectOf('p'), by);
      let done = false;
      const recording = (async () => {
        for (let turn = 0; turn < 5 * turns; turn++) {
          const batch = Array.from({ length: 60 }, (_, at) => ({
            id: `${turn} ${at}`,
            caller: ['web', 'slack', 'zed'][at % 3] ?? '',
            occurredAt: (at - 30) * dayMs,
          }));
          await writer.counts.record('p', batch);
        }
        done = true;
      })();
      const range = { from: 0, to: 30 * dayMs };
      const compared = { from: -30 * dayMs, to: 0, shift: { months: 0, days: 30, ms: 0 } };
      const question = { range, compared, timeZone: UTC, weekStart: 'monday' } as const;
      const series = { ...question, caller: undefined, interval: 'day' } as const;
      const seen = new Set<number>();
      while (!done) {
        const [totals, callers, ...all] = await Promise.all([
          CALLER_STATS.read(reader, 'p', { ...question, caller: undefined }),
          CALLERS.read(reader, 'p', { ...question, caller: undefined }),
          SERIES.read(reader, 'p', { ...series, byCaller: false }),
          SERIES.read(reader, 'p', { ...series, byCaller: true }),
        ]);
        for (const { total, previous } of [totals, callers]) seen.add(total - (previous?.total ?? 0));
        for (const { buckets, previous } of all) {
          const sums = buckets.map((bucket) => bucket.previous?.total ?? 0);
          const sum = buckets.reduce((total, bucket) => total + bucket.total, 0);
          seen.add(sum - (previous?.total ?? 0)).add(sum - sums.reduce((total, one) => total + one, 0));
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      await recording;
      expect([...seen]).toEqual([0]);
    });

    test('and all that is read together see no recording between two reads', async () => {
      const { open } = await factory();
      const [writer, reader] = [await open(), await open()];
      await writer.directory.createProject(projectOf('p'), by);
      let recorded = 0;
      const record = () =>
        writer.counts.record('p', [{ id: `${recorded++}`, caller: 'slack', occurredAt: recorded * dayMs }]);
      await record();
      const one = { web: 0, api: 0, other: 1, total: 1 };
      const bounds = [0, 10 * dayMs];
      await reader.counts.readTogether('p', async (counts) => {
        expect(await counts.findExtent('p')).toEqual({ from: dayMs, to: dayMs + 1 });
        await record();
        expect(await counts.countSeries('p', bounds)).toEqual([one]);
        await record();
        expect(await counts.countSeries('p', bounds, 'slack')).toEqual([one]);
        await record();
        expect(await counts.countCallers('p', ALL_TIME)).toMatchObject({ total: 1 });
        await record();
        expect(await counts.countSeriesByCaller('p', bounds, ['slack'])).toEqual({
          all: [one],
          callers: [[1]],
        });
        expect(await counts.findExtent('p')).toEqual({ from: dayMs, to: dayMs + 1 });
      });
      expect((await reader.counts.count('p', ALL_TIME)).total).toBe(recorded);
    });

    test('and the counts that they are compared with may overlap', async () => {
      const store = await openWith(['web', 5], ['slack', 15], ['api', 25], ['slack', 35]);
      const [range, compared] = [
        { from: 10, to: 40 },
        { from: 0, to: 30, shift: { months: 0, days: 0, ms: 10 } },
      ];
      const asked = { range, compared, timeZone: UTC, weekStart: 'monday', caller: undefined } as const;
      const bounds = { dateFrom: '1970-01-01T00:00:00.000+00:00', dateTo: '1970-01-01T00:00:00.030+00:00' };
      const previous = { ...(await store.counts.count('p', compared)), ...bounds };
      expect(previous.total).toBe(3);
      expect(await CALLER_STATS.read(store, 'p', asked)).toEqual({
        ...(await store.counts.count('p', range)),
        previous,
      });
      expect(await CALLERS.read(store, 'p', asked)).toEqual({
        ...(await store.counts.countCallers('p', range)),
        previous,
      });
      for (const byCaller of [false, true]) {
        const plain = { ...asked, interval: 'day', byCaller, compared: undefined } as const;
        const { buckets, ...more } = await SERIES.read(store, 'p', plain);
        const { dateFrom: start, dateTo: end, ...counts } = previous;
        expect(await SERIES.read(store, 'p', { ...plain, compared })).toEqual({
          ...more,
          buckets: buckets.map((bucket) => ({ ...bucket, previous: { start, end, ...counts } })),
          previous,
        });
      }
    });
  });

  describe(`${kind}: callers`, () => {
    test('are empty for an unknown project, no queries and an empty range', async () => {
      const store = await openWith(['slack', 5]);
      const nobody = { total: 0, callers: [] };
      expect(await store.counts.countCallers('none', ALL_TIME)).toEqual(nobody);
      expect(await store.counts.countCallers('quiet', ALL_TIME)).toEqual(nobody);
      expect(await store.counts.countCallers('p', { from: 5, to: 5 })).toEqual(nobody);
      expect(await store.counts.countCallers('p', { from: 6, to: ALL_TIME.to })).toEqual(nobody);
    });

    test('are sorted by number of queries, then by name, with their types', async () => {
      const store = await openWith(
        ['zed', 1],
        ['web', 2],
        ['a-b', 3],
        ['a.b', 4],
        ['web', -5],
        ['null', 6],
        ['other', 7],
      );
      const other = (caller: string) => ({ caller, type: 'other', count: 1 });
      expect(await store.counts.countCallers('p', ALL_TIME)).toEqual({
        total: 7,
        callers: [
          { caller: 'web', type: 'web', count: 2 },
          ...['a-b', 'a.b', 'null', 'other', 'zed'].map(other),
        ],
      });
    });

    test('include the start of a range and exclude its end, at every bucket width', async () => {
      const edges = BUCKET_WIDTHS_MS.flatMap((width) => [-width, width]);
      const store = await openWith(...edges.map((edge, at) => [`caller-${at}`, edge] as const), ['api', 0]);
      for (const [at, edge] of edges.entries()) {
        const { callers } = await store.counts.countCallers('p', { from: edge, to: edge + 1 });
        expect(callers).toEqual([{ caller: `caller-${at}`, type: 'other', count: 1 }]);
        const { callers: all } = await store.counts.countCallers('p', {
          from: -Math.abs(edge),
          to: Math.abs(edge),
        });
        const inside = edges.filter((one) => one >= -Math.abs(edge) && one < Math.abs(edge));
        expect(all).toHaveLength(inside.length + 1);
      }
    });

    test('of a range come with the types of the range that it is compared with', async () => {
      const store = await openWith(['a', 1], ['web', 1], ['a', 11], ['b', 12], ['b', 12], ['api', 13]);
      const compared = { from: 10, to: 20 };
      expect(await store.counts.countCallers('p', { from: 0, to: 10 }, compared)).toEqual({
        total: 2,
        callers: [
          { caller: 'a', type: 'other', count: 1 },
          { caller: 'web', type: 'web', count: 1 },
        ],
        inCompared: { web: 0, api: 1, other: 3, total: 4 },
      });
    });

    test('ignore duplicates with another caller', async () => {
      const store = await openWith(['slack', 5]);
      await store.counts.record('p', [{ id: '0', caller: 'zed', occurredAt: 5 }]);
      expect((await store.counts.countCallers('p', ALL_TIME)).callers).toEqual([
        { caller: 'slack', type: 'other', count: 1 },
      ]);
    });
  });

  describe(`${kind}: the extent of a project`, () => {
    test('is undefined without queries', async () => {
      const store = await openWith(['web', 5]);
      expect(await store.counts.findExtent('none')).toBeUndefined();
      expect(await store.counts.findExtent('quiet')).toBeUndefined();
    });

    test('begins with the first query, ends just after the last, and grows', async () => {
      const store = await openWith(['web', 5]);
      expect(await store.counts.findExtent('p')).toEqual({ from: 5, to: 6 });
      await store.counts.record('p', [{ id: 'early', caller: 'slack', occurredAt: YEAR_ZERO_MS }]);
      expect(await store.counts.findExtent('p')).toEqual({ from: YEAR_ZERO_MS, to: 6 });
      await store.counts.record('p', [{ id: 'late', caller: 'api', occurredAt: latestMs }]);
      expect(await store.counts.findExtent('p')).toEqual({ from: YEAR_ZERO_MS, to: latestMs + 1 });
    });
  });
}
