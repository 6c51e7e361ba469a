/** The dashboard's API returns the same bytes for counts as the public API. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Summaries } from '../../../src/domain/projects/summary.js';
import { type Browser, signedIn } from '../../support/http/dashboard.js';
import { CALLERS, detailsOf, SERIES, STATS, sharedService } from '../../support/http/http.js';

const PROJECT = '/api/organizations/default/projects/docs';

/** Operations of the dashboard's API and their public counterparts. */
const OPERATIONS = [
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
    // The range includes both clock changes in Europe; some times are exactly a bound.
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

const seriesQueries = ranges.flatMap((range) => [
  range,
  ...['hour', 'day', 'week', 'month'].flatMap((interval) =>
    ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns'].map((zone) =>
      [range, `interval=${interval}`, `timeZone=${zone}`].filter((one) => one !== '').join('&'),
    ),
  ),
]);

describe.each(OPERATIONS)('%s', (dashboardPath, publicPath) => {
  const queries = dashboardPath.endsWith('/series') ? seriesQueries : ranges;

  test('returns the same JSON and CSV as the public operation', async () => {
    for (const query of queries) {
      const accepted = ['application/json', 'text/csv'];
      // How headers choose the format does not depend on the query.
      if (query === '') accepted.push('text/csv;q=0.5, application/json', '*/*');
      for (const accept of accepted) {
        const own = await viewer.send({ path: `${dashboardPath}?${query}`, headers: { accept } });
        const other = await service().send({ path: `${publicPath}?${query}`, headers: { accept } });
        const { 'content-type': type, vary, 'content-length': length } = other.headers;
        expect([own.status, own.text], `${accept} ${query}`).toEqual([other.status, other.text]);
        expect(own.headers).toMatchObject({
          'content-type': type,
          'content-length': length,
          ...(vary === undefined ? {} : { vary }),
        });
      }
    }
  });

  test('returns the same errors as the public operation', async () => {
    for (const query of [
      'dateFrom=2026-02-30',
      'datefrom=2026-02-01&dateTo=x',
      'dateFrom=2026-02-02&dateTo=2026-02-01',
      'dateFrom=2026-02-01&dateFrom=2026-02-01',
      'interval=minute&timeZone=Mars/Olympus',
      'interval=hour&dateFrom=1970-01-01&dateTo=2026-01-01',
      'format=xml',
    ]) {
      const own = await viewer.send({ path: `${dashboardPath}?${query}` });
      const { status, text } = await service().send({ path: `${publicPath}?${query}` });
      expect([own.status, own.text], query).toEqual([status, text]);
    }
    expect(detailsOf(await viewer.send({ path: `${dashboardPath}?dateFrom=x` }))).toHaveLength(1);
  });
});

test('the compared counts are not zero', async () => {
  expect(await viewer.ask({ path: `${PROJECT}/caller-stats` })).toEqual({
    web: 67,
    api: 67,
    other: 266,
    total: 400,
  });
});

test('the summaries of all projects have the counts of each', async () => {
  const { store, clock } = service();
  expect(
    detailsOf(await viewer.send({ path: '/api/organizations/default/summaries?timeZone=Mars' })),
  ).toEqual([expect.stringMatching(/^timeZone: /)]);
  for (const timeZone of ['UTC', 'America/St_Johns', 'Asia/Kathmandu', 'Europe/Berlin']) {
    for (const now of ['2026-04-12T15:20:40Z', '2025-11-20T23:59:59Z', '2026-03-29T00:59:00Z']) {
      clock.nowMs = Date.parse(now);
      const { projects, projectsTotal } = await viewer.ask<Summaries>({
        path: `/api/organizations/default/summaries?timeZone=${timeZone}`,
      });
      const docs = projects.find(({ id }) => id === 'docs');
      if (docs === undefined) throw new Error('there is no summary of docs');
      const { range, previous } = docs;
      const count = ({ dateFrom, dateTo }: typeof range) =>
        viewer.ask<{ total: number }>({
          path: `${PROJECT}/caller-stats?${new URLSearchParams({ dateFrom, dateTo })}`,
        });
      const series = await viewer.ask<{ buckets: { total: number }[] }>({
        path: `${PROJECT}/series?${new URLSearchParams({ dateFrom: range.dateFrom, dateTo: range.dateTo, timeZone })}`,
      });
      const where = `${timeZone} ${now}`;
      expect(docs.days, where).toEqual(series.buckets.map(({ total }) => total));
      expect(docs.days.length, where).toBe(30);
      expect(docs.total, where).toBe((await count(range)).total);
      expect(docs.previousTotal, where).toBe((await count(previous)).total);
      expect(docs.total, where).toBeGreaterThan(10);
      expect(docs.lastQueryAt).toBe('2026-05-15T19:30:00.000Z');
      // The last day is today, and the range to compare with ends at the same time of day.
      expect(Date.parse(range.dateTo)).toBeGreaterThan(clock.nowMs);
      const localTime = (at: number) => new Date(at).toLocaleTimeString('en-GB', { timeZone });
      expect(localTime(Date.parse(previous.dateTo)).slice(0, 5), where).toBe(
        localTime(clock.nowMs).slice(0, 5),
      );
      expect(projectsTotal).toBe(projects.length);
    }
  }
  expect((await store.directory.listProjects('default')).length).toBeGreaterThan(0);
});
