import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketAround, findBucketEdges } from '../../../src/domain/calendar/interval.js';
import { INTERVALS, type Interval } from '../../../src/domain/calendar/names.js';
import type { Calendar } from '../../../src/domain/time/calendar.js';
import {
  formatWithOffset,
  parseTimestamp,
  YEAR_10000_MS,
  YEAR_ZERO_MS,
} from '../../../src/domain/time/date-time.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { parseTimeZone } from '../../../src/domain/time/time-zone.js';
import { localUnit, oddMoments } from '../../support/local-calendar.js';
import { lawRuns } from '../../support/volume.js';
import { words } from '../../support/words.js';

function toCalendar(name: string): Calendar {
  const zone = parseTimeZone(name);
  if (!zone.ok) throw new Error(zone.problems.join());
  return { timeZone: zone.value, weekStart: 'monday' };
}

/** Expects one unit in the whole bucket, checked at some places, and another unit before it. */
function expectOneUnit(
  { begin, end, isFirst }: { readonly begin: number; readonly end: number; readonly isFirst: boolean },
  places: readonly number[],
  unitAt: (timeMs: number) => string,
): void {
  expect(end).toBeGreaterThan(begin);
  if (!isFirst) expect(unitAt(begin - 1)).not.toBe(unitAt(begin));
  for (const place of places) expect(unitAt(begin + Math.floor((end - begin) * place))).toBe(unitAt(begin));
  expect(unitAt(end - 1)).toBe(unitAt(begin));
}

