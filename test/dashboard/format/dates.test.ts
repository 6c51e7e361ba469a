import { describe, expect, test } from 'vitest';
import {
  bucketLabel,
  bucketTitle,
  choiceName,
  exact,
  incompleteNote,
  span,
} from '../../../dashboard/src/format/dates.js';

/** Normalizes spaces, which differ between ICU versions. */
const plain = (text: string): string => text.replaceAll(/\s/g, ' ');

const between = (start: string, end: string) => ({ start, end });

describe('a range', () => {
  test.each([
    [
      'of whole days names its last day',
      '2026-06-01T00:00:00.000+02:00',
      '2026-07-01T00:00:00.000+02:00',
      '1 – 30 Jun 2026',
    ],
    [
      'of one day names that day',
      '2026-06-03T00:00:00.000+02:00',
      '2026-06-04T00:00:00.000+02:00',
      '3 Jun 2026',
    ],
    [
      'of a day with a clock change names that day',
      '2026-03-29T00:00:00.000+01:00',
      '2026-03-30T00:00:00.000+02:00',
      '29 Mar 2026',
    ],
  ])('%s', (_what, from, to, text) => {
    expect(plain(span(between(from, to), 'en-GB'))).toBe(text);
  });

  test('with times shows them', () => {
    const times = between('2026-06-01T09:00:00.000+02:00', '2026-06-01T17:30:00.000+02:00');
    expect(plain(span(times, 'en-GB'))).toMatch(/09:00 ?– ?17:30/);
  });

  test.each([
    [{ period: '7-days-to-date' } as const, '7 days to date'],
    [{ from: '2026-06-01', to: '2026-06-30' }, '1 – 30 Jun 2026'],
    [{ from: '2026-06-01T09:00', to: '2026-06-01T10:00' }, '1 Jun 2026, 09:00 – 10:00'],
  ])('%j is called %s', (choice, name) => {
    expect(plain(choiceName(choice, 'en-GB')).replaceAll(/ ?– ?/g, ' – ')).toBe(name);
  });
});

describe('a bucket', () => {
  test('is named by its day, week, month, quarter or year', () => {
    const day = between('2026-06-03T00:00:00.000Z', '2026-06-04T00:00:00.000Z');
    expect(plain(bucketTitle(day, 'day', 'en-GB'))).toBe('Wed, 3 Jun 2026');
    const week = between('2026-06-01T00:00:00.000Z', '2026-06-08T00:00:00.000Z');
    expect(plain(bucketTitle(week, 'week', 'en-GB'))).toBe('1 – 7 Jun 2026');
    expect(plain(bucketTitle(week, 'month', 'en-GB'))).toBe('June 2026');
    expect(bucketTitle(week, 'quarter', 'en-GB')).toBe('Q2 2026');
    expect(bucketTitle(week, 'year', 'en-GB')).toBe('2026');
  });

  test('of a repeated hour includes the offset', () => {
    const first = between('2026-10-25T02:00:00.000+02:00', '2026-10-25T02:00:00.000+01:00');
    const second = between('2026-10-25T02:00:00.000+01:00', '2026-10-25T03:00:00.000+01:00');
    expect(bucketTitle(first, 'hour', 'en-GB')).toContain('GMT+2');
    expect(bucketTitle(second, 'hour', 'en-GB')).toContain('GMT+1');
  });

  test('of a zone whose rules are newer than the browser has the day that the server says', () => {
    // The clocks of Vancouver are not set back in November 2026.
    const day = between('2026-11-05T00:00:00.000-07:00', '2026-11-06T00:00:00.000-07:00');
    expect(plain(bucketTitle(day, 'day', 'en-GB'))).toBe('Thu, 5 Nov 2026');
    expect(plain(bucketLabel(day.start, 'day', 'en-GB'))).toBe('5 Nov');
  });

  test('has a short label; only January shows the year', () => {
    expect(bucketLabel('2026-06-03T14:00:00.000Z', 'hour', 'en-GB')).toBe('14:00');
    expect(plain(bucketLabel('2026-06-03T14:00:00.000Z', 'day', 'en-GB'))).toBe('3 Jun');
    expect(bucketLabel('2026-01-01T00:00:00.000Z', 'month', 'en-GB')).toBe('Jan 2026');
    expect(bucketLabel('2026-02-01T00:00:00.000Z', 'month', 'en-GB')).toBe('Feb');
    expect(bucketLabel('2026-10-01T00:00:00.000+05:45', 'quarter', 'en-GB')).toBe('Q4 2026');
    expect(bucketLabel('2026-01-01T00:00:00.000Z', 'year', 'en-GB')).toBe('2026');
  });

  test('that is not complete says so', () => {
    const counts = { web: 0, api: 0, other: 0, total: 0 };
    const bucket = {
      ...between('2026-06-03T00:00:00.000Z', '2026-06-04T00:00:00.000Z'),
      ...counts,
    };
    expect(incompleteNote(bucket, 'en-GB')).toBeNull();
    expect(incompleteNote({ ...bucket, incomplete: 'running' }, 'en-GB')).toBe('so far');
    expect(plain(incompleteNote({ ...bucket, incomplete: 'partial' }, 'en-GB') ?? '')).toBe(
      'partial: 3 Jun 2026',
    );
  });
});

test('an exact time includes seconds and the zone of the reader', () => {
  expect(plain(exact('2026-06-03T14:05:09Z', 'en-GB'))).toMatch(/\d\d:05:09 \S+/);
});
