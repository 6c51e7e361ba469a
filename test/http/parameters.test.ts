import { describe, expect, test } from 'vitest';
import { detailsOf, errorOf, QUERIES, STATS, sharedService, startService } from '../support/http.js';

const NEITHER = 'is neither a date (2026-01-31) nor an ISO 8601 date-time (2026-01-31T23:59:59Z)';
const LEAP = 'has second 60, which exists only as a leap second, at 23:59:60 UTC';
const PLUS = 'has a space where its offset begins: a "+" in a URL means a space, send it as %2B';

/** What is not a bound, and what is said of it after its quoted text. */
const BAD_BOUNDS: [what: string, text: string, problem: string][] = [
  ['February 30', '2026-02-30', 'is not a date: February of that year has the days 01 to 28'],
  [
    'February 29 of a common year',
    '2026-02-29',
    'is not a date: February of that year has the days 01 to 28',
  ],
  ['February 29 of 1900', '1900-02-29', 'is not a date: February of that year has the days 01 to 28'],
  ['February 30 of a leap year', '2024-02-30', 'is not a date: February of that year has the days 01 to 29'],
  ['April 31', '2026-04-31T10:00:00Z', 'is not a date: April of that year has the days 01 to 30'],
  ['day 0', '2026-01-00', 'is not a date: January of that year has the days 01 to 31'],
  ['day 32', '2026-12-32', 'is not a date: December of that year has the days 01 to 31'],
  ['month 0', '2026-00-10', 'is not a date: months go from 01 to 12'],
  ['month 13', '2026-13-01', 'is not a date: months go from 01 to 12'],
  ['hour 24', '2026-01-31T24:00:00Z', 'is not a time: hours go from 00 to 23'],
  ['hour 24 without offset', '2026-01-31T24:00', 'is not a time: hours go from 00 to 23'],
  ['minute 60', '2026-01-31T23:60:00Z', 'is not a time: minutes go from 00 to 59'],
  ['second 61', '2026-01-31T23:59:61Z', 'is not a time: seconds go from 00 to 59'],
  ['second 60 within a day', '2026-01-31T12:00:60Z', LEAP],
  ['second 60 at another minute', '2026-01-31T23:58:60Z', LEAP],
  ['second 60 not at the end of a UTC day', '2026-01-31T23:59:60+01:00', LEAP],
  ['offset of 24 hours', '2026-01-31T12:00:00+24:00', 'has an impossible offset, +24:00'],
  ['offset of 60 minutes', '2026-01-31T12:00:00-05:60', 'has an impossible offset, -05:60'],
  ['basic form', '20260131', NEITHER],
  ['basic form with time', '20260131T120000Z', NEITHER],
  ['week', '2026-W05', NEITHER],
  ['day of a week', '2026-W05-1', NEITHER],
  ['ordinal', '2026-031', NEITHER],
  ['year', '2026', NEITHER],
  ['month', '2026-01', NEITHER],
  ['one digit', '2026-1-31', NEITHER],
  ['other order', '31-01-2026', NEITHER],
  ['slashes', '2026/01/31', NEITHER],
  ['space for T', '2026-01-31 12:00:00', NEITHER],
  ['comma fraction', '2026-01-31T12:00:00,5Z', NEITHER],
  ['dot without digits', '2026-01-31T12:00:00.Z', NEITHER],
  ['fraction of a minute', '2026-01-31T12:00.5Z', NEITHER],
  ['hour only', '2026-01-31T12Z', NEITHER],
  ['T without time', '2026-01-31T', NEITHER],
  ['date with an offset', '2026-01-31Z', NEITHER],
  ['offset without colon', '2026-01-31T12:00:00+0530', NEITHER],
  ['offset of hours', '2026-01-31T12:00:00+05', NEITHER],
  ['offset with a minus sign of typesetters', '2026-01-31T12:00:00−05:00', NEITHER],
  ['name of a zone', '2026-01-31T12:00:00[Europe/Berlin]', NEITHER],
  ['expanded year', '+002026-01-31', NEITHER],
  ['year of five digits', '12026-01-31', NEITHER],
  ['negative year', '-2026-01-31', NEITHER],
  ['more after it', '2026-01-31T12:00:00Zulu', NEITHER],
  ['a space after it', '2026-01-31 ', NEITHER],
  ['a space before it', ' 2026-01-31', NEITHER],
  ['a line end after it', '2026-01-31\n', NEITHER],
  ['a NUL after it', '2026-01-31\0', NEITHER],
  ['two', '2026-01-31,2026-02-01', NEITHER],
  ['an interval', '2026-01-31/2026-02-01', NEITHER],
  ['full-width digits', '２０２６-01-31', NEITHER],
  ['Arabic digits', '٢٠٢٦-01-31', NEITHER],
  ['a word', 'now', NEITHER],
  ['milliseconds', '1769817600000', NEITHER],
  ['null', 'null', NEITHER],
];