describe('the bucket edges of a range', () => {
  test('are none if it is empty, and undefined if there are too many buckets', () => {
    const zone = toCalendar('Europe/Berlin');
    expect(findBucketEdges({ from: 5, to: 5 }, 'day', zone, 1)).toEqual([]);
    expect(findBucketEdges({ from: 6, to: 5 }, 'day', zone, 1)).toEqual([]);
    expect(findBucketEdges({ from: 0, to: 1 }, 'hour', zone, 1)).toHaveLength(2);
    expect(findBucketEdges({ from: 0, to: 3_600_000 }, 'hour', zone, 1)).toHaveLength(2);
    expect(findBucketEdges({ from: 0, to: 3_600_001 }, 'hour', zone, 1)).toBeUndefined();
    expect(findBucketEdges({ from: YEAR_ZERO_MS, to: YEAR_10000_MS }, 'month', zone, 10_000)).toBeUndefined();
  });

  const odd = fc.constantFrom(...oddMoments);
  const around = fc.tuple(odd, fc.integer({ min: -3 * dayMs, max: 3 * dayMs }), fc.nat(40 * dayMs));
  const anywhere = fc.tuple(
    odd,
    fc.integer({ min: -60 * 365 * dayMs, max: 30 * 365 * dayMs }),
    fc.nat(500 * dayMs),
  );

  test('are exactly where the local hour, day, week or month changes', () => {
    fc.assert(
      fc.property(
        fc.oneof(around, anywhere),
        fc.constantFrom(...INTERVALS),
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
          minLength: 1,
          maxLength: 4,
        }),
        ([[name, , near], offsetMs, lengthMs], interval, places) => {
          const from = Date.parse(near) + offsetMs;
          const to = from + (interval === 'hour' ? Math.min(lengthMs, 4 * dayMs) : lengthMs) + 1;
          const edges = findBucketEdges({ from, to }, interval, toCalendar(name), 100_000) ?? [];
          expect([edges[0]?.timeMs, edges.at(-1)?.timeMs]).toEqual([from, to]);
          for (const [at, { timeMs: begin }] of edges.slice(0, -1).entries()) {
            const end = edges[at + 1]?.timeMs ?? Number.NaN;
            expectOneUnit({ begin, end, isFirst: at === 0 }, places, (timeMs) =>
              localUnit(timeMs, interval, name),
            );
          }
        },
      ),
      { numRuns: lawRuns },
    );
  });

  test('are the same if the range is split', () => {
    fc.assert(
      fc.property(
        around,
        fc.constantFrom(...INTERVALS),
        fc.nat(),
        ([[name, , near], offsetMs, lengthMs], interval, at) => {
          const from = Date.parse(near) + offsetMs;
          const to = from + lengthMs + 2;
          const cut = from + 1 + (at % (lengthMs + 1));
          const timesOf = (range: { from: number; to: number }) =>
            (findBucketEdges(range, interval, toCalendar(name), 100_000) ?? []).map(({ timeMs }) => timeMs);
          const parts = [...timesOf({ from, to: cut }), ...timesOf({ from: cut, to })];
          expect(new Set([...timesOf({ from, to }), cut])).toEqual(new Set(parts));
          const whole = bucketAround(cut, interval, toCalendar(name));
          expect(timesOf(whole)).toEqual([whole.from, whole.to]);
          expect(whole.from <= cut && cut < whole.to).toBe(true);
        },
      ),
      { numRuns: lawRuns },
    );
  });

  /** The first and the last edge are the ends of the range. Seconds are left out if they are 0. */
  test.each<[zone: string, interval: Interval, edges: string]>([
    // A day without a midnight.
    ['Africa/Cairo', 'day', '2026-04-23T00:00+02:00 2026-04-24T01:00+03:00 2026-04-25T00:00+03:00'],
    // A day with two midnights.
    ['America/Havana', 'day', '2025-11-01T00:00-04:00 2025-11-02T00:00-04:00 2025-11-03T00:00-05:00'],
    // Days next to a skipped day.
    [
      'Pacific/Apia',
      'day',
      '2011-12-29T00:00-10:00 2011-12-31T00:00+14:00 2012-01-01T00:00+14:00 2012-01-02T00:00+14:00',
    ],
    // A day that goes back to the day before for almost an hour.
    ['America/St_Johns', 'day', '2010-11-06T00:00-02:30 2010-11-07T00:00-02:30 2010-11-08T00:00-03:30'],
    // A range that begins while clocks show the day before again.
    ['America/St_Johns', 'day', '2010-11-06T23:15-03:30 2010-11-08T00:00-03:30'],
    // A date that occurred twice, 48 hours in all.
    [
      'America/Juneau',
      'day',
      '1867-10-17T23:59:41+15:02 1867-10-18T23:59:41+15:02 1867-10-20T00:00:41-08:57',
    ],
    // Hours of 30 minutes.
    [
      'Australia/Lord_Howe',
      'hour',
      '2026-04-05T01:00+11:00 2026-04-05T01:30+10:30 2026-04-05T02:00+10:30 2026-04-05T03:00+10:30',
    ],
    // Hours at an offset of 45 minutes.
    [
      'Asia/Kathmandu',
      'hour',
      '2026-01-01T05:45+05:45 2026-01-01T06:00+05:45 2026-01-01T07:00+05:45 2026-01-01T07:15+05:45',
    ],
    // A month without its first midnight.
    ['America/Asuncion', 'month', '2000-09-15T00:00-04:00 2000-10-01T01:00-03:00 2000-11-01T00:00-03:00'],
    // Weeks start on Monday, also around New Year.
    [
      'UTC',
      'week',
      '2026-12-21T00:00+00:00 2026-12-28T00:00+00:00 2027-01-04T00:00+00:00 2027-01-11T00:00+00:00',
    ],
    // Months of a leap year in the first century.
    ['UTC', 'month', '0096-02-01T00:00+00:00 0096-03-01T00:00+00:00'],
  ])('in %s, by %s: %s', (zone, interval, edges) => {
    const [from = Number.NaN, to = Number.NaN] = [words(edges).at(0), words(edges).at(-1)].map((edge) =>
      Date.parse(`${edge}`),
    );
    const found = findBucketEdges({ from, to }, interval, toCalendar(zone), 1000) ?? [];
    const written = found.map(({ timeMs, offsetMs }) => formatWithOffset(timeMs, offsetMs));
    expect(written.join(' ').replaceAll(/(:00)?\.000/g, '')).toBe(edges);
  });
});

