import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, isDay } from '../../../dashboard/src/time/calendar.js';
import { words } from '../../support/words.js';

describe('a day', () => {
  test.each([...words('2026-02-29 2026-04-31 2026-13-01 2026-6-1 20260601 2026-06-01T00:00 tomorrow'), ''])(
    'is not %j',
    (text) => {
      expect(isDay(text)).toBe(false);
    },
  );

  test.each(['2024-02-29', '2026-06-01', '0001-01-01'])('is %s', (text) => {
    expect(isDay(text)).toBe(true);
  });
});

test('adding and subtracting days are inverse', () => {
  fc.assert(
    fc.property(fc.integer({ min: -200_000, max: 200_000 }), (days) => {
      expect(addDays(addDays('2024-02-29', days), -days)).toBe('2024-02-29');
    }),
  );
  expect(addDays('2024-02-28', 1)).toBe('2024-02-29');
  expect(addDays('2025-12-31', 1)).toBe('2026-01-01');
});
