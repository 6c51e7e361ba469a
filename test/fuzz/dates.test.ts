/** Compares our date parsers with those of Temporal and Luxon. */
import { DateTime } from 'luxon';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
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

/** A date-time, or almost one: each part is usual, at a limit or out of range. */
function randomText(random: Random, separators: readonly string[] = ['T', 'T', 'T', 't']): string {
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

/** The time that Temporal parses, with a date as its start in UTC; undefined if it refuses the text. It takes 9 digits of a second. */
function parseWithTemporal(text: string): number | undefined {
  const one = text.replace(/(\.\d{9})\d+/, '$1');
  try {
    if (/[Zz]$|[+-]\d\d:\d\d$/.test(one) && /[Tt ]/.test(one))
      return Temporal.Instant.from(one).epochMilliseconds;
    return Temporal.PlainDateTime.from(one, { overflow: 'reject' }).toZonedDateTime('UTC').epochMilliseconds;
  } catch {
    return undefined;
  }
}

const timeOf = (result: ReturnType<typeof parseBound>): number | undefined =>
  result.ok ? result.value : undefined;

/** Faster than `expect`, which would take most of the time of this file. */
function requireSame(one: string, found: unknown, expected: unknown): void {
  if (found !== expected) expect([one, found]).toEqual([one, expected]);
}

test('bounds and recorded times are parsed as by Temporal', () => {
  const random = new Random(seed, 0);
  const seen = { accepted: 0, refused: 0, leap: 0 };
  for (let left = cases; left > 0; left--) {
    const one = randomText(random);
    const found = timeOf(parseBound(one));
    requireSame(one, timeOf(parseTimestamp(one)), isTimestamp.test(one) ? found : undefined);
    seen[found === undefined ? 'refused' : 'accepted']++;
    // Temporal reads second 60 as 59; we read a leap second as the start of the next minute.
    const isLeap = SECOND_60.test(one);
    if (!isBound.test(one)) requireSame(one, found, undefined);
    else if (!isLeap) requireSame(one, found, parseWithTemporal(one));
    else if (found !== undefined) {
      seen.leap++;
      requireSame(one, found, (parseWithTemporal(one) ?? Number.NaN) + 1000);
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(cases / 2000);
});

test('times as databases write them are parsed as by Luxon', () => {
  const random = new Random(seed, 1);
  let accepted = 0;
  for (let left = cases / 2; left > 0; left--) {
    const one = randomText(random, [' ']);
    const luxon = DateTime.fromSQL(one, { zone: 'utc' });
    const found = timeOf(parseTimeInFormat(one, 'utc'));
    if (found === undefined || !luxon.isValid || /\.\d{4}/.test(one)) continue;
    accepted++;
    requireSame(one, found, luxon.toMillis());
  }
  expect(accepted).toBeGreaterThan(cases / 100);
});
