import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addDays,
  addMonths,
  daysBetween,
  firstOfMonth,
  firstOfYear,
  toDay,
} from '../../../dashboard/src/time/calendar.js';
import { words } from '../../support/words.js';

const day = fc
  .integer({ min: Date.UTC(1900, 0, 1) / 86_400_000, max: Date.UTC(2200, 0, 1) / 86_400_000 })
  .map((number) => new Date(number * 86_400_000).toISOString().slice(0, 10));

describe('a day', () => {
  test.each([...words('2026-2-3 2026-02-30 2026-13-01 2026-02-03T00:00 20260203 today 2025-02-29'), ''])(
    'is not %j',
    (text) => {
      expect(toDay(text)).toBeUndefined();
    },
  );

  test('accepts every existing day', () => {
    fc.assert(
      fc.property(day, (text) => {
        expect(toDay(text)).toBe(text);
      }),
    );
    expect(toDay('2024-02-29')).toBe('2024-02-29');
  });
});

test('adding and subtracting days are inverse, and the difference is correct', () => {
  fc.assert(
    fc.property(day, fc.integer({ min: -5000, max: 5000 }), (from, days) => {
      const to = addDays(from, days);
      expect(addDays(to, -days)).toBe(from);
      expect(daysBetween(from, to)).toBe(days);
      expect(Math.sign(to.localeCompare(from))).toBe(Math.sign(days));
    }),
  );
});

test.each([
  ['2026-03-31', -1, '2026-02-28'],
  ['2024-03-31', -1, '2024-02-29'],
  ['2026-01-31', 1, '2026-02-28'],
  ['2026-12-15', 1, '2027-01-15'],
  ['2026-01-15', -13, '2024-12-15'],
  ['2024-02-29', 12, '2025-02-28'],
])('%s plus %i months is %s', (from, months, to) => {
  expect(addMonths(from, months)).toBe(to);
});

test('the first day of a month and of a year', () => {
  expect(firstOfMonth('2026-07-23')).toBe('2026-07-01');
  expect(firstOfYear('2026-07-23')).toBe('2026-01-01');
});