const quoted = (text: string) => JSON.stringify(text);
const bound = (text: string, problem: string) => [`dateFrom: ${quoted(text)} ${problem}`];

describe('a bound that is none: 400, whichever bound it is', () => {
  const service = sharedService();
  test.each(BAD_BOUNDS)('%s', async (_what, text, problem) => {
    const { send, calls } = service();
    for (const name of ['dateFrom', 'dateTo']) {
      const answer = await send({ path: `${STATS}?${name}=${encodeURIComponent(text)}` });
      expect([answer.status, errorOf(answer)]).toEqual([400, 'The query string has an invalid parameter.']);
      expect(detailsOf(answer)).toEqual([`${name}: ${quoted(text)} ${problem}`]);
    }
    expect(calls.map(({ method }) => method)).not.toContain('count');
  });
});

const A = 'dateFrom=2026-01-31';
const unknown = (name: string, hint: string) => `${quoted(name)}: is not a parameter here; ${hint}`;
const BOTH = 'there are dateFrom, dateTo';

/** Query strings as sent, and every message that comes back. */
const BAD_QUERY_STRINGS: [queryString: string, details: string[]][] = [
  ['dateFrom=', ['dateFrom: is empty; leave it out or give a date']],
  ['dateFrom', ['dateFrom: is empty; leave it out or give a date']],
  [
    'dateFrom&dateTo=',
    ['dateFrom: is empty; leave it out or give a date', 'dateTo: is empty; leave it out or give a date'],
  ],
  ['dateFrom=2026-01-31T12:00:00+05:30', bound('2026-01-31T12:00:00 05:30', PLUS)],
  ['dateFrom=2026-01-31T12:00+05:30', bound('2026-01-31T12:00 05:30', PLUS)],
  ['dateFrom=2026-01-31T12:00:00%2005:30', bound('2026-01-31T12:00:00 05:30', PLUS)],
  ['dateFrom=%zz', bound('%zz', NEITHER)],
  ['dateFrom=%FF', bound('%FF', NEITHER)],
  ['dateFrom=2026-01-31%', bound('2026-01-31%', NEITHER)],
  ['dateFrom=2026-01-31;dateTo=2026-02-01', bound('2026-01-31;dateTo=2026-02-01', NEITHER)],
  [`dateFrom=${'9'.repeat(100)}`, bound(`${'9'.repeat(40)}…`, NEITHER)],
  [`${A}&${A}`, ['dateFrom: is given 2 times; give it once']],
  [`${A}&dateFrom=&dateFrom=x`, ['dateFrom: is given 3 times; give it once']],
  ['date%46rom=2026-01-31&dateFrom=2026-01-31', ['dateFrom: is given 2 times; give it once']],
  ['dateFrom=x&dateTo=y', [...bound('x', NEITHER), `dateTo: "y" ${NEITHER}`]],
  [
    'dateFrom=2026-02-30&from=1&dateTo=2026-01-01&dateTo=2',
    [
      unknown('from', 'did you mean dateFrom?'),
      'dateTo: is given 2 times; give it once',
      ...bound('2026-02-30', 'is not a date: February of that year has the days 01 to 28'),
    ],
  ],
  ['datefrom=2026-01-31', [unknown('datefrom', 'did you mean dateFrom?')]],
  ['DATETO=2026-01-31', [unknown('DATETO', 'did you mean dateTo?')]],
  ['date_from=2026-01-31', [unknown('date_from', 'did you mean dateFrom?')]],
  ['dateFrom%20=2026-01-31', [unknown('dateFrom ', 'did you mean dateFrom?')]],
  ['from=2026-01-31&startTime=1', [unknown('from', 'did you mean dateFrom?'), unknown('startTime', BOTH)]],
  ['dateFrom[]=2026-01-31', [unknown('dateFrom[]', 'did you mean dateFrom?')]],
  ['__proto__=1', [unknown('__proto__', BOTH)]],
  ['__proto__[dateFrom]=2026-01-31', [unknown('__proto__[dateFrom]', BOTH)]],
  ['constructor=1', [unknown('constructor', BOTH)]],
  ['toString=1', [unknown('toString', BOTH)]],
  ['=1', [unknown('', BOTH)]],
  ['%zz', [unknown('%zz', BOTH)]],
  [`${A}&interval=day`, [unknown('interval', BOTH)]],
  [`${'x'.repeat(100)}=1`, [unknown(`${'x'.repeat(40)}…`, BOTH)]],
  [
    'dateFrom=2026-02-01&dateTo=2026-01-31',
    ['dateFrom: is later than dateTo; a range goes from the earlier time to the later'],
  ],
  [
    'dateFrom=2026-01-31T00:00:00.001Z&dateTo=2026-01-31',
    ['dateFrom: is later than dateTo; a range goes from the earlier time to the later'],
  ],
  [
    'dateFrom=2026-01-31T00:00:00Z&dateTo=2026-01-31T00:59:59%2B01:00',
    ['dateFrom: is later than dateTo; a range goes from the earlier time to the later'],
  ],
];

