import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listMoments, offsetAt, type TimeZone } from '../../../src/domain/time/time-zone.js';
import { LocalClock, parseTimeInFormat, TIME_FORMATS } from '../../../src/domain/time/timestamp-formats.js';

const noon = Date.UTC(2026, 0, 31, 12);

describe('parseTimeInFormat refuses', () => {
  test.each([
    ['rfc3339', noon, /a number: seconds \(s\) or milliseconds \(ms\)/],
    ['rfc3339', '2026-01-31 12:00:00', /has no offset; send it in full/],
    ['rfc3339', true, /not a string/],
    ['utc', '2026-01-31', /has no time/],
    ['utc', '2026-02-30 12:00:00', /February/],
    ['utc', '31/01/2026 12:00:00', /not a date-time/],
    ['s', noon, /milliseconds \(--time-format ms\)\?/],
    ['ms', noon / 1000, /seconds \(--time-format s\)\?/],
    ['ms', 253_402_300_800_000, /after the year 9999/],
    ['s', '2026-01-31T12:00:00Z', /not a number of seconds/],
    ['s', -1, /not a number of seconds/],
    ['s', '', /not a number of seconds/],
    ['s', [noon / 1000], /it is not a number of seconds/],
    ['s', 100_000_000_000, /too large for seconds/],
    ['utc', 'x2026-01-31 12:00:00', /not a date-time/],
    ['utc', '2026-01-31 12:00:00 or so', /not a date-time/],
    ['ms', '1e12', /not a number of milliseconds/],
    ['ms', { at: noon }, /it is not a number of milliseconds/],
  ] as const)('%s %j', (format, value, problem) => {
    const time = parseTimeInFormat(value, format);
    expect(time.ok ? time.value : time.problems.join()).toEqual(expect.stringMatching(problem));
  });
});

describe('with a time zone, times without an offset', () => {
  const read = (text: string, zone = 'Europe/Berlin') => {
    const clock = new LocalClock(zone as TimeZone);
    const time = parseTimeInFormat(text, 'rfc3339', clock);
    return [time.ok ? new Date(time.value).toISOString() : time.problems.join(), clock.shownTwice];
  };

  test('that a clock change skips are refused, and those that it repeats are the earlier ones', () => {
    const skipped =
      '"2026-03-29 02:30:00" does not exist in Europe/Berlin, whose clock was set forward then; is it another zone?';
    expect(read('2026-03-29 02:30:00')).toEqual([skipped, undefined]);
    expect(read('2026-03-29T03:00:00')).toEqual(['2026-03-29T01:00:00.000Z', undefined]);
    expect(read('2026-10-25 02:30:00')).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25 02:30:00']);
    expect(read('2026-10-25 02:30:00+01')).toEqual(['2026-10-25T01:30:00.000Z', undefined]);
    expect(read('2026-02-30 02:30:00')[0]).toContain('February');
  });

  test('are those of its clock, and with an offset those of the offset', () => {
    const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC');
    const times = fc.integer({ min: 0, max: Date.UTC(2030, 0) }).map((ms) => ms - (ms % 1000));
    const property = fc.property(zones, times, (zone, timeMs) => {
      const local = new Date(timeMs + offsetAt(timeMs, zone as TimeZone)).toISOString().slice(0, -1);
      const [found, twice] = read(local.replace('T', ' '), zone);
      const moments = listMoments(Date.parse(`${local}Z`), zone as TimeZone);
      expect(moments).toContain(timeMs);
      expect(found).toBe(new Date(moments[0] ?? 0).toISOString());
      expect(twice !== undefined).toBe(moments.length > 1);
      expect(read(new Date(timeMs).toISOString(), zone)).toEqual([new Date(timeMs).toISOString(), undefined]);
    });
    fc.assert(property);
  });
});

describe('parseTimeInFormat reads', () => {
  test.each([
    ['rfc3339', '2026-01-31T13:00:00+01:00', noon],
    ['utc', '2026-01-31T13:00:00+01:00', noon],
    ['utc', '2026-01-31 12:00:00', noon],
    ['utc', '2026-01-31 12:00:00.123456', noon + 123],
    ['utc', '2026-01-31 12:00:00 UTC', noon],
    ['utc', '2026-01-31 12:00:00Z', noon],
    ['utc', '2026-01-31 13:00:00+01', noon],
    ['utc', '2026-01-31 06:30:00-0530', noon],
    ['s', noon / 1000, noon],
    ['s', `${noon / 1000}.0019`, noon + 1],
    ['s', noon / 1000 + 0.5, noon + 500],
    ['ms', noon, noon],
    ['ms', 100_000_000_000, 100_000_000_000],
    ['s', 99_999_999_999, 99_999_999_999_000],
    ['ms', `${noon}.9`, noon],
  ] as const)('%s %j', (format, value, timeMs) => {
    expect(parseTimeInFormat(value, format)).toEqual({ ok: true, value: timeMs });
  });
});

test('the same time in any format parses to the same value', () => {
  // Milliseconds are told from seconds by their size, from March 1973 on.
  const times = fc.integer({ min: 100_000_000_000, max: 4_000_000_000_000 });
  fc.assert(
    fc.property(times, fc.constantFrom(...TIME_FORMATS), (timeMs, format) => {
      const iso = new Date(timeMs).toISOString();
      const seconds = `${Math.floor(timeMs / 1000)}.${String(timeMs % 1000).padStart(3, '0')}`;
      const written = { rfc3339: iso, utc: iso.replace('T', ' ').slice(0, -1), s: seconds, ms: timeMs };
      expect(parseTimeInFormat(written[format], format)).toEqual({ ok: true, value: timeMs });
    }),
  );
});
