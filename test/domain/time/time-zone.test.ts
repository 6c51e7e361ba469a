import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../../src/domain/time/duration.js';
import { listOffsetPeriods, type TimeZone } from '../../../src/domain/time/time-zone.js';

const names = ['Europe/Berlin', 'America/Juneau', 'Africa/Casablanca', 'Asia/Kathmandu', 'UTC'];
const zones = fc.constantFrom(...(names as TimeZone[]));
const moments = fc.integer({ min: Date.UTC(1860, 0), max: Date.UTC(2060, 0) });

function offsetAt(timeMs: number, zone: TimeZone): number {
  return Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6;
}

describe('the periods of equal offset in a zone', () => {
  test('cover a range without gaps, with the offsets of an independent library', () => {
    const length = fc.oneof(fc.nat(2 * dayMs), fc.nat(900 * dayMs), fc.nat(9000 * dayMs));
    fc.assert(
      fc.property(zones, moments, length, (zone, from, lengthMs) => {
        const range = { from, to: from + lengthMs };
        const periods = [...listOffsetPeriods(zone, range)];
        expect(periods.map((one) => one.from)).toEqual(
          lengthMs === 0 ? [] : [from, ...periods.slice(0, -1).map((one) => one.to)],
        );
        if (lengthMs > 0) expect(periods.at(-1)?.to).toBe(range.to);
        for (const [at, one] of periods.entries()) {
          expect(offsetAt(one.from, zone)).toBe(one.offsetMs);
          expect(offsetAt(one.to - 1, zone)).toBe(one.offsetMs);
          if (at > 0) expect(one.offsetMs).not.toBe(periods[at - 1]?.offsetMs);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('are the same after they were dropped from the cache', () => {
    const range = { from: Date.UTC(1990, 0), to: Date.UTC(2031, 0) };
    const asked = Intl.supportedValuesOf('timeZone').filter((_, at) => at % 12 === 0) as TimeZone[];
    const all = (): number[] => asked.map((zone) => [...listOffsetPeriods(zone, range)].length);
    const first = all();
    expect(first.reduce((sum, one) => sum + one)).toBeGreaterThan(1_000);
    expect(all()).toEqual(first);
  });
});
