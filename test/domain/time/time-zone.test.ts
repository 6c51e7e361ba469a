import fc from 'fast-check';
import moment from 'moment-timezone';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../../src/domain/time/duration.js';
import { listOffsetPeriods, type TimeZone } from '../../../src/domain/time/time-zone.js';
import { otherOffsetAt } from '../../support/local-calendar.js';

const zones = fc.constantFrom(...(moment.tz.names() as TimeZone[]));
const moments = fc.integer({ min: Date.UTC(1860, 0), max: Date.UTC(2060, 0) });

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
          expect(one.offsetMs).toBe(otherOffsetAt(one.from, zone));
          expect(one.offsetMs).toBe(otherOffsetAt(one.to - 1, zone));
          if (at > 0) expect(one.offsetMs).not.toBe(periods[at - 1]?.offsetMs);
        }
      }),
      { numRuns: 500 },
    );
  });
});