describe('a query string with something wrong: a message for each thing', () => {
  const service = sharedService();
  test.each(BAD_QUERY_STRINGS)('?%s', async (queryString, details) => {
    const { send, calls } = service();
    const answer = await send({ path: `${STATS}?${queryString}` });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)).toEqual(details);
    expect((await send({ method: 'HEAD', path: `${STATS}?${queryString}` })).status).toBe(400);
    expect(calls.map(({ method }) => method)).not.toContain('count');
  });

  test.each([
    ['?dateFrom=2026-01-31', ['"dateFrom": is not a parameter here; there is none']],
    [
      '?a=1&b=2&a=3',
      ['"a": is not a parameter here; there is none', '"b": is not a parameter here; there is none'],
    ],
  ])('recording takes none: %s', async (queryString, details) => {
    const { send, store } = service();
    const body = '{"id":"a","caller":"web"}';
    const headers = { 'content-type': 'application/json' };
    const answer = await send({ method: 'POST', path: QUERIES + queryString, headers, body });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)).toEqual(details);
    expect((await store.verify()).queries).toBe(0);
  });
});

test.each([
  '?',
  '?&',
  '?&&',
  '#dateFrom=x',
  '?dateFrom=2026-01-31&dateTo=2026-01-31',
  '?dateFrom=2026-01-31&dateTo=2026-01-31T01:00%2B01:00',
])('nothing is wrong with %s', async (end) => {
  const { send, record } = await startService();
  await record({ id: 'a', caller: 'web', occurredAt: '2026-01-31T00:00:00Z' });
  const answer = await send({ path: STATS + end });
  const counted = end.includes('dateTo') ? 0 : 1;
  expect([answer.status, answer.text]).toEqual([
    200,
    `{"web":${counted},"api":0,"other":0,"total":${counted}}`,
  ]);
});
