/** What the dashboard counts is what the public interface counts, byte for byte. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Browser, signedIn } from '../support/dashboard.js';
import { CALLERS, detailsOf, SERIES, STATS, sharedService } from '../support/http.js';

const PROJECT = '/api/organizations/default/projects/docs';

/** Each operation of the dashboard, and its twin. */
const TWINS = [
  [`${PROJECT}/caller-stats`, STATS],
  [`${PROJECT}/series`, SERIES],
  [`${PROJECT}/callers`, CALLERS],
] as const;

const service = sharedService();
let viewer: Browser;

beforeAll(async () => {
  viewer = await signedIn(service(), 'ada@example.org', 'viewer');
  const callers = ['web', 'api', 'slack', 'sdk-python', 'discord', 'a.b_c'];
  const queries = Array.from({ length: 400 }, (_, at) => ({
    id: `query ${at}`,
    caller: callers[(at * 7) % callers.length],
    // Over both changes of the clock in Europe, some of them on the millisecond of a bound.
    occurredAt: new Date(Date.parse('2025-10-20T00:00:00Z') + at * 45_000_000).toISOString(),
  }));
  expect((await service().record(queries)).status).toBe(200);
});

const ranges = [
  '',
  'dateFrom=2026-03-28&dateTo=2026-03-31',
  'dateFrom=2026-01-01T00:00:00.001Z',
  'dateTo=2025-10-26T01:30:00%2B01:00',
  'dateFrom=2026-02-01&dateTo=2026-02-01',
];

const questions = ranges.flatMap((range) => [
  range,
  ...['hour', 'day', 'week', 'month'].flatMap((interval) =>
    ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns'].map((zone) =>
      [range, `interval=${interval}`, `timeZone=${zone}`].filter((one) => one !== '').join('&'),
    ),
  ),
]);

describe.each(TWINS)('%s', (own, twin) => {
  const asked = own.endsWith('/series') ? questions : ranges;

  test('says in JSON and in CSV what its twin says', async () => {
    for (const accept of ['application/json', 'text/csv', 'text/csv;q=0.5, application/json', '*/*']) {
      for (const query of asked) {
        const [mine, public_] = [
          await viewer.send({ path: `${own}?${query}`, headers: { accept } }),
          await service().send({ path: `${twin}?${query}`, headers: { accept } }),
        ];
        const { 'content-type': type, vary, 'content-length': length } = public_.headers;
        expect([mine.status, mine.text], `${accept} ${query}`).toEqual([public_.status, public_.text]);
        expect(mine.headers).toMatchObject({
          'content-type': type,
          'content-length': length,
          ...(vary === undefined ? {} : { vary }),
        });
      }
    }
  });

  test('refuses what its twin refuses, in the same words', async () => {
    for (const query of [
      'dateFrom=2026-02-30',
      'datefrom=2026-02-01&dateTo=x',
      'dateFrom=2026-02-02&dateTo=2026-02-01',
      'dateFrom=2026-02-01&dateFrom=2026-02-01',
      'interval=minute&timeZone=Mars/Olympus',
      'interval=hour&dateFrom=1970-01-01&dateTo=2026-01-01',
      'format=xml',
    ]) {
      const mine = await viewer.send({ path: `${own}?${query}` });
      const { status, text } = await service().send({ path: `${twin}?${query}` });
      expect([mine.status, mine.text], query).toEqual([status, text]);
    }
    expect(detailsOf(await viewer.send({ path: `${own}?dateFrom=x` }))).toHaveLength(1);
  });
});

test('the counts are not none', async () => {
  expect(await viewer.ask({ path: `${PROJECT}/caller-stats` })).toEqual({
    web: 67,
    api: 67,
    other: 266,
    total: 400,
  });
});
