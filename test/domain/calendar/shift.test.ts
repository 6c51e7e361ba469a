/** The range that a range is compared with, and the counterpart of each bucket. */
import { describe, expect, test } from 'vitest';
import { findComparedBucket } from '../../../src/domain/calendar/comparison.js';
import { findBucketEdges } from '../../../src/domain/calendar/interval.js';
import { parseSeriesRequest, type ReportInput } from '../../../src/domain/counting/report-request.js';
import { formatWithOffset } from '../../../src/domain/time/date-time.js';
import { offsetAt, type TimeZone } from '../../../src/domain/time/time-zone.js';

/** `2026-03-01 12:00`, without the time if it is midnight. */
function written(timeMs: number, zone: TimeZone): string {
  const text = formatWithOffset(timeMs, offsetAt(timeMs, zone)).replace('T', ' ');
  return text.slice(0, 16).replace(' 00:00', '');
}

function ask(input: ReportInput, now: string) {
  const request = parseSeriesRequest(input, { nowMs: Date.parse(now) });
  if (!request.ok) throw new Error(request.problems.join());
  return request.value;
}

/** The range to compare with. */
function comparedOf(input: ReportInput, now: string): string {
  const { compared, timeZone } = ask(input, now);
  if (compared === undefined) throw new Error('it does not compare');
  return `${written(compared.from, timeZone)} to ${written(compared.to, timeZone)}`;
}

/** Each bucket and its counterpart. */
function counterparts(input: ReportInput, now: string): string[] {
  const request = ask(input, now);
  const { compared, timeZone, interval, range } = request;
  if (compared === undefined) throw new Error('it does not compare');
  const edges = (findBucketEdges(range, interval, request, 1_000) ?? []).map(({ timeMs }) => timeMs);
  return edges.slice(1).map((to, at) => {
    const from = edges[at] ?? to;
    const found = findComparedBucket({ from, to }, interval, compared, timeZone);
    const counterpart = found ? `${written(found.from, timeZone)} to ${written(found.to, timeZone)}` : 'none';
    return `${written(from, timeZone)}: ${counterpart}`;
  });
}

describe('a period is compared with the one before', () => {
  test.each([
    // 2026-03-31 is a Tuesday; it is half past twelve in Berlin.
    ['today', '2026-03-30 to 2026-03-30 12:30'],
    ['yesterday', '2026-03-29 to 2026-03-30'],
    ['last-7-days', '2026-03-17 to 2026-03-24'],
    ['7-days-to-date', '2026-03-18 to 2026-03-24 12:30'],
    ['30-days-to-date', '2026-01-31 to 2026-03-01 12:30'],
    ['90-days-to-date', '2025-10-03 to 2025-12-31 12:30'],
    ['this-week', '2026-03-23 to 2026-03-24 12:30'],
    ['last-week', '2026-03-16 to 2026-03-23'],
    // There is no February 31: all of February.
    ['this-month', '2026-02-01 to 2026-03-01'],
    ['last-month', '2026-01-01 to 2026-02-01'],
    ['this-quarter', '2025-10-01 to 2025-12-31 12:30'],
    ['last-quarter', '2025-07-01 to 2025-10-01'],
    ['this-year', '2025-01-01 to 2025-03-31 12:30'],
    ['last-year', '2024-01-01 to 2025-01-01'],
    ['last-12-months', '2024-03-01 to 2025-03-01'],
    ['12-months-to-date', '2024-04-01 to 2025-03-31 12:30'],
  ])('%s with %s', (period, expected) => {
    const input = { period, compare: 'previous', timeZone: 'Europe/Berlin' };
    expect(comparedOf(input, '2026-03-31T10:30:00Z')).toBe(expected);
  });

  test.each([
    ['sunday', '2026-03-22 to 2026-03-24 12:30', '2026-03-15 to 2026-03-22'],
    ['saturday', '2026-03-21 to 2026-03-24 12:30', '2026-03-14 to 2026-03-21'],
  ])('and weeks begin on %s if told', (weekStart, ofThis, ofLast) => {
    const asked = { weekStart, compare: 'previous', timeZone: 'Europe/Berlin' };
    const now = '2026-03-31T10:30:00Z';
    expect([
      comparedOf({ ...asked, period: 'this-week' }, now),
      comparedOf({ ...asked, period: 'last-week' }, now),
    ]).toEqual([ofThis, ofLast]);
  });
});

describe('a range that is not over is compared with its part up to now', () => {
  test.each([
    ['this-month', 'previous', '2026-02-28T10:30:00Z', '2026-01-01 to 2026-01-28 11:30'],
    ['this-year', 'previous-year', '2024-02-29T10:30:00Z', '2023-01-01 to 2023-03-01'],
    ['this-month', 'previous-year', '2025-02-28T10:30:00Z', '2024-02-01 to 2024-02-28 11:30'],
    // The night on which the clock goes from 03:00 back to 02:00: in the repeated hour, the one before has passed.
    ['today', 'previous', '2026-10-25T00:30:00Z', '2026-10-24 to 2026-10-24 02:30'],
    ['today', 'previous', '2026-10-25T01:30:00Z', '2026-10-24 to 2026-10-24 03:00'],
    ['today', 'previous', '2026-10-25T02:30:00Z', '2026-10-24 to 2026-10-24 03:30'],
  ])('%s with %s at %s', (period, compare, now, expected) => {
    expect(comparedOf({ period, compare, timeZone: 'Europe/Berlin' }, now)).toBe(expected);
  });

  test.each([
    ['2026-03-01', '2026-04-01', 'previous', '2026-01-29 to 2026-02-27 12:30'],
    ['2026-03-01', '2026-04-01', 'previous-year', '2025-03-01 to 2025-03-30 12:30'],
    ['2026-03-30T12:00', '2026-03-30T18:00', 'previous', '2026-03-30 06:00 to 2026-03-30 06:30'],
    ['2026-04-01', '2026-05-01', 'previous', '2026-03-02 to 2026-03-02'],
  ])('%s to %s with %s', (from, to, compare, expected) => {
    const input = { from, to, compare, timeZone: 'Europe/Berlin' };
    expect(comparedOf(input, '2026-03-30T10:30:00Z')).toBe(expected);
  });
});

