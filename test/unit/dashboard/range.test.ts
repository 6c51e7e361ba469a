import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, daysBetween } from '../../../dashboard/src/time/calendar.js';
import {
  type Choice,
  comparedRange,
  isChoice,
  isOpen,
  PRESETS,
  resolveRange,
} from '../../../dashboard/src/time/range.js';
import { toLocal } from '../../../dashboard/src/time/zone.js';
import { findComparedRange } from '../../../src/domain/counting/comparison.js';
import type { TimeZone } from '../../../src/domain/time/time-zone.js';

const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'America/Havana', 'Asia/Kathmandu');
const now = fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2030, 0, 1) });
const day = fc
  .integer({ min: Date.UTC(2015, 0, 1) / 86_400_000, max: Date.UTC(2029, 0, 1) / 86_400_000 })
  .map((number) => new Date(number * 86_400_000).toISOString().slice(0, 10));
const preset = fc.constantFrom(...PRESETS).map((one): Choice => ({ preset: one }));
const custom = fc
  .tuple(day, fc.integer({ min: 0, max: 400 }))
  .map(([from, days]): Choice => ({ from, to: addDays(from, days) }));
const choice = fc.oneof(preset, custom);

/** A range as local times. */
function shown(range: { from: number | null; to: number | null } | null, name: string): string {
  const text = (at: number | null): string => {
    if (at === null) return '…';
    const local = toLocal(at, name);
    return `${local.day} ${local.time}`;
  };
  return range === null ? 'none' : `${text(range.from)} to ${text(range.to)}`;
}

describe('invalid custom ranges are refused', () => {
  test.each([
    ['', ''],
    ['2026-06-01', ''],
    ['', '2026-06-01'],
    ['2026-06-02', '2026-06-01'],
    ['2026-06-31', '2026-07-01'],
    ['2026-06-01T10:00', '2026-06-01T10:00'],
    ['2026-06-01T10:00', '2026-06-01T09:00'],
    ['2026-06-01T24:00', '2026-06-02T09:00'],
    ['2026-06-01T10:00:00', '2026-06-02T09:00'],
    ['2026-06-01T10:00Z', '2026-06-02'],
    ['tomorrow', 'today'],
  ])('from %j to %j', (from, to) => {
    expect(isChoice({ from, to }, 'Europe/Berlin')).toBe(false);
  });
});

describe('for every range', () => {
  test('the start is before the end, and both are local midnights', () => {
    fc.assert(
      fc.property(choice, zone, now, (chosen, name, at) => {
        const { from, to } = resolveRange(chosen, name, at);
        if (from === null || to === null) return;
        expect(from).toBeLessThan(to);
        // Where the clocks skip midnight, the day begins at one.
        for (const end of [from, to]) expect(['00:00', '01:00']).toContain(toLocal(end, name).time);
      }),
    );
  });

  test('the previous period ends where the range begins, or after the same elapsed time', () => {
    fc.assert(
      fc.property(choice, zone, now, (chosen, name, at) => {
        const range = resolveRange(chosen, name, at);
        const before = comparedRange(chosen, name, at, 'previous');
        if (range.from === null || range.to === null) {
          expect(before).toBeNull();
          return;
        }
        expect(before?.from).toBeLessThan(range.from);
        expect(before?.from).toBeLessThanOrEqual(before?.to ?? Number.NaN);
        expect(before?.to).toBeLessThanOrEqual(range.from);
        if (!isOpen(range, at)) expect(before?.to).toBe(range.from);
      }),
    );
  });

  test('the same period of the year before is that of the API', () => {
    fc.assert(
      fc.property(custom, zone, (chosen, name) => {
        const { from, to } = resolveRange(chosen, name, 0);
        if (from === null || to === null) return;
        const compared = findComparedRange(
          { from, to, period: undefined },
          'previous-year',
          name as TimeZone,
          to,
        );
        expect(comparedRange(chosen, name, Date.UTC(2035, 0, 1), 'previous-year')).toEqual(
          compared.ok ? { from: compared.value.from, to: compared.value.to } : null,
        );
      }),
    );
  });

  test('the previous period has the same number of local days', () => {
    fc.assert(
      fc.property(custom, zone, (chosen, name) => {
        const at = Date.UTC(2035, 0, 1);
        const range = resolveRange(chosen, name, at);
        const before = comparedRange(chosen, name, at, 'previous');
        const days = (one: { from: number | null; to: number | null } | null): number =>
          daysBetween(toLocal(one?.from ?? 0, name).day, toLocal(one?.to ?? 0, name).day);
        expect(days(before)).toBe(days(range));
      }),
    );
  });
});

