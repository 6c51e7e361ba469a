/** What the parameters of reports mean: refusals, then laws, then examples. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PERIODS } from '../../../src/domain/calendar/names.js';
import { ALL_TIME, EARLIEST_MS } from '../../../src/domain/counting/date-range.js';
import {
  parseCountsRequest,
  parseSeriesRequest,
  REPORT_PARAMETER_NAMES,
  type ReportInput,
} from '../../../src/domain/counting/report-request.js';
import type { Result } from '../../../src/domain/result.js';
import { formatWithOffset, YEAR_10000_MS } from '../../../src/domain/time/date-time.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { offsetAt, type TimeZone } from '../../../src/domain/time/time-zone.js';
import { localUnit, oddMoments } from '../../support/local-calendar.js';
import { lawRuns } from '../../support/volume.js';

/** Tuesday, half past ten in Berlin. */
const nowMs = Date.parse('2024-05-14T08:30:00Z');

function parsed<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.problems.join());
  return result.value;
}

function rangeOf(input: ReportInput, now = nowMs) {
  return parsed(parseCountsRequest(input, { nowMs: now })).range;
}

/** Without the time of day if it is midnight. */
function written(timeMs: number, zone = 'UTC'): string {
  const text = formatWithOffset(timeMs, offsetAt(timeMs, zone as TimeZone));
  return text.replace(/T00:00:00.000.*$/, '').replace(':00.000', '');
}

const intervals = 'hour, day, week, month, quarter, year';
const periods = PERIODS.join(', ');

describe('a report is refused', () => {
  test.each<[ReportInput, unknown[]]>([
    [{ interval: '' }, [`interval: is empty; leave it out or give one of ${intervals}`]],
    [{ interval: 'decade' }, [`interval: "decade" is not an interval; the intervals are ${intervals}`]],
    [
      { interval: 'Day' },
      [`interval: "Day" is not an interval; did you mean day? The intervals are ${intervals}`],
    ],
    [{ timeZone: '' }, [expect.stringMatching(/^timeZone: is empty/)]],
    [{ timeZone: 'europe/berlin' }, [expect.stringMatching(/^timeZone: .*did you mean Europe\/Berlin\?$/)]],
    [{ timeZone: 'Europe/Berln' }, [expect.stringMatching(/^timeZone: .*did you mean Europe\/Berlin\?$/)]],
    [{ timeZone: 'Europe/Nowhere' }, [expect.stringMatching(/^timeZone: .*; use a name such as /)]],
    [{ timeZone: '+01:00' }, [expect.stringMatching(/use a name such as Europe\/Berlin or UTC$/)]],
    [{ from: '2026-02-30' }, [expect.stringMatching(/^dateFrom: /)]],
    [
      { from: '2026-02-30', timeZone: 'x' },
      [expect.stringMatching(/^dateFrom: /), expect.stringMatching(/^timeZone: /)],
    ],
    [{ period: '' }, [`period: is empty; leave it out or give one of ${periods}`]],
    [{ period: 'last-fortnight' }, [`period: "last-fortnight" is not a period; the periods are ${periods}`]],
    [
      { period: 'today', from: '2026-01-01' },
      ['period: is given together with dateFrom; give either a period or bounds'],
    ],
    [
      { period: 'x', to: 'y' },
      [
        expect.stringMatching(/^dateTo: /),
        expect.stringMatching(/^period: "x"/),
        'period: is given together with dateTo; give either a period or bounds',
      ],
    ],
    [
      { period: 'all', from: '2026-01-01', to: '2026-01-02' },
      [expect.stringMatching(/with dateFrom and dateTo;/)],
    ],
    [{ compare: '' }, ['compare: is not one of previous, previous-year']],
    [{ compare: 'last-year', period: 'today' }, ['compare: is not one of previous, previous-year']],
    [{ compare: 'previous' }, [expect.stringMatching(/^compare: needs a range with a start and an end/)]],
    [{ compare: 'previous', from: '2026-01-01' }, [expect.stringMatching(/^compare: needs/)]],
    [{ compare: 'previous-year', period: 'all' }, [expect.stringMatching(/^compare: needs/)]],
    [
      { compare: 'previous', from: '0000-01-01', to: '0000-01-02' },
      [expect.stringMatching(/before the year 0000/)],
    ],
    [{ caller: '' }, [expect.stringMatching(/^caller: is empty/)]],
    [
      { caller: 'Slack' },
      [expect.stringMatching(/^caller: "Slack" is not a caller; a caller is "web", "api" or/)],
    ],
    [{ by: 'type' }, ['by: "type" is unknown; series can be split by caller only']],
    [{ by: 'caller', caller: 'web' }, ['by: is given together with caller; give one of them']],
    [
      { by: 'caller', layout: 'Long' },
      ['layout: "Long" is unknown; did you mean long? The layouts are wide, long'],
    ],
    [{ by: 'caller', layout: '' }, [expect.stringMatching(/^layout: "" is unknown/)]],
    [{ times: 'utc' }, ['times: "utc" is unknown; the forms are offset, local']],
    [{ layout: 'long' }, ['layout: long has a row for each caller; give it with by']],
    [
      { by: 'caller', layout: 'long', compare: 'previous', period: 'last-month' },
      [expect.stringMatching(/^layout: long has no place for what is compared with; leave out compare/)],
    ],
  ])('%j', (input, problems) => {
    expect(parseSeriesRequest(input, { nowMs })).toEqual({ ok: false, problems });
  });

  test('with all of its problems, under the given names', () => {
    const names = Object.fromEntries(
      Object.keys(REPORT_PARAMETER_NAMES).map((name) => [name, `--${name}`]),
    ) as typeof REPORT_PARAMETER_NAMES;
    const asked = Object.fromEntries(Object.keys(names).map((name) => [name, '!']));
    const result = parseSeriesRequest(asked, { nowMs, names });
    expect(result.ok ? [] : result.problems.map((problem) => problem.split(':')[0])).toEqual([
      '--from',
      '--to',
      '--period',
      '--period',
      '--timeZone',
      '--weekStart',
      '--compare',
      '--caller',
      '--asOf',
      '--interval',
      '--by',
      '--layout',
      '--times',
    ]);
  });
});