describe('a bucket is compared with its counterpart', () => {
  test('a day with the day of the same number', () => {
    const input = { period: 'this-month', compare: 'previous', timeZone: 'Europe/Berlin' };
    const days = counterparts(input, '2026-03-31T10:30:00Z');
    expect(days.slice(0, 2)).toEqual([
      '2026-03-01: 2026-02-01 to 2026-02-02',
      '2026-03-02: 2026-02-02 to 2026-02-03',
    ]);
    expect(days.slice(-4)).toEqual([
      '2026-03-28: 2026-02-28 to 2026-03-01',
      '2026-03-29: none',
      '2026-03-30: none',
      '2026-03-31: none',
    ]);
    const february = counterparts({ ...input, period: 'last-month' }, '2026-03-31T10:30:00Z');
    expect(february.at(-1)).toBe('2026-02-28: 2026-01-28 to 2026-01-29');
  });

  test('a day with the same date of the year before, across leap days', () => {
    const input = { from: '2024-02-28', to: '2024-03-02', compare: 'previous-year' };
    expect(counterparts(input, '2026-03-31T10:30:00Z')).toEqual([
      '2024-02-28: 2023-02-28 to 2023-03-01',
      '2024-02-29: none',
      '2024-03-01: 2023-03-01 to 2023-03-02',
    ]);
    const later = { from: '2025-02-28', to: '2025-03-02', compare: 'previous-year' };
    expect(counterparts(later, '2026-03-31T10:30:00Z')).toEqual([
      '2025-02-28: 2024-02-28 to 2024-02-29',
      '2025-03-01: 2024-03-01 to 2024-03-02',
    ]);
  });

  test('a part of a week with the same part', () => {
    const input = { period: 'last-7-days', compare: 'previous', interval: 'week' };
    expect(counterparts(input, '2026-03-29T10:30:00Z')).toEqual([
      '2026-03-22: 2026-03-15 to 2026-03-16',
      '2026-03-23: 2026-03-16 to 2026-03-22',
    ]);
    const quarter = { period: 'this-quarter', compare: 'previous', interval: 'week' };
    expect(counterparts(quarter, '2026-01-14T12:00:00Z')).toEqual([
      '2026-01-01: 2025-10-01 to 2025-10-05',
      '2026-01-05: 2025-10-05 to 2025-10-12',
      '2026-01-12: 2025-10-12 to 2025-10-14 12:00',
    ]);
  });

  test('a month with the whole other month, and the running one with its part up to now', () => {
    const input = { period: 'this-year', compare: 'previous', interval: 'month' };
    expect(counterparts(input, '2025-03-15T12:00:00Z')).toEqual([
      '2025-01-01: 2024-01-01 to 2024-02-01',
      '2025-02-01: 2024-02-01 to 2024-03-01',
      '2025-03-01: 2024-03-01 to 2024-03-15 12:00',
    ]);
  });

  test('an hour with the same hour of the clock', () => {
    const input = { period: 'yesterday', compare: 'previous', interval: 'hour', timeZone: 'Europe/Berlin' };
    // The clock goes from 02:00 to 03:00 on March 29, and from 03:00 to 02:00 on October 25.
    expect(counterparts(input, '2026-03-30T10:30:00Z').slice(1, 3)).toEqual([
      '2026-03-29 01:00: 2026-03-28 01:00 to 2026-03-28 02:00',
      '2026-03-29 03:00: 2026-03-28 03:00 to 2026-03-28 04:00',
    ]);
    expect(counterparts(input, '2026-03-31T10:30:00Z').slice(1, 4)).toEqual([
      '2026-03-30 01:00: 2026-03-29 01:00 to 2026-03-29 03:00',
      '2026-03-30 02:00: none',
      '2026-03-30 03:00: 2026-03-29 03:00 to 2026-03-29 04:00',
    ]);
    expect(counterparts(input, '2026-10-26T10:30:00Z').slice(2, 5)).toEqual([
      '2026-10-25 02:00: 2026-10-24 02:00 to 2026-10-24 03:00',
      '2026-10-25 02:00: none',
      '2026-10-25 03:00: 2026-10-24 03:00 to 2026-10-24 04:00',
    ]);
    expect(counterparts(input, '2026-10-27T10:30:00Z').slice(2, 4)).toEqual([
      '2026-10-26 02:00: 2026-10-25 02:00 to 2026-10-25 02:00',
      '2026-10-26 03:00: 2026-10-25 03:00 to 2026-10-25 04:00',
    ]);
  });

  test('what has not happened yet with nothing', () => {
    const input = { from: '2026-03-30', to: '2026-04-02', compare: 'previous' };
    expect(counterparts(input, '2026-03-30T10:30:00Z')).toEqual([
      '2026-03-30: 2026-03-27 to 2026-03-27 10:30',
      '2026-03-31: none',
      '2026-04-01: none',
    ]);
  });
});
