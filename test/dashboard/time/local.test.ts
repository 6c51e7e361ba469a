/** Local date-times of the server, compared with an independent library. */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { daysOf, type LocalSpan, offsetName, wallMs } from '../../../dashboard/src/time/local.js';

/** In some of them, a clock change skips midnight. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Asia/Beirut',
  'America/Havana',
  'Asia/Kathmandu',
  'Pacific/Apia',
] as const;

/** From the start of a day to the start of a later one, as the server writes them. */
function spanOf(first: Temporal.PlainDate, end: Temporal.PlainDate, zone: string): LocalSpan {
  const start = (day: Temporal.PlainDate) =>
    day.toZonedDateTime(zone).toString({ timeZoneName: 'never', fractionalSecondDigits: 3 });
  return { start: start(first), end: start(end) };
}

describe('the days of a span', () => {
  test('are those that it was made of, also where a clock change skips a midnight', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: 0, max: 5_000 }),
        fc.integer({ min: 1, max: 40 }),
        (zone, since, length) => {
          const first = Temporal.PlainDate.from('2015-01-01').add({ days: since });
          const end = first.add({ days: length });
          expect(daysOf(spanOf(first, end, zone))).toEqual({
            from: first.toString(),
            to: end.subtract({ days: 1 }).toString(),
          });
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['2026-03-01T00:00:00.000+02:00', '2026-03-29T01:00:00.000+03:00', '2026-03-28'],
    ['2026-10-01T00:00:00.000+02:00', '2026-11-01T00:00:00.000+01:00', '2026-10-31'],
    ['2026-06-01T00:00:00.000Z', '2026-06-03T14:00:00.000Z', '2026-06-03'],
  ])('from %s to %s end with %s', (start, end, last) => {
    expect(daysOf({ start, end }).to).toBe(last);
  });
});

test('the time on the clock does not depend on the rules of the browser', () => {
  expect(wallMs('2026-11-05T00:00:00.000-07:00')).toBe(Date.parse('2026-11-05T00:00Z'));
});

test.each([
  ['2026-06-03T14:00:00.000Z', 'GMT'],
  ['2026-06-03T14:00:00.000+00:00', 'GMT'],
  ['2026-06-03T14:00:00.000+05:45', 'GMT+5:45'],
  ['2026-06-03T14:00:00.000-07:00', 'GMT-7'],
])('the offset of %s is %s', (local, name) => {
  expect(offsetName(local)).toBe(name);
});