test('the parameters over HTTP have the documented names', () => {
  expect(Object.values(REPORT_PARAMETER_NAMES)).toEqual([
    'dateFrom',
    'dateTo',
    'period',
    'timeZone',
    'weekStart',
    'compare',
    'caller',
    'interval',
    'by',
    'layout',
    'times',
    'asOf',
    'since',
  ]);
});

test('without parameters, a report is about all queries in UTC, by day', () => {
  expect(parsed(parseSeriesRequest({}, { nowMs }))).toEqual({
    range: ALL_TIME,
    timeZone: 'UTC',
    weekStart: 'monday',
    compared: undefined,
    caller: undefined,
    interval: 'day',
    byCaller: false,
    csv: { layout: 'wide', times: 'offset' },
  });
});

describe('local bounds', () => {
  const zone = fc.constantFrom(...oddMoments.map(([name]) => name));
  const day = fc.integer({ min: -400 * 365, max: 520 * 365 });
  const dateOf = (number: number): string => new Date(number * dayMs).toISOString().slice(0, 10);
  const usual = fc.integer({ min: -70 * 365, max: 80 * 365 });
  const near = fc
    .tuple(fc.constantFrom(...oddMoments), fc.integer({ min: -3, max: 3 }))
    .map(([[name, , moment], days]) => [name, Math.floor(Date.parse(moment) / dayMs) + days] as const);

  test('of dates are where clocks first show that day, and tile', () => {
    fc.assert(
      fc.property(fc.oneof(near, fc.tuple(zone, fc.oneof(usual, day))), ([timeZone, number]) => {
        const first = rangeOf({ timeZone, from: dateOf(number), to: dateOf(number + 1) });
        const next = rangeOf({ timeZone, from: dateOf(number + 1), to: dateOf(number + 2) });
        expect(first.to).toBe(next.from);
        if (first.from === first.to) return;
        expect(localUnit(first.from, 'day', timeZone)).toBe(dateOf(number));
        expect(localUnit(first.to - 1, 'day', timeZone)).toBe(dateOf(number));
      }),
      { numRuns: lawRuns },
    );
  });

  test('of date-times are never earlier for a later local time, and show it unless it is skipped', () => {
    const minute = fc.integer({ min: 0, max: 7 * 24 * 60 });
    fc.assert(
      fc.property(near, minute, minute, ([timeZone, number], a, b) => {
        const [earlier, later] = [a, b]
          .sort((one, other) => one - other)
          .map((minutes) =>
            new Date((number - 3) * dayMs + minutes * 60_000)
              .toISOString()
              .slice(0, 'YYYY-MM-DDTHH:MM:SS'.length),
          ) as [string, string];
        const { from, to } = rangeOf({ timeZone, from: earlier, to: later });
        expect(from).toBeLessThanOrEqual(to);
        const local = from + offsetAt(from, timeZone as TimeZone);
        expect(local).toBeGreaterThanOrEqual(Date.parse(`${earlier}Z`));
        expect(from - 1 + offsetAt(from - 1, timeZone as TimeZone)).not.toBe(local);
      }),
      { numRuns: lawRuns },
    );
  });

  test.each([
    ['Europe/Berlin', '2024-01-01', '2024-02-01', '2023-12-31T23:00:00Z', '2024-01-31T23:00:00Z'],
    ['America/Los_Angeles', '2024-03-01', '2024-04-01', '2024-03-01T08:00:00Z', '2024-04-01T07:00:00Z'],
    // A midnight that the clock skips, and a date that does not exist.
    ['Africa/Cairo', '2026-04-24', '2026-04-25', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
    ['Pacific/Apia', '2011-12-30', '2011-12-31', '2011-12-30T10:00:00Z', '2011-12-30T10:00:00Z'],
    // A local time that occurs twice is the earlier one; one that is skipped is the moment of the change.
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T03:00', '2026-10-25T00:30:00Z', '2026-10-25T02:00:00Z'],
    [
      'Europe/Berlin',
      '2026-03-29T02:30:15',
      '2026-03-29T03:00',
      '2026-03-29T01:00:00Z',
      '2026-03-29T01:00:00Z',
    ],
    // An offset wins.
    [
      'Europe/Berlin',
      '2026-01-01T00:00Z',
      '2026-01-01T00:00-01:00',
      '2026-01-01T00:00:00Z',
      '2026-01-01T01:00:00Z',
    ],
    ['utc', '2026-01-01', '2026-01-02T00:00', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
  ])('in %s: %s to %s', (timeZone, from, to, start, end) => {
    expect(rangeOf({ timeZone, from, to })).toEqual({ from: Date.parse(start), to: Date.parse(end) });
  });

  test('stay unbounded if they are left out', () => {
    expect(rangeOf({ timeZone: 'Europe/Berlin', to: '2024-01-01' }).from).toBe(EARLIEST_MS);
  });
});

describe('periods', () => {
  const expected = {
    today: '2024-05-14 2024-05-15',
    yesterday: '2024-05-13 2024-05-14',
    'last-7-days': '2024-05-07 2024-05-14',
    'last-30-days': '2024-04-14 2024-05-14',
    'last-90-days': '2024-02-14 2024-05-14',
    '7-days-to-date': '2024-05-08 2024-05-15',
    '30-days-to-date': '2024-04-15 2024-05-15',
    '90-days-to-date': '2024-02-15 2024-05-15',
    'this-week': '2024-05-13 2024-05-15',
    'last-week': '2024-05-06 2024-05-13',
    'this-month': '2024-05-01 2024-05-15',
    'last-month': '2024-04-01 2024-05-01',
    'this-quarter': '2024-04-01 2024-05-15',
    'last-quarter': '2024-01-01 2024-04-01',
    'this-year': '2024-01-01 2024-05-15',
    'last-year': '2023-01-01 2024-01-01',
    'last-12-months': '2023-05-01 2024-05-01',
    '12-months-to-date': '2023-06-01 2024-05-15',
  };

  test('are all in the table', () => {
    expect([...Object.keys(expected), 'all']).toEqual(PERIODS);
    expect(rangeOf({ period: 'all', timeZone: 'Europe/Berlin' })).toEqual(ALL_TIME);
  });

  test.each(Object.entries(expected))('%s equals its bounds in any zone', (period, bounds) => {
    const [from, to] = bounds.split(' ');
    for (const timeZone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Africa/Cairo']) {
      expect(rangeOf({ period, timeZone })).toEqual(rangeOf({ from, to, timeZone }));
    }
  });

  test('begin with the day of the zone', () => {
    const late = Date.parse('2024-12-31T23:30:00Z');
    const year = (timeZone: string) =>
      written(rangeOf({ period: 'this-year', timeZone }, late).from, timeZone);
    expect([year('UTC'), year('Europe/Berlin'), year('America/New_York')]).toEqual([
      '2024-01-01',
      '2025-01-01',
      '2024-01-01',
    ]);
  });

  test('contain the moment if they are running ones, and end before it if they are not', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...oddMoments),
        fc.integer({ min: -3 * dayMs, max: 3 * dayMs }),
        fc.constantFrom(...PERIODS),
        ([timeZone, , moment], offsetMs, period) => {
          const now = Date.parse(moment) + offsetMs;
          const { from, to } = rangeOf({ period, timeZone }, now);
          const isRunning = /^(today|this-.*|.*-to-date|all)$/.test(period);
          expect(from).toBeLessThanOrEqual(now);
          if (isRunning) expect(to).toBeGreaterThan(now);
          else expect(to).toBeLessThanOrEqual(now);
          // Today begins where the complete days end.
          expect(rangeOf({ period: 'last-7-days', timeZone }, now).to).toBe(
            rangeOf({ period: 'today', timeZone }, now).from,
          );
        },
      ),
      { numRuns: lawRuns },
    );
  });
});

