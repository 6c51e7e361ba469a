import { describe, expect, test } from 'vitest';
import type { Series } from '../../../src/domain/counting/series.js';
import { seriesBucketsMax } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { openStore } from '../../../src/storage/open.js';
import { whenOver } from '../../support/cleanup.js';
import {
  detailsOf,
  SERIES,
  type Service,
  STATS,
  sharedService,
  startService,
} from '../../support/http/http.js';

const EVENTS = [
  ['web', '2026-03-28T22:59:59.999Z'],
  ['api', '2026-03-28T23:00:00.000Z'],
  ['slack', '2026-03-29T21:59:59.999Z'],
  ['web', '2026-03-29T22:00:00.000Z'],
  ['sdk-python', '2026-04-01T00:00:00.000Z'],
].map(([caller, occurredAt], index) => ({ id: `${index}`, caller, occurredAt }));

const NO_INTERVAL = 'is not an interval; the intervals are hour, day, week, month, quarter, year';
const NO_ZONE = 'is not a time zone of the IANA database';
const SUCH_AS = 'use a name such as Europe/Berlin or UTC';

describe('GET series returns 400 with a message for each wrong parameter:', () => {
  const service = sharedService();
  test.each<[queryString: string, details: string[]]>([
    ['interval=', ['interval: is empty; leave it out or give one of hour, day, week, month, quarter, year']],
    ['interval=fortnight', [`interval: "fortnight" ${NO_INTERVAL}`]],
    ['interval=toString', [`interval: "toString" ${NO_INTERVAL}`]],
    ['interval=day&interval=day', ['interval: is given 2 times; give it once']],
    ['timeZone=', ['timeZone: is empty; leave it out or give the name of a time zone, as Europe/Berlin']],
    ['timeZone=Europe/Atlantis', [`timeZone: "Europe/Atlantis" ${NO_ZONE}; ${SUCH_AS}`]],
    ['timeZone=europe/berlin', [`timeZone: "europe/berlin" ${NO_ZONE}; did you mean Europe/Berlin?`]],
    ['timeZone=berlin', [`timeZone: "berlin" ${NO_ZONE}; did you mean Europe/Berlin?`]],
    ['timeZone=New%20York', [`timeZone: "New York" ${NO_ZONE}; did you mean America/New_York?`]],
    ['timeZone=america/newyork', [`timeZone: "america/newyork" ${NO_ZONE}; did you mean America/New_York?`]],
    [
      'timeZone=port%20au%20prince',
      [`timeZone: "port au prince" ${NO_ZONE}; did you mean America/Port-au-Prince?`],
    ],
    ['timeZone=etc/gmt1', [`timeZone: "etc/gmt1" ${NO_ZONE}; ${SUCH_AS}`]],
    [
      'interval=months',
      [expect.stringMatching(/^interval: "months" .*; did you mean month\? The intervals are hour, /)],
    ],
    ['period=last_month', [expect.stringMatching(/^period: .*; did you mean last-month\? The periods are /)]],
    ['timeZone=+01:00', [`timeZone: " 01:00" ${NO_ZONE}; ${SUCH_AS}`]],
    ['timeZone=Europe/Berlin%00', [`timeZone: "Europe/Berlin\\u0000" ${NO_ZONE}; ${SUCH_AS}`]],
    [`timeZone=${'x'.repeat(50)}`, [`timeZone: "${'x'.repeat(40)}…" ${NO_ZONE}; ${SUCH_AS}`]],
    ['timezone=UTC', ['"timezone": is not a parameter here; did you mean timeZone?']],
    ['intervall=day', ['"intervall": is not a parameter here; did you mean interval?']],
    [
      'limit=5',
      [
        '"limit": is not a parameter here; there are dateFrom, dateTo, period, timeZone, weekStart, compare, caller, interval, by, layout, times, asOf',
      ],
    ],
    [
      'interval=x&timeZone=y&dateFrom=&dateTo=2026-01-01&dateTo=2026-01-01&page=1',
      [
        '"page": is not a parameter here; there are dateFrom, dateTo, period, timeZone, weekStart, compare, caller, interval, by, layout, times, asOf',
        'dateTo: is given 2 times; give it once',
        'dateFrom: is empty; leave it out or give a date',
        `timeZone: "y" ${NO_ZONE}; ${SUCH_AS}`,
        `interval: "x" ${NO_INTERVAL}`,
      ],
    ],
    [
      'dateFrom=2026-02-01&dateTo=2026-01-31',
      ['dateFrom: is later than dateTo; a range goes from the earlier time to the later'],
    ],
  ])('?%s', async (queryString, details) => {
    const { send, calls } = service();
    const answer = await send({ path: `${SERIES}?${queryString}`, headers: { accept: 'text/csv' } });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)).toEqual(details);
    expect((await send({ method: 'HEAD', path: `${SERIES}?${queryString}` })).status).toBe(400);
    expect(calls.filter(({ method }) => method === 'countSeries' || method === 'findExtent')).toEqual([]);
  });

  test('GET series returns 400 with advice for too many buckets', async () => {
    const { send, record } = await startService();
    const hours = (count: number) =>
      `${SERIES}?interval=hour&dateFrom=2020-01-01&dateTo=${new Date(Date.UTC(2020, 0, 1, count)).toISOString()}`;
    expect(bucketsIn(await send({ path: hours(seriesBucketsMax) }))).toHaveLength(seriesBucketsMax);
    const problem =
      'interval: hour makes more than 10000 buckets of this range; choose a wider interval or a smaller range';
    const refused = await send({ path: hours(seriesBucketsMax + 1) });
    expect([refused.status, detailsOf(refused)]).toEqual([400, [problem]]);
    await record([
      { id: 'a', caller: 'web', occurredAt: '2000-01-01T00:00:00Z' },
      { id: 'b', caller: 'web', occurredAt: '2026-01-01T00:00:00Z' },
    ]);
    expect((await send({ path: `${SERIES}?interval=hour` })).status).toBe(400);
    expect((await send({ path: `${SERIES}?interval=day` })).status).toBe(200);
    expect((await send({ path: `${SERIES}?dateFrom=0000-01-01&dateTo=9999-12-31` })).status).toBe(400);
  });
});