describe('on a Sunday afternoon after the change to summer time in Berlin', () => {
  const name = 'Europe/Berlin';
  const at = Date.parse('2026-03-29T13:30:00Z');

  test.each([
    ['today', '2026-03-29 00:00 to 2026-03-30 00:00', '2026-03-28 00:00 to 2026-03-28 15:30'],
    ['yesterday', '2026-03-28 00:00 to 2026-03-29 00:00', '2026-03-27 00:00 to 2026-03-28 00:00'],
    ['7d', '2026-03-23 00:00 to 2026-03-30 00:00', '2026-03-16 00:00 to 2026-03-22 15:30'],
    ['30d', '2026-02-28 00:00 to 2026-03-30 00:00', '2026-01-29 00:00 to 2026-02-27 15:30'],
    ['90d', '2025-12-30 00:00 to 2026-03-30 00:00', '2025-10-01 00:00 to 2025-12-29 15:30'],
    // February 2026 has no 29th: the previous period cannot be longer than the month.
    ['month', '2026-03-01 00:00 to 2026-03-30 00:00', '2026-02-01 00:00 to 2026-03-01 00:00'],
    ['last-month', '2026-02-01 00:00 to 2026-03-01 00:00', '2026-01-01 00:00 to 2026-02-01 00:00'],
    ['year', '2026-01-01 00:00 to 2026-03-30 00:00', '2025-01-01 00:00 to 2025-03-29 15:30'],
    ['12m', '2025-04-01 00:00 to 2026-03-30 00:00', '2024-04-01 00:00 to 2025-03-29 15:30'],
    ['all', '… to …', 'none'],
  ] as const)('%s is %s, before it %s', (one, range, before) => {
    expect(shown(resolveRange({ preset: one }, name, at), name)).toBe(range);
    expect(shown(comparedRange({ preset: one }, name, at, 'previous'), name)).toBe(before);
  });

  test.each([
    ['today', '2025-03-29 00:00 to 2025-03-29 15:30'],
    ['yesterday', '2025-03-28 00:00 to 2025-03-29 00:00'],
    ['30d', '2025-02-28 00:00 to 2025-03-29 15:30'],
    ['last-month', '2025-02-01 00:00 to 2025-03-01 00:00'],
    ['12m', '2024-04-01 00:00 to 2025-03-29 15:30'],
    ['all', 'none'],
  ] as const)('%s was a year before %s', (one, before) => {
    expect(shown(comparedRange({ preset: one }, name, at, 'previous-year'), name)).toBe(before);
  });

  test('today is 23 hours long', () => {
    const { from, to } = resolveRange({ preset: 'today' }, name, at);
    expect(((to ?? 0) - (from ?? 0)) / 3_600_000).toBe(23);
  });
});

test('a range with times ends at its minute, and the previous period is equally long', () => {
  const chosen = { from: '2026-06-01T09:00', to: '2026-06-01T17:30' };
  const at = Date.parse('2026-07-01T00:00:00Z');
  expect(shown(resolveRange(chosen, 'UTC', at), 'UTC')).toBe('2026-06-01 09:00 to 2026-06-01 17:30');
  expect(shown(comparedRange(chosen, 'UTC', at, 'previous'), 'UTC')).toBe(
    '2026-06-01 00:30 to 2026-06-01 09:00',
  );
  const during = Date.parse('2026-06-01T10:00:00Z');
  expect(shown(comparedRange(chosen, 'UTC', during, 'previous'), 'UTC')).toBe(
    '2026-06-01 00:30 to 2026-06-01 01:30',
  );
});

test('a range is open while new queries can fall into it', () => {
  expect(isOpen({ from: null, to: null }, 5)).toBe(true);
  expect(isOpen({ from: 0, to: 6 }, 5)).toBe(true);
  expect(isOpen({ from: 0, to: 5 }, 5)).toBe(false);
});
