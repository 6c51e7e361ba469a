import { expect, test } from 'vitest';
import type { Counts } from '../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { parseSeriesRequest } from '../../src/domain/counting/report-request.js';
import type { Query } from '../../src/domain/queries/query.js';
import { YEAR_10000_MS, YEAR_ZERO_MS } from '../../src/domain/time/date-time.js';
import { dayMs } from '../../src/domain/time/duration.js';
import type { CountReads } from '../../src/storage/ports/counts.js';
import { readSeries } from '../../src/storage/series.js';
import { recount } from '../support/storage/ledger.js';

/** Two days in the middle of 2026, from midnight to midnight. */
const [first, second] = ['2026-06-10', '2026-06-11'].map((day) => Date.parse(day)) as [number, number];

const queryAt = (occurredAt: number): Query => ({ id: `at ${occurredAt}`, caller: 'web', occurredAt });

const notAsked = (): never => {
  throw new Error('only series by caller ask for this');
};

/** What has queries of these times. */
function storeOf(times: readonly number[]) {
  const queries = times.map(queryAt);
  const asked = { extents: 0, series: 0 };
  const store = {
    asked,
    async findExtent(): Promise<DateRange | undefined> {
      asked.extents++;
      const all = queries.map(({ occurredAt }) => occurredAt);
      return all.length === 0 ? undefined : { from: Math.min(...all), to: Math.max(...all) + 1 };
    },
    async countSeries(_projectId: string, bounds: readonly number[]): Promise<readonly Counts[]> {
      asked.series++;
      return bounds.slice(1).map((to, at) => recount(queries, { from: bounds[at] ?? to, to }));
    },
    countSeriesByCaller: notAsked,
    countCallers: notAsked,
    readTogether: <T>(_projectId: string, read: (counts: CountReads) => Promise<T>) => read(store),
  };
  return store;
}

const day = parseSeriesRequest({ interval: 'day' }, { nowMs: 0 });

/** Starts and totals of the buckets of a series by days in UTC. */
async function daysOf(store: ReturnType<typeof storeOf>, range: Partial<DateRange> = {}) {
  if (!day.ok) throw new Error('it can be read');
  const { buckets } = await readSeries({ counts: store }, 'docs', {
    ...day.value,
    range: { ...ALL_TIME, ...range },
  });
  return buckets.map(({ start, total }) => [start.slice(0, 10), total]);
}

test('rejects too many buckets and says what to do', async () => {
  const range = { from: first, to: first + 10_001 * dayMs };
  await expect(daysOf(storeOf([first]), range)).rejects.toMatchObject({
    code: 'invalid',
    details: [expect.stringMatching(/^interval: day makes more than 10000 buckets.*wider/)],
  });
});

test('returns no buckets without queries if a bound is missing', async () => {
  const store = storeOf([]);
  for (const range of [{}, { from: first }, { to: second }]) expect(await daysOf(store, range)).toEqual([]);
  expect(store.asked).toEqual({ extents: 3, series: 0 });
});

test('returns empty buckets without reading the extent if both bounds are given', async () => {
  const store = storeOf([]);
  expect(await daysOf(store, { from: first, to: second })).toEqual([['2026-06-10', 0]]);
  expect(store.asked).toEqual({ extents: 0, series: 1 });
});

test('widens a missing bound to the whole bucket', async () => {
  const store = storeOf([first, first + 1, second - 1]);
  expect(await daysOf(store)).toEqual([['2026-06-10', 3]]);
  expect(await daysOf(storeOf([first - 1, second]))).toEqual([
    ['2026-06-09', 1],
    ['2026-06-10', 0],
    ['2026-06-11', 1],
  ]);
});

test('keeps a given bound, whatever lies beyond', async () => {
  const store = storeOf([first - 5 * dayMs, first, second + 5 * dayMs]);
  expect(await daysOf(store, { from: first - dayMs, to: second })).toEqual([
    ['2026-06-09', 0],
    ['2026-06-10', 1],
  ]);
  expect(await daysOf(store, { to: first - 4 * dayMs })).toEqual([['2026-06-05', 1]]);
  expect(await daysOf(store, { from: second + 5 * dayMs })).toEqual([['2026-06-16', 1]]);
  expect((await daysOf(store, { from: first })).at(0)).toEqual(['2026-06-10', 1]);
  expect((await daysOf(store, { to: second })).at(-1)).toEqual(['2026-06-10', 1]);
});

test('limits buckets to times that can be formatted', async () => {
  for (const time of [YEAR_ZERO_MS, YEAR_10000_MS - 1]) {
    const question = parseSeriesRequest({ interval: 'week' }, { nowMs: 0 });
    if (!question.ok) throw new Error('it can be read');
    const { buckets } = await readSeries({ counts: storeOf([time]) }, 'docs', question.value);
    expect(buckets).toMatchObject([{ total: 1 }]);
    if (time === YEAR_ZERO_MS) expect(buckets[0]?.start).toBe('0000-01-01T00:00:00.000+00:00');
    // The year 10000 with an offset in which it is not there yet.
    else expect(buckets[0]?.end).toBe('9999-12-31T00:01:00.000-23:59');
  }
});

test('makes a long compared series in turns, with other work in between', async () => {
  const asked = { interval: 'hour', compare: 'previous', timeZone: 'Europe/Berlin' };
  const question = parseSeriesRequest({ ...asked, from: '2025-01-01', to: '2026-01-01' }, { nowMs: second });
  if (!question.ok) throw new Error('it can be read');
  const countSeries = async (_projectId: string, bounds: readonly number[]) =>
    bounds.slice(1).map(() => ({ web: 1, api: 0, other: 0, total: 1 }));
  let turns = 0;
  let isOver = false;
  const other = (): void => {
    turns++;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  const { buckets } = await readSeries({ counts: { ...storeOf([]), countSeries } }, 'docs', question.value);
  isOver = true;
  expect(buckets).toHaveLength(365 * 24);
  // 500 in a turn: when their counterparts are found, when these get their counts, and when the buckets are made.
  expect(turns).toBeGreaterThan((3 * buckets.length) / 500);
});