interface Bucket {
  readonly start: string;
  readonly end: string;
  readonly total: number;
}

function bucketsIn({ text }: { readonly text: string }): Bucket[] {
  return (JSON.parse(text) as { buckets: Bucket[] }).buckets;
}

async function startWithEvents(): Promise<Service> {
  const service = await startService();
  await service.record(EVENTS);
  return service;
}

describe('GET series', () => {
  const service = sharedService({}, ({ record }) => record(EVENTS));

  test('returns the buckets of the contract, with a day of 23 hours', async () => {
    const { send } = service();
    const path = `${SERIES}?interval=day&timeZone=Europe/Berlin&dateFrom=2026-03-28T12:00Z&dateTo=2026-03-31T00:00Z`;
    const answer = await send({ path });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(answer.text)).toEqual({
      interval: 'day',
      timeZone: 'Europe/Berlin',
      buckets: [
        ['2026-03-28T13:00:00.000+01:00', '2026-03-29T00:00:00.000+01:00', 1, 0, 0],
        ['2026-03-29T00:00:00.000+01:00', '2026-03-30T00:00:00.000+02:00', 0, 1, 1],
        ['2026-03-30T00:00:00.000+02:00', '2026-03-31T00:00:00.000+02:00', 1, 0, 0],
        ['2026-03-31T00:00:00.000+02:00', '2026-03-31T02:00:00.000+02:00', 0, 0, 0],
      ].map(([start, end, web, api, other]) => ({
        ...{ start, end, web, api, other },
        total: Number(web) + Number(api) + Number(other),
      })),
    });
  });

  test('without parameters returns whole UTC days from the first query to the last', async () => {
    const { send } = service();
    const answer = await send({ path: SERIES });
    expect(JSON.parse(answer.text)).toMatchObject({ interval: 'day', timeZone: 'UTC' });
    expect(bucketsIn(answer).map(({ start, total }) => [start, total])).toEqual([
      ['2026-03-28T00:00:00.000+00:00', 2],
      ['2026-03-29T00:00:00.000+00:00', 2],
      ['2026-03-30T00:00:00.000+00:00', 0],
      ['2026-03-31T00:00:00.000+00:00', 0],
      ['2026-04-01T00:00:00.000+00:00', 1],
    ]);
    expect(bucketsIn(answer).at(-1)?.end).toBe('2026-04-02T00:00:00.000+00:00');
  });

  test.each<[queryString: string, buckets: readonly (readonly [start: string, total: number])[]]>([
    [
      'interval=month',
      [
        ['2026-03-01T00:00:00.000+00:00', 4],
        ['2026-04-01T00:00:00.000+00:00', 1],
      ],
    ],
    [
      'interval=week',
      [
        ['2026-03-23T00:00:00.000+00:00', 4],
        ['2026-03-30T00:00:00.000+00:00', 1],
      ],
    ],
    [
      'interval=week&timeZone=Asia/Kathmandu',
      [
        ['2026-03-23T00:00:00.000+05:45', 2],
        ['2026-03-30T00:00:00.000+05:45', 3],
      ],
    ],
    ['interval=month&timeZone=America/New_York', [['2026-03-01T00:00:00.000-05:00', 5]]],
    [
      'interval=month&dateFrom=2026-03-29',
      [
        ['2026-03-29T00:00:00.000+00:00', 2],
        ['2026-04-01T00:00:00.000+00:00', 1],
      ],
    ],
    ['interval=month&dateTo=2026-03-29', [['2026-03-01T00:00:00.000+00:00', 2]]],
    ['dateFrom=2026-04-02', []],
    ['dateTo=2026-03-28', []],
    ['dateFrom=2026-03-28&dateTo=2026-03-28', []],
    ['dateFrom=2026-03-28&dateTo=2026-03-28T00:00:00.001Z', [['2026-03-28T00:00:00.000+00:00', 0]]],
    ['timeZone=Asia/Calcutta&dateFrom=2026-04-01T00:00Z', [['2026-04-01T05:30:00.000+05:30', 1]]],
  ])('?%s returns the right buckets', async (queryString, buckets) => {
    const { send } = service();
    const answer = await send({ path: `${SERIES}?${queryString}` });
    expect(bucketsIn(answer).map(({ start, total }) => [start, total])).toEqual(buckets);
  });

  test('requested again, counts what other connections have recorded or removed since', async () => {
    const service = await startService();
    const other = await openStore(service.databaseUrl);
    whenOver(() => other.close());
    const by = { name: 'a test', address: null, at: 0 };
    const path = `${SERIES}?dateFrom=2026-04-01&dateTo=2026-04-02`;
    const ask = async () => (await service.send({ path })).text;
    const occurredAt = Date.parse('2026-04-01T12:00:00Z');
    for (const total of [1, 2, 3]) {
      await other.counts.record('docs', [{ id: `query ${total}`, caller: 'web', occurredAt }]);
      const text = await ask();
      expect(JSON.parse(text)).toMatchObject({ buckets: [{ web: total, total }] });
      expect(await ask()).toBe(text);
    }
    const week = await service.send({ path: `${path}&interval=week` });
    expect(week.text).not.toBe(await ask());
    expect((await service.send({ path, headers: { accept: 'text/csv' } })).text).toMatch(/^start,end/);
    await other.directory.deleteProject('default', 'docs', by);
    expect((await service.send({ path })).status).toBe(404);
  });

  test('returns no buckets of an empty project unless both bounds are given', async () => {
    const { send } = service();
    const empty = SERIES.replace('docs', 'blog');
    for (const bounds of ['', '?dateFrom=2026-01-01', '?dateTo=2026-01-01']) {
      expect(bucketsIn(await send({ path: empty + bounds }))).toEqual([]);
    }
    const both = await send({ path: `${empty}?dateFrom=2026-01-01&dateTo=2026-01-03` });
    expect(bucketsIn(both).map(({ total }) => total)).toEqual([0, 0]);
  });

  test('returns bounds that GET caller-stats accepts, even at both ends of the calendar', async () => {
    const { send, record, store } = await startService();
    await record({ id: 'a', caller: 'web', occurredAt: '0000-01-01T00:00:00Z' });
    const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
    await store.counts.record('docs', [{ id: 'b', caller: 'web', occurredAt: last }]);
    for (const range of [
      'dateFrom=9999-12-01&timeZone=Asia/Tokyo&interval=month',
      'dateFrom=9999-12-31&timeZone=Pacific/Honolulu',
      'dateTo=0000-01-02&timeZone=America/New_York',
      'dateFrom=9999-12-31&dateTo=9999-12-31T23:59:59.999-23:59&timeZone=Asia/Tokyo',
      'dateFrom=0000-01-01T00:00:00%2B23:59&dateTo=0000-01-01T00:00:01Z&timeZone=America/New_York&interval=hour',
    ]) {
      const buckets = bucketsIn(await send({ path: `${SERIES}?${range}` }));
      expect(buckets.length).toBeGreaterThan(0);
      for (const { start, end, total } of buckets) {
        const again = await send({
          path: `${STATS}?dateFrom=${encodeURIComponent(start)}&dateTo=${encodeURIComponent(end)}`,
        });
        expect(JSON.parse(again.text)).toMatchObject({ total });
      }
    }
  });

  test('with missing bounds ends with its first read, whatever is recorded meanwhile', async () => {
    const { store, watched, send } = await startWithEvents();
    let late = 0;
    watched.before = async (method) => {
      if (method !== 'countSeries' && method !== 'countSeriesByCaller') return;
      const occurredAt = Date.UTC(2026, 3, 2) + late++ * dayMs;
      await store.counts.record('docs', [{ id: `late ${late}`, caller: 'web', occurredAt }]);
    };
    const buckets = bucketsIn(await send({ path: SERIES }));
    expect(buckets.map(({ total }) => total)).toEqual([2, 2, 0, 0, 1]);
    const { callers, rest } = JSON.parse((await send({ path: `${SERIES}?by=caller` })).text) as Series;
    const again = bucketsIn(await send({ path: SERIES }));
    expect(late).toBe(3);
    const sum = [...(callers ?? []), rest].reduce((total, one) => total + (one?.count ?? 0), 0);
    expect(sum).toBe(again.reduce((total, bucket) => total + bucket.total, 0) - 1);
    expect(rest?.counts.every((count) => count === 0)).toBe(true);
  });
});
