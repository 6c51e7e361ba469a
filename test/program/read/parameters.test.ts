import { describe, expect, test } from 'vitest';
import { detailsOf, errorOf, QUERIES, STATS, sharedService } from '../../support/http/http.js';

const NEITHER = 'is neither a date (2026-01-31) nor an ISO 8601 date-time (2026-01-31T23:59:59Z)';
const PLUS = 'has a space where its offset begins: a "+" in a URL means a space, send it as %2B';

/** Invalid bounds, and the error message that follows the quoted text. `test/domain/time/date-time.test.ts` has more. */
const BAD_BOUNDS: [what: string, text: string, problem: string][] = [
  ['February 30', '2026-02-30', 'is not a date: February of that year has the days 01 to 28'],
  ['a trailing NUL', '2026-01-31\0', NEITHER],
  ['full-width digits', '２０２６-01-31', NEITHER],
];

const quoted = (text: string) => JSON.stringify(text);
const bound = (text: string, problem: string) => [`dateFrom: ${quoted(text)} ${problem}`];

describe('an invalid bound returns 400:', () => {
  const service = sharedService();
  test.each(BAD_BOUNDS)('%s', async (_what, text, problem) => {
    const { send, calls } = service();
    for (const name of ['dateFrom', 'dateTo']) {
      const answer = await send({ path: `${STATS}?${name}=${encodeURIComponent(text)}` });
      const detail = `${name}: ${quoted(text)} ${problem}`;
      expect([answer.status, errorOf(answer)]).toEqual([400, `The query string is invalid: ${detail}.`]);
      expect(detailsOf(answer)).toEqual([detail]);
    }
    expect(calls.map(({ method }) => method)).not.toContain('count');
  });
});

const A = 'dateFrom=2026-01-31';
const unknown = (name: string, hint: string) => `${quoted(name)}: is not a parameter here; ${hint}`;
const BOTH = 'there are dateFrom, dateTo, period, timeZone, weekStart, compare, caller, asOf';

/** Invalid query strings and their error messages. */
const BAD_QUERY_STRINGS: [queryString: string, details: string[]][] = [
  ['dateFrom=', ['dateFrom: is empty; leave it out or give a date']],
  ['dateFrom', ['dateFrom: is empty; leave it out or give a date']],
  [
    'dateFrom&dateTo=',
    ['dateFrom: is empty; leave it out or give a date', 'dateTo: is empty; leave it out or give a date'],
  ],
  ['dateFrom=2026-01-31T12:00:00+05:30', bound('2026-01-31T12:00:00 05:30', PLUS)],
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
  ['date_from=2026-01-31', [unknown('date_from', 'did you mean dateFrom?')]],
  ['dateFrom%20=2026-01-31', [unknown('dateFrom ', 'did you mean dateFrom?')]],
  ['from=2026-01-31&startTime=1', [unknown('from', 'did you mean dateFrom?'), unknown('startTime', BOTH)]],
  ['dateFrom[]=2026-01-31', [unknown('dateFrom[]', 'did you mean dateFrom?')]],
  ['__proto__=1', [unknown('__proto__', BOTH)]],
  ['=1', [unknown('', BOTH)]],
  ['%zz', [unknown('%zz', BOTH)]],
  [`${A}&interval=day`, [unknown('interval', BOTH)]],
  [`${'x'.repeat(100)}=1`, [unknown(`${'x'.repeat(40)}…`, BOTH)]],
  [
    'dateFrom=2026-02-01&dateTo=2026-01-31',
    ['dateFrom: is later than dateTo; a range goes from the earlier time to the later'],
  ],
];

describe('an invalid query string returns 400 with a message for each problem:', () => {
  const service = sharedService();
  test.each(BAD_QUERY_STRINGS)('?%s', async (queryString, details) => {
    const { send, calls } = service();
    const answer = await send({ path: `${STATS}?${queryString}` });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)).toEqual(details);
    expect(errorOf(answer)).not.toMatch(/\?\.$/);
    expect((await send({ method: 'HEAD', path: `${STATS}?${queryString}` })).status).toBe(400);
    expect(calls.map(({ method }) => method)).not.toContain('count');
  });

  test.each([
    ['?dateFrom=2026-01-31', ['"dateFrom": is not a parameter here; there is none']],
    [
      '?a=1&b=2&a=3',
      ['"a": is not a parameter here; there is none', '"b": is not a parameter here; there is none'],
    ],
  ])('recording accepts no parameters: %s', async (queryString, details) => {
    const { send, store } = service();
    const body = '{"id":"a","caller":"web"}';
    const headers = { 'content-type': 'application/json' };
    const answer = await send({ method: 'POST', path: QUERIES + queryString, headers, body });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)).toEqual(details);
    expect((await store.maintenance.verify()).queries).toBe(0);
  });
});

const validService = sharedService({}, ({ record }) =>
  record({ id: 'a', caller: 'web', occurredAt: '2026-01-31T00:00:00Z' }),
);

test.each([
  '?',
  '?&',
  '?&&',
  '#dateFrom=x',
  '?dateFrom=2026-01-31&dateTo=2026-01-31',
  '?dateFrom=2026-01-31&dateTo=2026-01-31T01:00%2B01:00',
])('the query string "%s" is valid', async (end) => {
  const answer = await validService().send({ path: STATS + end });
  const counted = end.includes('dateTo') ? 0 : 1;
  expect([answer.status, answer.text]).toEqual([
    200,
    `{"web":${counted},"api":0,"other":0,"total":${counted}}`,
  ]);
});

test('a path is decoded once', async () => {
  const { send } = validService();
  const statusOf = async (project: string) => (await send({ path: STATS.replace('docs', project) })).status;
  expect([await statusOf('%64ocs'), await statusOf('%2564ocs')]).toEqual([200, 404]);
});
