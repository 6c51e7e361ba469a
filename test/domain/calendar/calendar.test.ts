/**
 * Every period, comparison, interval and week start, in a dozen zones, at moments around midnight, month ends, leap days and clock
 * changes, against a calendar that shares no code with the domain.
 */
import { describe, expect, test } from 'vitest';
import { findComparedBucket } from '../../../src/domain/calendar/comparison.js';
import { findBucketEdges } from '../../../src/domain/calendar/interval.js';
import { COMPARISONS, INTERVALS, type Interval, PERIODS } from '../../../src/domain/calendar/names.js';
import type { DateRange } from '../../../src/domain/counting/date-range.js';
import { parseSeriesRequest, type ReportInput } from '../../../src/domain/counting/report-request.js';
import { WEEK_STARTS } from '../../../src/domain/time/calendar.js';
import { dayMs, hourMs } from '../../../src/domain/time/duration.js';
import { listOffsetPeriods, type TimeZone } from '../../../src/domain/time/time-zone.js';
import { type NaiveAnswer, NaiveCalendar, type NaiveQuestion } from '../../support/naive-calendar.js';
import { isDeep } from '../../support/volume.js';

/** Zones with clock changes by an hour, half an hour and two hours, at midnight, and without any. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Los_Angeles',
  'America/St_Johns',
  'America/Havana',
  'Africa/Cairo',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Auckland',
  'Pacific/Apia',
  'Antarctica/Troll',
];

/** Local dates at whose beginning, and within which, questions are asked. */
const DAYS = [
  '2024-02-29',
  '2024-03-01',
  '2024-03-10',
  '2024-03-31',
  '2024-10-06',
  '2024-12-31',
  '2025-01-01',
  '2025-02-28',
  '2025-03-30',
  '2025-04-25',
  '2025-05-31',
  '2025-10-26',
  '2025-11-02',
  '2026-03-01',
  '2026-03-30',
  '2026-07-31',
];

/** Each zone takes one of so many moments, but not the same ones. */
const stride = isDeep ? 6 : 80;

const calendars = new Map<string, NaiveCalendar>();

function calendarOf(timeZone: string): NaiveCalendar {
  const calendar = calendars.get(timeZone) ?? new NaiveCalendar(timeZone);
  calendars.set(timeZone, calendar);
  return calendar;
}

/** Moments of a day. */
function momentsOf(timeZone: string, day: string): number[] {
  const midnight = calendarOf(timeZone).firstMoment(Date.parse(day));
  const hours = isDeep ? [0, 0.75, 1.25, 2.25, 2.75, 3.5, 13.1, 23.9] : [0, 1.25, 2.75, 13.1];
  return [midnight - 1, ...hours.map((hour) => midnight + Math.round(hour * hourMs))];
}

/** What the domain answers. */
function answer(timeZone: string, { asked, nowMs, ...more }: NaiveQuestion): NaiveAnswer {
  const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);
  const input: ReportInput =
    typeof asked === 'string'
      ? { ...more, timeZone, period: asked }
      : { ...more, timeZone, from: dateOf(asked.first), to: dateOf(asked.end) };
  const request = parseSeriesRequest(input, { nowMs });
  if (!request.ok) throw new Error(request.problems.join());
  const { range, compared, interval } = request.value;
  if (compared === undefined) throw new Error('it does not compare');
  const { count } = calendarOf(timeZone);
  const countIn = count.bind(calendarOf(timeZone));
  const edges = (findBucketEdges(range, interval, request.value, 10_000) ?? []).map(({ timeMs }) => timeMs);
  return {
    queries: countIn(range),
    before: countIn(compared),
    buckets: edges.slice(1).map((to, at) => {
      const bucket = { from: edges[at] ?? to, to };
      const counterpart = findComparedBucket(bucket, interval, compared, request.value.timeZone);
      return { queries: countIn(bucket), before: counterpart ? countIn(counterpart) : null };
    }),
  };
}

function expectSame(timeZone: string, question: NaiveQuestion): void {
  const where = `${timeZone} ${JSON.stringify(question)} at ${new Date(question.nowMs).toISOString()}`;
  const [found, naive] = [answer(timeZone, question), calendarOf(timeZone).answer(question)];
  // Comparing texts takes a tenth of the time.
  if (JSON.stringify(found) !== JSON.stringify(naive)) expect(found, where).toEqual(naive);
}

/** Hours of up to a month; all others of everything. */
const intervalsOf = (days: number): readonly Interval[] =>
  INTERVALS.filter((interval) => interval !== 'hour' || days <= 31);

const LONG = /90-days|quarter|year|12-months/;

const periods = PERIODS.filter((period) => period !== 'all');

/** The moments of a zone at which periods are asked for. */
function momentsIn(timeZone: string): number[] {
  const zoneAt = ZONES.indexOf(timeZone);
  return DAYS.flatMap((day, at) =>
    momentsOf(timeZone, day).filter((_, turn) => (at + turn + zoneAt) % stride === 0),
  );
}

