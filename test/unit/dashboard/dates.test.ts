import { describe, expect, test } from 'vitest';
import { bucketLabel, bucketTitle, exact, offsetName, span } from '../../../dashboard/src/format/dates.js';
import { choiceName } from '../../../dashboard/src/pages/overview/toolbar/choice-name.js';

const at = (text: string): number => Date.parse(text);

/** Normalizes spaces, which differ between ICU versions. */
const plain = (text: string): string => text.replaceAll(/\s/g, ' ');

describe('a range', () => {
  const name = 'Europe/Berlin';

  test.each([
    ['of whole days names its last day', '2026-05-31T22:00Z', '2026-06-30T22:00Z', '1 – 30 Jun 2026'],
    ['of one day names that day', '2026-06-02T22:00Z', '2026-06-03T22:00Z', '3 Jun 2026'],
    ['of a day with a clock change names that day', '2026-03-28T23:00Z', '2026-03-29T22:00Z', '29 Mar 2026'],
  ])('%s', (_what, from, to, text) => {
    expect(plain(span(at(from), at(to), name, 'en-GB'))).toBe(text);
  });

  test('with times shows them', () => {
    expect(plain(span(at('2026-06-01T07:00Z'), at('2026-06-01T15:30Z'), name, 'en-GB'))).toContain('09:00');
  });

  test('has the name of its preset', () => {
    expect(choiceName({ preset: '7d' }, name)).toBe('Last 7 days');
    expect(plain(choiceName({ from: '2026-06-01', to: '2026-06-30' }, name, 'en-GB'))).toBe(
      '1 – 30 Jun 2026',
    );
  });
});

describe('a bucket', () => {
  const bucket = (start: string, end: string) => ({ start: at(start), end: at(end) });

  test('is named by its day, week, month, quarter or year', () => {
    const day = bucket('2026-06-03T00:00Z', '2026-06-04T00:00Z');
    expect(plain(bucketTitle(day, 'day', 'UTC', 'en-GB'))).toBe('Wed, 3 Jun 2026');
    const week = bucket('2026-06-01T00:00Z', '2026-06-08T00:00Z');
    expect(plain(bucketTitle(week, 'week', 'UTC', 'en-GB'))).toBe('1 – 7 Jun 2026');
    expect(plain(bucketTitle(week, 'month', 'UTC', 'en-GB'))).toBe('June 2026');
    expect(bucketTitle(week, 'quarter', 'UTC', 'en-GB')).toBe('Q2 2026');
    expect(bucketTitle(week, 'year', 'UTC', 'en-GB')).toBe('2026');
  });

  test('of a repeated hour includes the offset', () => {
    const first = bucket('2026-10-25T00:00Z', '2026-10-25T01:00Z');
    const second = bucket('2026-10-25T01:00Z', '2026-10-25T02:00Z');
    const names = [first, second].map((one) => bucketTitle(one, 'hour', 'Europe/Berlin', 'en-GB'));
    expect(names[0]).toContain('GMT+2');
    expect(names[1]).toContain('GMT+1');
  });

  test('has a short label; only January shows the year', () => {
    expect(bucketLabel(at('2026-06-03T14:00Z'), 'hour', 'UTC', 'en-GB')).toBe('14:00');
    expect(plain(bucketLabel(at('2026-06-03T14:00Z'), 'day', 'UTC', 'en-GB'))).toBe('3 Jun');
    expect(bucketLabel(at('2026-01-01T00:00Z'), 'month', 'UTC', 'en-GB')).toBe('2026');
    expect(bucketLabel(at('2026-02-01T00:00Z'), 'month', 'UTC', 'en-GB')).toBe('Feb');
    expect(bucketLabel(at('2026-10-01T00:00Z'), 'quarter', 'Asia/Kathmandu', 'en-GB')).toBe('Q4 2026');
    expect(bucketLabel(at('2026-01-01T00:00Z'), 'year', 'UTC', 'en-GB')).toBe('2026');
  });
});

test('an exact time includes seconds and zone', () => {
  const text = plain(exact(at('2026-06-03T14:05:09Z'), 'UTC', 'en-GB'));
  expect(text).toContain('14:05:09');
  expect(text).toContain('UTC');
  expect(offsetName(at('2026-06-03T14:05:09Z'), 'Asia/Kathmandu')).toBe('GMT+5:45');
});