describe('comparisons', () => {
  const comparedOf = (input: ReportInput) => {
    // All of the ranges are over.
    const { compared } = parsed(parseCountsRequest(input, { nowMs: YEAR_10000_MS }));
    if (compared === undefined) throw new Error('it compares');
    const { from, to } = compared;
    return { from, to };
  };

  test.each([
    ['previous', 'Europe/Berlin', '2024-05-01', '2024-06-01', '2024-03-31 2024-05-01'],
    // As many local days, although one of them has 23 hours.
    ['previous', 'Europe/Berlin', '2024-04-01', '2024-04-08', '2024-03-25 2024-04-01'],
    ['previous', 'Africa/Cairo', '2026-04-24', '2026-04-25', '2026-04-23 2026-04-24T01:00+03:00'],
    // Parts of days in hours.
    [
      'previous',
      'UTC',
      '2024-05-02T12:00',
      '2024-05-03T18:00',
      '2024-05-01T06:00+00:00 2024-05-02T12:00+00:00',
    ],
    ['previous', 'UTC', '2024-05-02', '2024-05-02', '2024-05-02 2024-05-02'],
    ['previous-year', 'Europe/Berlin', '2024-04-01', '2024-05-01', '2023-04-01 2023-05-01'],
    [
      'previous-year',
      'UTC',
      '2024-05-02T12:00',
      '2024-05-03T18:00',
      '2023-05-02T12:00+00:00 2023-05-03T18:00+00:00',
    ],
    // February 29 is compared with nothing, and all other days with themselves.
    ['previous-year', 'UTC', '2024-02-28', '2024-02-29', '2023-02-28 2023-03-01'],
    ['previous-year', 'UTC', '2024-02-29', '2024-03-01', '2023-03-01 2023-03-01'],
    ['previous-year', 'UTC', '2024-02-29T12:00', '2024-03-02', '2023-03-01 2023-03-02'],
    ['previous-year', 'UTC', '2025-02-01', '2025-03-01', '2024-02-01 2024-03-01'],
  ])('%s in %s of %s to %s is %s', (compare, timeZone, from, to, expected) => {
    const compared = comparedOf({ compare, timeZone, from, to });
    expect([compared.from, compared.to].map((one) => written(one, timeZone)).join(' ')).toBe(expected);
  });

  test('with the previous range are adjacent and have as many local days', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...oddMoments.filter(([name]) => name !== 'Pacific/Apia')),
        fc.integer({ min: -40, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        ([timeZone, , moment], offset, days) => {
          const first = Math.floor(Date.parse(moment) / dayMs) + offset;
          const dateOf = (number: number) => new Date(number * dayMs).toISOString().slice(0, 10);
          const bounds = (from: number, to: number) => ({ timeZone, from: dateOf(from), to: dateOf(to) });
          expect(comparedOf({ compare: 'previous', ...bounds(first, first + days) })).toEqual(
            rangeOf(bounds(first - days, first)),
          );
        },
      ),
      { numRuns: lawRuns },
    );
  });

  test('with the year before tile if the ranges do', () => {
    const instant = fc.integer({ min: Date.parse('2023-12-01'), max: Date.parse('2026-04-01') });
    fc.assert(
      fc.property(
        instant,
        instant,
        instant,
        fc.constantFrom('UTC', 'Asia/Kathmandu'),
        (a, b, c, timeZone) => {
          const [from, middle, to] = [a, b, c]
            .sort((x, y) => x - y)
            .map((one) => new Date(one).toISOString()) as [string, string, string];
          const of = (start: string, end: string) =>
            comparedOf({ compare: 'previous-year', timeZone, from: start, to: end });
          expect(of(from, middle).to).toBe(of(middle, to).from);
          expect(of(from, to)).toEqual({ from: of(from, middle).from, to: of(middle, to).to });
        },
      ),
      { numRuns: lawRuns },
    );
  });
});