type Asked = Pick<NaiveQuestion, 'asked' | 'interval' | 'weekStart'>;

const askedPeriods: readonly Asked[] = periods.flatMap((asked) =>
  intervalsOf(LONG.test(asked) ? 365 : 31).flatMap((interval): Asked[] => {
    const isOfWeeks = interval === 'week' || asked.endsWith('-week');
    const weekStarts = isOfWeeks ? WEEK_STARTS : (['monday'] as const);
    return weekStarts.map((weekStart) => ({ asked, interval, weekStart }));
  }),
);

/** Ranges of some lengths that begin or end on a day, or with it. */
function askedBounds(day: string): Asked[] {
  const first = Date.parse(day) / dayMs;
  return [1, 2, 7, 28, 29, 31, 59, 365, 366].flatMap((days) =>
    [-days, -1, 0].flatMap((offset) =>
      intervalsOf(days).map((interval): Asked => {
        const asked = { first: first + offset, end: first + offset + days };
        return { asked, interval, weekStart: 'sunday' };
      }),
    ),
  );
}

describe.each(ZONES)('%s', (timeZone) => {
  test('periods', () => {
    for (const nowMs of momentsIn(timeZone))
      for (const asked of askedPeriods)
        for (const compare of COMPARISONS) expectSame(timeZone, { ...asked, compare, nowMs });
  });

  test('bounds', () => {
    const zoneAt = ZONES.indexOf(timeZone);
    for (const day of DAYS.filter((_, at) => (at + zoneAt) % (isDeep ? 2 : 16) === 0))
      for (const nowMs of [Date.parse(day) + 10.3 * hourMs, Date.parse('2026-10-01')])
        for (const asked of askedBounds(day))
          for (const compare of COMPARISONS) expectSame(timeZone, { ...asked, compare, nowMs });
  });

  test('a complete period is compared with what it was before', () => {
    for (const day of DAYS) {
      const nowMs = calendarOf(timeZone).firstMoment(Date.parse(day)) + 13 * hourMs;
      for (const period of periods.filter((one) => one.startsWith('last-') || one === 'yesterday')) {
        const of = (atMs: number) => {
          const request = parseSeriesRequest({ period, timeZone, compare: 'previous' }, { nowMs: atMs });
          if (!request.ok) throw new Error(request.problems.join());
          return request.value;
        };
        const { range, compared } = of(nowMs);
        expect({ from: compared?.from, to: compared?.to }, period).toEqual(of(range.from).range);
      }
    }
  });
});

test('the counterparts of the buckets between any bounds tile the range that they are compared with', () => {
  const zones = [...ZONES, 'Pacific/Chatham', 'America/Santiago'];
  const asked = zones.flatMap((timeZone) => [...boundsAroundChanges(timeZone)]);
  expect(asked.length).toBeGreaterThan(500);
  const intervals = INTERVALS.filter((interval) => interval !== 'hour');
  for (const { timeZone, ...bounds } of asked) {
    for (const interval of intervals) expectTiles(timeZone, bounds, interval);
  }
});

/** Ranges of less than a day to more than a week, with an end near a clock change. */
function* boundsAroundChanges(timeZone: string): Generator<DateRange & { readonly timeZone: string }> {
  for (const change of clockChanges(timeZone)) {
    for (let quarter = -10; quarter <= 10; quarter += isDeep ? 1 : 3) {
      const to = change + (quarter * hourMs) / 4;
      for (const length of [3, 24, 27, 48, 61, 192, 205]) {
        yield { timeZone, from: to - length * hourMs, to };
        yield { timeZone, from: change - length * hourMs - 3 * hourMs, to };
      }
    }
  }
}

function clockChanges(timeZone: string): number[] {
  const year = { from: Date.parse('2026-01-01'), to: Date.parse('2027-01-01') };
  return [...listOffsetPeriods(timeZone as TimeZone, year)].slice(1).map(({ from }) => from);
}

function expectTiles(timeZone: string, { from, to }: DateRange, interval: Interval): void {
  const [asked, end] = [new Date(from).toISOString(), new Date(to).toISOString()];
  const input = { timeZone, from: asked, to: end, compare: 'previous', interval };
  const request = parseSeriesRequest(input, { nowMs: Date.parse('2027-06-01') });
  if (!request.ok) throw new Error(request.problems.join());
  const { compared, range } = request.value;
  if (compared === undefined) throw new Error('it does not compare');
  const edges = (findBucketEdges(range, interval, request.value, 1_000) ?? []).map(({ timeMs }) => timeMs);
  let reached = compared.from;
  for (const [at, bucketTo] of edges.slice(1).entries()) {
    const bucket = { from: edges[at] ?? bucketTo, to: bucketTo };
    const part = findComparedBucket(bucket, interval, compared, request.value.timeZone);
    if (part === undefined) continue;
    if (part.from !== reached) expect(part.from, JSON.stringify(input)).toBe(reached);
    reached = part.to;
  }
  if (reached !== compared.to) expect(reached, JSON.stringify(input)).toBe(compared.to);
}