describe('formatWithOffset', () => {
  test('writes the same instant for any time and offset', () => {
    const longestMs = 86_340_000;
    fc.assert(
      fc.property(
        fc.oneof(
          fc.integer({ min: YEAR_ZERO_MS - longestMs, max: YEAR_10000_MS + longestMs - 1 }),
          fc.integer({ min: -longestMs, max: longestMs - 1 }).map((ms) => YEAR_10000_MS + ms),
          fc.integer({ min: -longestMs, max: longestMs }).map((ms) => YEAR_ZERO_MS + ms),
        ),
        fc.integer({ min: -longestMs, max: longestMs }),
        (timeMs, offsetMs) => {
          const text = formatWithOffset(timeMs, offsetMs);
          expect(parseTimestamp(text)).toEqual({ ok: true, value: timeMs });
          expect(text).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}[+-]\d{2}:\d{2}$/);
        },
      ),
    );
  });

  test('writes more days than its cache holds, the second time like the first', () => {
    const days = Array.from({ length: 25_000 }, (_, at) => at * dayMs);
    const expected = days.map((timeMs) => new Date(timeMs).toISOString().replace('Z', '+00:00'));
    for (let times = 0; times < 2; times++)
      expect(days.map((timeMs) => formatWithOffset(timeMs, 0))).toEqual(expected);
  });

  test.each([
    [0, 0, '1970-01-01T00:00:00.000+00:00'],
    [1, -5.75 * 3_600_000, '1969-12-31T18:15:00.001-05:45'],
    [0, 3_208_000, '1970-01-01T00:53:00.000+00:53'],
    [0, -75_000, '1969-12-31T23:59:00.000-00:01'],
    [0, -15_000, '1970-01-01T00:00:00.000+00:00'],
    [YEAR_ZERO_MS, -3_600_000, '0000-01-01T23:59:00.000+23:59'],
    [YEAR_ZERO_MS - 3_600_000, 3_600_000, '0000-01-01T00:00:00.000+01:00'],
    [YEAR_10000_MS, 0, '9999-12-31T00:01:00.000-23:59'],
  ])('writes %d with the offset %d as %s', (timeMs, offsetMs, text) => {
    expect(formatWithOffset(timeMs, offsetMs)).toBe(text);
  });
});

describe('parseTimeZone', () => {
  test.each([
    ...words('europe/berlin EUROPE/BERLIN Utc Berlin Z +01:00 UTC+1 PST GMT+0100 local __proto__'),
    '',
    'Europe/Berlin ',
    'Europe/Berlin\n',
  ])('refuses %j', (name) => {
    expect(parseTimeZone(name).ok).toBe(false);
  });

  test('names some valid zones in its message', () => {
    expect(parseTimeZone('Nowhere')).toMatchObject({
      problems: [expect.stringMatching(/; use a name such as /)],
    });
  });

  test('accepts utc for UTC, as Grafana sends it', () => {
    expect(parseTimeZone('utc')).toEqual({ ok: true, value: 'UTC' });
  });

  test('accepts every zone and link of the platform', () => {
    const others = words(`
      UTC Asia/Calcutta Asia/Kolkata US/Eastern GMT Etc/GMT+5 EST5EDT America/Argentina/ComodRivadavia W-SU
      Africa/Dar_es_Salaam America/Port-au-Prince
    `);
    const names = [...Intl.supportedValuesOf('timeZone'), ...others];
    for (const name of names) expect(parseTimeZone(name), name).toEqual({ ok: true, value: name });
  });
});

test('the bucket around the start of a bucket is that bucket', () => {
  const from = Date.UTC(2026, 0, 1);
  expect(bucketAround(from, 'day', toCalendar('UTC'))).toEqual({ from, to: from + dayMs });
});
