import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { addDays } from '../../../dashboard/src/time/calendar.js';
import {
  allZones,
  browserZone,
  isZone,
  startOfDay,
  toInstant,
  toLocal,
  zoneOffset,
} from '../../../dashboard/src/time/zone.js';
import { fromLocal, type TimeZone } from '../../../src/domain/time/time-zone.js';
import { randomCases } from '../../support/volume.js';

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  // Clocks change at midnight, which is skipped or occurs twice.
  'America/Havana',
  'America/Sao_Paulo',
  'Africa/Cairo',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Pacific/Apia',
  'America/St_Johns',
] as const;

const zone = fc.constantFrom(...ZONES);
const day = fc
  .integer({ min: Date.UTC(1990, 0, 1) / 86_400_000, max: Date.UTC(2035, 0, 1) / 86_400_000 })
  .map((number) => new Date(number * 86_400_000).toISOString().slice(0, 10));
const time = fc
  .integer({ min: 0, max: 24 * 60 - 1 })
  .map((minute) => new Date(minute * 60_000).toISOString().slice(11, 16));

describe('a zone', () => {
  test.each(['', 'Europe/Nowhere', '+02:00', '-05', '2', '../etc', 'Europe/Berlin ', '__proto__'])(
    'is not %j',
    (name) => {
      expect(isZone(name)).toBe(false);
    },
  );

  test('is valid if it can be selected, and so is each older name', () => {
    expect(allZones()).toContain('UTC');
    expect(allZones()).toContain('Europe/Berlin');
    expect(allZones().filter((name) => !isZone(name))).toEqual([]);
    expect(isZone('Asia/Calcutta')).toBe(true);
    expect(allZones()).toContain('Asia/Kolkata');
    expect(allZones()).not.toContain('Asia/Calcutta');
    expect(isZone(browserZone())).toBe(true);
  });
});

describe('an independent library agrees on', () => {
  test('the first instant of any day', () => {
    fc.assert(
      fc.property(day, zone, (text, name) => {
        const { epochMilliseconds } = Temporal.PlainDate.from(text).toZonedDateTime(name);
        expect(startOfDay(text, name)).toBe(epochMilliseconds);
      }),
      { numRuns: randomCases(5000) },
    );
  });

  test('the instant of any local time, including clock changes', () => {
    fc.assert(
      fc.property(day, time, zone, (text, at, name) => {
        const local = Temporal.PlainDateTime.from(`${text}T${at}`);
        const exact = local.toZonedDateTime(name, { disambiguation: 'earlier' });
        const isSkipped = !exact.toPlainDateTime().equals(local);
        const expected = isSkipped ? exact.getTimeZoneTransition('next') : exact;
        expect(toInstant({ day: text, time: at }, name)).toBe(expected?.epochMilliseconds);
      }),
      { numRuns: randomCases(5000) },
    );
  });

  test('the local time of any instant', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000_000_000_000 }), zone, (at, name) => {
        const there = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(name);
        expect(toLocal(at, name)).toEqual({
          day: there.toPlainDate().toString(),
          time: there.toPlainTime().toString().slice(0, 5),
        });
        expect(zoneOffset(at, name)).toBe(there.offsetNanoseconds / 1e6);
      }),
      { numRuns: randomCases(2000) },
    );
  });
});

test('the server has the same instant for any local time around clock changes', () => {
  const change = fc.tuple(zone, fc.integer({ min: 0, max: 2_000_000_000_000 })).map(([name, after]) => {
    const start = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(name);
    return { name, at: start.getTimeZoneTransition('next') ?? start };
  });
  fc.assert(
    fc.property(change, fc.integer({ min: -180, max: 180 }), ({ name, at }, minutes) => {
      const local = at.toPlainDateTime().add({ minutes }).round('minute');
      const [text = '', clock = ''] = local.toString({ smallestUnit: 'minute' }).split('T');
      const localMs = Date.parse(`${text}T${clock}Z`);
      expect(toInstant({ day: text, time: clock }, name)).toBe(fromLocal(localMs, name as TimeZone));
    }),
    { numRuns: randomCases(2000) },
  );
});

describe('days with clock changes', () => {
  test.each([
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['America/New_York', '2026-03-08', 23],
    ['America/Havana', '2026-03-08', 23],
    ['America/Havana', '2026-11-01', 25],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    ['Africa/Cairo', '2026-04-24', 23],
    ['Asia/Beirut', '2026-03-29', 23],
    ['Pacific/Apia', '2011-12-30', 0],
    // The clocks skipped from 23:30 to 00:30.
    ['America/Toronto', '1919-03-30', 23.5],
    ['America/Toronto', '1919-03-31', 23.5],
    ['UTC', '2026-03-29', 24],
  ])('in %s, %s has %d hours', (name, text, hours) => {
    expect((startOfDay(addDays(text, 1), name) - startOfDay(text, name)) / 3_600_000).toBe(hours);
  });

  test('an ambiguous time is the first instant, and a skipped time is the change', () => {
    const iso = (local: { day: string; time: string }): string =>
      new Date(toInstant(local, 'Europe/Berlin')).toISOString();
    expect(iso({ day: '2026-10-25', time: '02:30' })).toBe('2026-10-25T00:30:00.000Z');
    expect(iso({ day: '2026-03-29', time: '02:30' })).toBe('2026-03-29T01:00:00.000Z');
  });
});
