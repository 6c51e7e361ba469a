import { describe, expect, test } from 'vitest';
import {
  BOUND_PATTERN,
  parseBound,
  parseTimestamp,
  TIMESTAMP_PATTERN,
} from '../../../src/domain/time/date-time.js';
import { words } from '../../support/words.js';

const utc = (text: string) => Date.parse(text);

describe('a bound', () => {
  test.each([
    ['2026-02-30', /February of that year has the days 01 to 28/],
    ['2024-02-30', /01 to 29/],
    ['1900-02-29', /01 to 28/],
    ['2026-13-01', /months go from 01 to 12/],
    ['2026-00-01', /months go from 01 to 12/],
    ['2026-01-00', /01 to 31/],
    ['2026-04-31', /April of that year has the days 01 to 30/],
    ['2026-01-01T24:00:00Z', /hours go from 00 to 23/],
    ['2026-01-01T23:60:00Z', /minutes go from 00 to 59/],
    ['2026-01-01T23:59:61Z', /seconds go from 00 to 59/],
    ['2026-01-01T12:00:60Z', /only as a leap second/],
    ['2026-01-01T23:59:60+01:00', /only as a leap second/],
    ['2026-01-01T00:00:00+24:00', /impossible offset/],
    ['2026-01-01T00:00:00-00:60', /impossible offset/],
    ['', /^is empty/],
    ['2026-01-01T00:00:00 05:30', /send it as %2B/],
    ['2026-01-01T00:00 05:30', /send it as %2B/],
    ['2026-01-01 00:00:00 05:30', /send it as %2B/],
    ['0000-00-00', /months go from 01 to 12/],
    ['2026-01-01T00:00:00 0530', /send it as %2B/],
    ['20260131', /neither a date/],
  ])('%j is refused and says why', (text, problem) => {
    const result = parseBound(text);
    expect(result.ok ? [] : result.problems).toEqual([expect.stringMatching(problem)]);
  });

  test.each([
    ...words(`
      2026-W05 2026-W05-1 2026-031 2026 2026-01 2026-1-1 2026-01-01T00 2026-01-01T00:00:00.Z
      2026-01-01T00:00:00,5Z 2026-01-01T00:00:00+0530 2026-01-01T00:00:00+05 2026-01-01Z +002026-01-01
      -000001-01-01 ２０２６-01-01 now 1767225600000 31-01-2026 2026/01/31 2026-01-31T12:00.5Z 2026-01-31T12Z
      2026-01-31T 2026-01-31T12:00:00−05:00 2026-01-31T12:00:00[Europe/Berlin] 12026-01-31 2026-01-31T12:00:00Zulu
      2026-01-31,2026-02-01 2026-01-31/2026-02-01 ٢٠٢٦-01-31 null
    `),
    'x2026-01-01T00:00:00 05:30',
    '2026-01-01T00:00:00 05:30x',
    '2026-01-01T00:0 05:30',
    '2026-01-01  00:00:00',
    '2026-01-01\t00:00:00',
    '2026-01-01\n',
    '2026-01-01\0',
    '2026-01-01 ',
    ' 2026-01-01',
  ])('%j is refused as neither a date nor a date-time', (text) => {
    expect(parseBound(text)).toEqual({ ok: false, problems: [expect.stringMatching(/neither/)] });
  });

  test.each([
    ['2026-01-31', utc('2026-01-31T00:00:00Z')],
    ['2026-01-31T23:59', utc('2026-01-31T23:59:00Z')],
    ['2026-01-31T23:59Z', utc('2026-01-31T23:59:00Z')],
    ['2026-01-31T23:59+05:30', utc('2026-01-31T18:29:00Z')],
    ['2026-01-31T23:59:59', utc('2026-01-31T23:59:59Z')],
    ['2026-01-31t23:59:59z', utc('2026-01-31T23:59:59Z')],
    ['2026-01-31T23:59:59.123456+05:30', utc('2026-01-31T18:29:59.123Z')],
    ['2026-01-31T23:59:59.9999999999999999999999Z', utc('2026-01-31T23:59:59.999Z')],
    ['2026-01-31T23:59:59.1Z', utc('2026-01-31T23:59:59.100Z')],
    // As Python's str() of a datetime.
    ['2026-01-31 23:59:59.123456+05:30', utc('2026-01-31T18:29:59.123Z')],
    ['2026-01-31 23:59:59', utc('2026-01-31T23:59:59Z')],
    ['1969-12-31T23:59:59.9999Z', -1],
    ['2016-12-31T23:59:60Z', utc('2017-01-01T00:00:00Z')],
    ['2016-12-31T18:59:60.25-05:00', utc('2017-01-01T00:00:00.250Z')],
    ['2026-01-31T23:59:59-00:00', utc('2026-01-31T23:59:59Z')],
    ['2024-02-29', utc('2024-02-29')],
    ['2000-02-29', utc('2000-02-29')],
    ['0000-01-01', -62_167_219_200_000],
    ['0000-02-29', -62_162_121_600_000],
    ['0099-12-31', utc('0099-12-31')],
    ['9999-12-31T23:59:59.999Z', utc('9999-12-31T23:59:59.999Z')],
    ['9999-12-31T23:59:60Z', 253_402_300_800_000],
  ])('%j is %d', (text, expected) => {
    expect(parseBound(text)).toEqual({ ok: true, value: expected });
  });
});

describe('a recorded time', () => {
  test.each([
    ['2026-01-31', /has no time/],
    ['2026-01-31T10:00', /has no seconds/],
    ['2026-01-31T10:00Z', /has no seconds/],
    ['2026-01-31T10:00:00', /has no offset/],
    ['', /not a date-time of RFC 3339/],
    ['yesterday', /not a date-time of RFC 3339/],
    ['2026-02-30T10:00:00Z', /01 to 28/],
  ])('%j is refused and says why', (text, problem) => {
    const result = parseTimestamp(text);
    expect(result.ok ? [] : result.problems).toEqual([expect.stringMatching(problem)]);
  });
});

test.each([
  ['2026-01-31', true, false],
  ['2026-01-31T10:00+05:30', true, false],
  ['2026-01-31T10:00:00.5', true, false],
  ['2026-01-31t10:00:00z', true, true],
  ['2026-01-31T10:00:00.25-05:30', true, true],
  ['2026-1-31', false, false],
  ['2026-01-31T10:00:00Z ', false, false],
  ['', false, false],
])('%j matches the published pattern of bounds: %s; of recorded times: %s', (text, isBound, isTimestamp) => {
  expect(new RegExp(BOUND_PATTERN).test(text)).toBe(isBound);
  expect(new RegExp(TIMESTAMP_PATTERN).test(text)).toBe(isTimestamp);
});
