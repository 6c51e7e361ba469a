/** The offsets of all zones, compared with other sources than the files that our data are made of. */
import fc from 'fast-check';
import moment from 'moment-timezone';
import { describe, expect, test } from 'vitest';
import { dayMs, eraMs, hourMs, minuteMs, secondMs } from '../../../src/domain/time/duration.js';
import {
  listOffsetPeriods,
  listTimeZones,
  offsetAt,
  parseTimeZone,
  type TimeZone,
} from '../../../src/domain/time/time-zone.js';
import { ZONE_DATA_VERSION } from '../../../src/domain/time/zone-data.js';
import { randomCases } from '../../support/volume.js';

/** All names, by another distribution of the database. */
const names = moment.tz.names() as TimeZone[];

describe('of the facts of 2026', () => {
  // Releases 2026b to 2026f in the file NEWS of the database: https://data.iana.org/time-zones/tzdb/NEWS
  test.each([
    // British Columbia keeps the time of its summer since March 8, Alberta, too.
    ['America/Vancouver', '2025-12-01', -8],
    ['America/Vancouver', '2026-07-01', -7],
    ['America/Vancouver', '2026-11-05', -7],
    ['America/Vancouver', '2040-01-01', -7],
    ['America/Edmonton', '2025-12-01', -7],
    ['America/Edmonton', '2026-11-05', -6],
    ['America/Edmonton', '2040-01-01', -6],
    // Morocco is back at UTC since September 20.
    ['Africa/Casablanca', '2026-09-19', 1],
    ['Africa/Casablanca', '2026-09-21', 0],
    ['Africa/Casablanca', '2026-11-05', 0],
    ['Africa/Casablanca', '2040-07-01', 0],
    // The Northwest Territories and Manitoba follow Alberta. Cuba leaves out one winter.
    ['America/Inuvik', '2026-11-05', -6],
    ['America/Winnipeg', '2026-11-05', -5],
    ['America/Havana', '2026-11-05', -4],
    ['America/Havana', '2027-12-01', -5],
  ])('%s has on %s the offset %d', (name, date, hours) => {
    expect(offsetAt(Date.parse(date), name as TimeZone)).toBe(hours * hourMs);
  });
});

describe('another distribution of the database', () => {
  test('is of the same release', () => {
    expect(ZONE_DATA_VERSION, 'npx tsx scripts/zones.ts updates our data').toBe(moment.tz.dataVersion);
  });

  test('has the same names in the same spelling', () => {
    expect(names.length).toBeGreaterThan(590);
    expect(names.filter((name) => !parseTimeZone(name).ok)).toEqual([]);
    const selectable = listTimeZones();
    expect(selectable.length).toBeGreaterThan(400);
    expect(selectable.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('changes each clock at the same moments', () => {
    // It ends with the changes of 2499.
    const range = { from: Date.UTC(1800, 0), to: Date.UTC(2499, 0) };
    const describeChanges = (periods: readonly { readonly to: number; readonly offsetMs: number }[]) =>
      periods.map(({ to, offsetMs }) => `${offsetMs / secondMs} s until ${to}`);
    for (const name of names) {
      const { untils = [], offsets = [] } = moment.tz.zone(name) ?? {};
      const theirs = offsets
        .map((minutes, at) => ({
          to: Math.min(Number(untils[at]), range.to),
          offsetMs: -Math.round(minutes * 60) * secondMs,
        }))
        .filter(({ offsetMs }, at, all) => offsetMs !== all[at + 1]?.offsetMs);
      const end = theirs.findIndex(({ to }) => to === range.to);
      const expected = describeChanges(theirs.slice(0, end + 1));
      // Comparing texts takes a tenth of the time that comparing objects does.
      const found = describeChanges([...listOffsetPeriods(name, range)]);
      if (found.join() !== expected.join()) expect(found, name).toEqual(expected);
    }
  });
});

test('what happens each year happens again whenever the calendar repeats, until the year 9999', () => {
  const moments = fc.integer({ min: Date.UTC(2100, 0), max: Date.UTC(2499, 0) });
  fc.assert(
    fc.property(fc.constantFrom(...names), moments, fc.integer({ min: 1, max: 19 }), (name, timeMs, eras) => {
      const [early, late] = [timeMs, timeMs + eras * eraMs].map((from) => {
        const [first] = listOffsetPeriods(name, { from, to: from + 366 * dayMs });
        return first && { offsetMs: first.offsetMs, lengthMs: first.to - first.from };
      });
      expect(late).toEqual(early);
    }),
    { numRuns: randomCases(5_000) },
  );
});

/** The offset of a zone by Node. */
function platformOffsets(name: string): (timeMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  return (timeMs) => {
    const text = format.formatToParts(timeMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(text) ?? ['', '+', 0, 0];
    return (sign === '-' ? -1 : 1) * (Number(hours) * hourMs + Number(minutes) * minuteMs);
  };
}

test('Node has the same offsets before the newest changes, whatever the age of its data', () => {
  const moments = fc.array(fc.integer({ min: Date.UTC(1993, 0), max: Date.UTC(2025, 0) }), {
    minLength: 10,
    maxLength: 10,
  });
  for (const name of names) {
    const platform = platformOffsets(name);
    fc.assert(
      fc.property(moments, (all) => {
        for (const timeMs of all) expect(offsetAt(timeMs, name), `${timeMs}`).toBe(platform(timeMs));
      }),
      { numRuns: randomCases(10) },
    );
  }
});
