/** Our reader of dates against two that others wrote, where all of them take a text: Temporal, and Luxon. */
import { DateTime } from 'luxon';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { parseDateRange } from '../../src/domain/counting/date-range.js';
import {
  BOUND_PATTERN,
  parseBound,
  parseTimestamp,
  TIMESTAMP_PATTERN,
} from '../../src/domain/time/date-time.js';
import { parseTimeInFormat } from '../../src/domain/time/timestamp-formats.js';
import { newSeed, randomCases } from '../support/volume.js';
import { Random } from './random.js';

const seed = newSeed('fuzz/dates');
const cases = randomCases(100_000);
const isBound = new RegExp(BOUND_PATTERN);
const SECOND_60 = /:60(?=[.Zz+-]|$)/;
const isTimestamp = new RegExp(TIMESTAMP_PATTERN);

/** A text that is a date-time or nearly one: each part is usual, on an edge, or out of its bounds. */
function text(random: Random, separators: readonly string[] = ['T', 'T', 'T', 't']): string {
  const date = [
    random.pick([digits(random.int(10_000), 4), '2024', '2023', '1900', '2000', '0000', '9999', '1970']),
    random.pick([digits(1 + random.int(12), 2), '02', '12', '01', '00', '13']),
    random.pick([digits(1 + random.int(31), 2), '28', '29', '30', '31', '00', '32']),
  ].join('-');
  const hours = random.pick([digits(random.int(24), 2), '23', '00', '24']);
  const minutes = random.pick([digits(random.int(60), 2), '59', '60']);
  const seconds = random.pick([digits(random.int(60), 2), digits(random.int(60), 2), '59', '60', '61']);
  const fraction = random.oneIn(2)
    ? `.${digits(random.int(1_000_000_000), 9).slice(0, 1 + random.int(9))}`
    : '';
  const time = `${hours}:${minutes}${random.oneIn(6) ? '' : `:${seconds}${fraction}`}`;
  const offset = random.pick([
    'Z',
    'z',
    '',
    `${random.pick(['+', '-'])}${digits(random.int(25), 2)}:${digits(random.int(61), 2)}`,
    '+00:00',
    '-00:00',
  ]);
  const all = random.oneIn(8) ? date : `${date}${random.pick(separators)}${time}${offset}`;
  if (!random.oneIn(5)) return all;
  const at = random.int(all.length);
  return `${all.slice(0, at)}${random.pick(['', ' ', '0', '-', ':', '.', '+', 'Z', '٣', '\n'])}${all.slice(at + random.int(2))}`;
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, '0');
}

/** What Temporal reads, of a date alone as its start in UTC; undefined where it takes none of that. It knows 9 digits of a second at most. */
function byTemporal(text: string): number | undefined {
  const one = text.replace(/(\.\d{9})\d+/, '$1');
  try {
    if (/[Zz]$|[+-]\d\d:\d\d$/.test(one) && /[Tt]/.test(one))
      return Temporal.Instant.from(one).epochMilliseconds;
    return Temporal.PlainDateTime.from(one, { overflow: 'reject' }).toZonedDateTime('UTC').epochMilliseconds;
  } catch {
    return undefined;
  }
}

const momentOf = (result: ReturnType<typeof parseBound>): number | undefined =>
  result.ok ? result.value : undefined;

/** Cheaper than `expect`, which takes longer than all that is tested here. */
function requireSame(one: string, found: unknown, expected: unknown): void {
  if (found !== expected) expect([one, found]).toEqual([one, expected]);
}

test('bounds and recorded times are what Temporal reads', () => {
  const random = new Random(seed, 0);
  const seen = { taken: 0, refused: 0, leap: 0 };
  for (let left = cases; left > 0; left--) {
    const one = text(random);
    const found = momentOf(parseBound(one));
    requireSame(one, momentOf(parseTimestamp(one)), isTimestamp.test(one) ? found : undefined);
    seen[found === undefined ? 'refused' : 'taken']++;
    // Temporal takes any second 60 for 59; a leap second is the moment behind that.
    const isLeap = SECOND_60.test(one);
    if (!isBound.test(one)) requireSame(one, found, undefined);
    else if (!isLeap) requireSame(one, found, byTemporal(one));
    else if (found !== undefined) {
      seen.leap++;
      requireSame(one, found, (byTemporal(one) ?? Number.NaN) + 1000);
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(cases / 2000);
});

test('bounds are what Luxon reads', () => {
  const random = new Random(seed, 1);
  const seen = { taken: 0, refused: 0 };
  for (let left = cases / 2; left > 0; left--) {
    const one = text(random);
    // It knows no lower-case offset and no leap second, rounds what is finer than a millisecond, takes the midnight at a
    // day's end for 24:00, and offsets that no clock has.
    if (!isBound.test(one) || SECOND_60.test(one) || /z$|\.\d{4}|[Tt]24:|[+-](2[4-9]:|\d\d:[6-9])/.test(one))
      continue;
    const luxon = DateTime.fromISO(one, { zone: 'utc' });
    requireSame(one, momentOf(parseBound(one)), luxon.isValid ? luxon.toMillis() : undefined);
    seen[luxon.isValid ? 'taken' : 'refused']++;
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(cases / 100);
});

test('times as databases write them are what Luxon reads of SQL', () => {
  const random = new Random(seed, 1);
  let taken = 0;
  for (let left = cases / 4; left > 0; left--) {
    const one = text(random, [' ']);
    const luxon = DateTime.fromSQL(one, { zone: 'utc' });
    const found = momentOf(parseTimeInFormat(one, 'utc'));
    if (found === undefined || !luxon.isValid || /\.\d{4}/.test(one)) continue;
    taken++;
    requireSame(one, found, luxon.toMillis());
  }
  expect(taken).toBeGreaterThan(cases / 100);
});

test('a range is refused where a bound is, or where it goes backwards, and is its two bounds otherwise', () => {
  const random = new Random(seed, 2);
  for (let left = cases / 4; left > 0; left--) {
    const [from, to] = [text(random), text(random)];
    const [first, last] = [momentOf(parseBound(from)), momentOf(parseBound(to))];
    const range = parseDateRange({ from, to });
    const isRight = first !== undefined && last !== undefined && first <= last;
    requireSame(from, range.ok && range.value.from, isRight && first);
    requireSame(to, range.ok && range.value.to, isRight && last);
    const problems = isRight ? 0 : first === undefined && last === undefined ? 2 : 1;
    requireSame(`${from} to ${to}`, range.ok ? 0 : range.problems.length, problems);
  }
});
