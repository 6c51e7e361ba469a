/** The numbers of the dashboard: refusals, then what they have in common with the public API, then examples. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Numbers } from '../../../src/app/reading/numbers.js';
import type { WeekHours } from '../../../src/app/reading/week-hours.js';
import { COMPARISONS, INTERVALS, PERIODS } from '../../../src/domain/calendar/names.js';
import type { CallerCounts, CallerStats } from '../../../src/domain/counting/counts.js';
import type { Series } from '../../../src/domain/counting/series.js';
import { hourMs } from '../../../src/domain/time/duration.js';
import { type Browser, signedIn } from '../../support/http/dashboard.js';
import { CALLERS, detailsOf, SERIES, STATS, sharedService } from '../../support/http/http.js';
import { by, projectOf } from '../../support/storage/store.js';

const PATH = '/api/organizations/default/projects/docs/numbers';

const service = sharedService();
let viewer: Browser;

const began = Date.parse('2024-01-15T10:30:00Z');
const now = '2026-03-31T10:30:00Z';

beforeAll(async () => {
  viewer = await signedIn(service(), 'ada@example.org', 'viewer');
  const callers = ['web', 'api', 'slack', 'sdk-python', 'web'];
  const queries = Array.from({ length: 2_000 }, (_, at) => ({
    id: `query ${at}`,
    caller: callers[(at * 7) % callers.length],
    occurredAt: new Date(began + at * 9.7 * hourMs).toISOString(),
  }));
  expect((await service().record(queries)).status).toBe(200);
  service().clock.nowMs = Date.parse(now);
});

const numbersOf = (parameters: Record<string, string>) =>
  viewer.ask<Numbers>({ path: `${PATH}?${new URLSearchParams(parameters)}` });

const publicAnswer = async <T>(path: string, parameters: Record<string, string>): Promise<T> =>
  JSON.parse((await service().send({ path: `${path}?${new URLSearchParams(parameters)}` })).text) as T;

test('every problem is named', async () => {
  const query =
    'period=x&timeZone=Mars&weekStart=friday&compare=before&caller=Slack&interval=decade&by=caller';
  expect(detailsOf(await viewer.send({ path: `${PATH}?${query}` }))).toEqual([
    expect.stringMatching(/^"by": is not a parameter here/),
    expect.stringMatching(/^period: /),
    expect.stringMatching(/^timeZone: /),
    expect.stringMatching(/^weekStart: is not one of monday, sunday, saturday/),
    expect.stringMatching(/^compare: /),
    expect.stringMatching(/^caller: /),
    expect.stringMatching(/^interval: /),
  ]);
});

describe('agree with the public API', () => {
  const zones = ['UTC', 'America/New_York', 'Asia/Kathmandu'];
  const cases = PERIODS.flatMap((period, at) =>
    COMPARISONS.map((compare) => ({
      period,
      compare,
      timeZone: zones[at % zones.length] ?? '',
      weekStart: ['monday', 'sunday', 'saturday'][at % 3] ?? '',
    })),
  );

  test.each(cases)('%j', async ({ compare, ...range }) => {
    const numbers = await numbersOf({ ...range, compare });
    // All time is compared with nothing.
    const compared = range.period === 'all' ? {} : { compare };
    const { previous = null, ...counts } = await publicAnswer<CallerStats>(STATS, { ...range, ...compared });
    const { callers, total } = await publicAnswer<CallerCounts>(CALLERS, range);
    const { interval } = numbers;
    const series = await publicAnswer<Series>(SERIES, { ...range, ...compared, interval });
    expect({
      ...numbers,
      buckets: numbers.buckets.map(({ incomplete: _, ...bucket }) => bucket),
    }).toMatchObject({
      counts,
      previous,
      callers,
      callersTotal: total,
      othersTotal: counts.other,
      buckets: series.buckets,
      recordingBegan: numbers.recordingBegan,
    });
    expect(Date.parse(numbers.recordingBegan ?? '')).toBe(began);
  });

  test('with one caller', async () => {
    const range = { period: 'this-year', timeZone: 'Europe/Berlin' };
    const numbers = await numbersOf({ ...range, caller: 'slack', interval: 'month' });
    const { previous, ...counts } = await publicAnswer<CallerStats>(STATS, {
      ...range,
      caller: 'slack',
      compare: 'previous',
    });
    expect([numbers.counts, numbers.previous]).toEqual([counts, previous]);
    expect(numbers.callersTotal).toBeGreaterThan(counts.total);
  });
});

describe('the interval', () => {
  test.each([
    [{ period: 'today' }, 'hour'],
    [{ period: '30-days-to-date' }, 'day'],
    [{ period: 'last-90-days' }, 'day'],
    [{ dateFrom: '2025-01-01', dateTo: '2025-09-01' }, 'week'],
    [{ period: 'last-12-months' }, 'month'],
    [{ period: 'all' }, 'month'],
    // Those that make too many bars become wider.
    [{ period: 'last-30-days', interval: 'hour' }, 'hour'],
    [{ period: 'last-90-days', interval: 'hour' }, 'day'],
    [{ period: 'all', interval: 'hour' }, 'week'],
    [{ dateFrom: '0001-01-01', dateTo: '9999-01-01', interval: 'day' }, 'year'],
  ])('of %j is %s', async (parameters, expected) => {
    const { interval, intervals, buckets } = await numbersOf(parameters);
    expect(interval).toBe(expected);
    if (buckets.length <= 750) expect(intervals).toContain(interval);
    expect(INTERVALS.filter((one) => intervals.includes(one))).toEqual(intervals);
  });
});

describe('buckets', () => {
  test('are marked if they are running, or if the range cuts them', async () => {
    const marks = async (parameters: Record<string, string>) =>
      (await numbersOf(parameters)).buckets.map(({ incomplete = '-' }) => incomplete).join(' ');
    expect(await marks({ period: 'today', interval: 'day' })).toBe('running');
    expect(await marks({ period: 'this-quarter', interval: 'month' })).toBe('- - running');
    expect(await marks({ period: 'last-7-days', interval: 'week' })).toBe('partial partial');
    expect(await marks({ period: 'last-7-days', interval: 'week', weekStart: 'saturday' })).toBe(
      'partial partial',
    );
    expect(await marks({ period: 'last-week', interval: 'week', weekStart: 'sunday' })).toBe('-');
    expect(await marks({ dateFrom: '2026-03-29', dateTo: '2026-03-30', timeZone: 'Europe/Berlin' })).toMatch(
      /^[- ]+$/,
    );
  });
});

test.each([{}, { caller: 'slack' }])(
  'agree with each other while queries are recorded: %j',
  async (caller) => {
    const { store, watched } = service();
    const path = '/api/organizations/default/projects/growing/numbers';
    const record = (caller: string) =>
      store.counts.record('growing', [{ id: `${caller} ${late++}`, caller, occurredAt: Date.parse(now) }]);
    let late = 0;
    await store.directory.createProject(projectOf('growing'), by).catch(() => {});
    await record('slack');
    watched.before = async (method) => {
      if (method === 'countCallers') await record('slack');
    };
    const parameters = new URLSearchParams({ period: 'today', ...caller });
    const numbers = await viewer.ask<Numbers>({ path: `${path}?${parameters}` });
    watched.before = async () => {};
    expect(numbers.callersTotal).toBe(numbers.counts.total);
  },
);

test('weeks begin on the day of the project, unless a request says otherwise', async () => {
  const { store } = service();
  const firstOf = async (query: string) =>
    (await viewer.ask<Numbers>({ path: `${PATH}?period=last-week${query}` })).range.dateFrom?.slice(0, 10);
  expect(await firstOf('')).toBe('2026-03-23');
  expect(await firstOf('&weekStart=sunday')).toBe('2026-03-22');
  await store.directory.changeProject('default', 'docs', { weekStart: 'saturday' }, by);
  expect(await firstOf('')).toBe('2026-03-21');
  expect(await firstOf('&weekStart=monday')).toBe('2026-03-23');
  const { buckets } = await publicAnswer<Series>(SERIES, { period: 'last-week', interval: 'week' });
  expect(buckets.map(({ start }) => start.slice(0, 10))).toEqual(['2026-03-21']);
  await store.directory.changeProject('default', 'docs', { weekStart: null }, by);
});

test('queries of doubtful times are in the counts of all time, but stretch neither its chart nor its beginning', async () => {
  const { store } = service();
  await store.directory.createProject(projectOf('doubtful'), by);
  const times = [0, Date.parse('0001-01-01'), Date.parse('2026-03-30T10:15:00Z'), Date.parse(now)];
  const queries = times.map((occurredAt, at) => ({
    id: `d${at}`,
    caller: at === 0 ? 'slack' : 'web',
    occurredAt,
  }));
  await store.counts.record('doubtful', queries);
  const path = '/api/organizations/default/projects/doubtful/numbers';
  const ask = (query: string) => viewer.ask<Numbers>({ path: `${path}?${query}` });
  const numbers = await ask('period=all');
  expect(numbers).toMatchObject({
    interval: 'hour',
    recordingBegan: '2026-03-30T10:15:00.000+00:00',
    doubtful: 2,
    counts: { web: 3, other: 1, total: 4 },
    callersTotal: 4,
    othersTotal: 1,
  });
  expect(numbers.buckets[0]).toMatchObject({ start: '2026-03-30T10:00:00.000+00:00', total: 1 });
  expect(numbers.buckets).toHaveLength(25);
  expect(await ask('period=all&caller=slack')).toMatchObject({ doubtful: 1, counts: { other: 1, total: 1 } });
  expect(await ask('dateTo=1999-01-01')).toMatchObject({ doubtful: 2, counts: { total: 2 }, buckets: [] });
  expect(await ask('dateFrom=1960-01-01')).not.toHaveProperty('doubtful');
});

test('a project without queries has zeros', async () => {
  const path = '/api/organizations/default/projects/empty/numbers';
  await service().store.directory.createProject(projectOf('empty'), by);
  expect(await viewer.ask<Numbers>({ path: `${path}?period=all` })).toEqual({
    range: { dateFrom: null, dateTo: null },
    isOpen: true,
    interval: 'day',
    intervals: INTERVALS,
    counts: { web: 0, api: 0, other: 0, total: 0 },
    previous: null,
    recordingBegan: null,
    buckets: [],
    callers: [],
    callersTotal: 0,
    othersTotal: 0,
  });
  const { buckets, range, isOpen } = await viewer.ask<Numbers>({ path: `${path}?period=today` });
  expect(buckets).toHaveLength(24);
  expect([range, isOpen]).toEqual([
    { dateFrom: '2026-03-31T00:00:00.000+00:00', dateTo: '2026-04-01T00:00:00.000+00:00' },
    true,
  ]);
});

describe('the hours of the week', () => {
  const WEEK = PATH.replace('numbers', 'week-hours');
  const weekOf = (parameters: Record<string, string>) =>
    viewer.send({ path: `${WEEK}?${new URLSearchParams(parameters)}` });

  test('are refused with a comparison or an interval, and for more hours than a series has', async () => {
    expect(detailsOf(await weekOf({ compare: 'previous', interval: 'day', period: 'x' }))).toEqual([
      expect.stringMatching(/^"compare": is not a parameter here/),
      expect.stringMatching(/^"interval": is not a parameter here/),
      expect.stringMatching(/^period: /),
    ]);
    const long = await weekOf({ dateFrom: '2024-01-01', dateTo: '2026-01-01' });
    expect([long.status, detailsOf(long)]).toEqual([
      400,
      [expect.stringMatching(/^interval: hour makes more than 10000 buckets/)],
    ]);
  });

  test('are those of the clock, for one caller or all, and add up to the period', async () => {
    for (const caller of [{}, { caller: 'slack' }]) {
      const parameters = {
        period: 'last-12-months',
        timeZone: 'Europe/Berlin',
        weekStart: 'sunday',
        ...caller,
      };
      const { days } = JSON.parse((await weekOf(parameters)).text) as WeekHours;
      const { buckets } = await publicAnswer<Series>(SERIES, { ...parameters, interval: 'hour' });
      const sums = new Map<string, number>();
      for (const { start, total } of buckets) {
        const day = new Date(`${start.slice(0, 10)}T00:00Z`).getUTCDay();
        const cell = `${day} ${Number(start.slice(11, 13))}`;
        sums.set(cell, (sums.get(cell) ?? 0) + total);
      }
      const naive = days.map((_, day) =>
        Array.from({ length: 24 }, (_hour, hour) => sums.get(`${day} ${hour}`) ?? 0),
      );
      expect(days[0]?.day).toBe('sunday');
      expect(days.map(({ hours }) => hours.map(({ total }) => total))).toEqual(naive);
      // One hour of a Sunday in March was skipped, and one in October came twice.
      expect(days[0]?.hours.map(({ times }) => times).slice(0, 4)).toEqual([52, 52, 52, 52]);
    }
    expect((await weekOf({ dateFrom: '2030-01-01', dateTo: '2030-01-02' })).text).toContain('"times":0');
  });
});
