import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../../../src/domain/time/duration.js';
import { findKept, parseGenerations } from '../../../src/domain/time/generations.js';

test.each(['', '7', 'd', '0d', '07d', '7d,7d', '7d;4w', '7y', '-1d', '10000d', '7d,'])(
  '%j is refused',
  (text) => {
    expect(parseGenerations(text)).toMatchObject({ ok: false });
  },
);

test('units in any order are read, and those that are left out keep nothing', () => {
  expect(parseGenerations('12m, 7d')).toEqual({ ok: true, value: { d: 7, w: 0, m: 12 } });
});

const times = fc.array(fc.integer({ min: 0, max: 2000 * dayMs }));

test('the newest stays, nothing else is kept than was there, and a repetition removes nothing more', () => {
  const numbers = fc.integer({ min: 0, max: 9 });
  fc.assert(
    fc.property(times, fc.record({ d: numbers, w: numbers, m: numbers }), (all, rule) => {
      const kept = findKept(all, rule);
      if (all.length > 0) expect(kept).toContain(Math.max(...all));
      expect(all).toEqual(expect.arrayContaining([...kept]));
      expect(kept.size).toBeLessThanOrEqual(1 + rule.d + rule.w + rule.m);
      expect(findKept([...kept], rule)).toEqual(kept);
    }),
  );
});

test('of a backup every six hours for two years, the newest of each day, week and month stays', () => {
  const newest = Date.UTC(2026, 10, 26, 18);
  const all = Array.from({ length: 4 * 730 }, (_, at) => newest - at * 6 * hourMs);
  const kept = [...findKept(all, { d: 3, w: 3, m: 3 })].toSorted((a, b) => b - a);
  expect(kept.map((time) => new Date(time).toISOString().slice(0, 13))).toEqual([
    // Three days; the Sundays before; the ends of the months before.
    ...['2026-11-26T18', '2026-11-25T18', '2026-11-24T18'],
    ...['2026-11-22T18', '2026-11-15T18'],
    ...['2026-10-31T18', '2026-09-30T18'],
  ]);
});
