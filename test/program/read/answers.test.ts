import { describe, expect, test } from 'vitest';
import {
  errorOf,
  type KeyName,
  QUERIES,
  STATS,
  sharedService,
  startMs,
  startService,
} from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';

const EVENTS = [
  ['web', '2026-01-31T23:59:59.999Z'],
  ['api', '2026-02-01T00:00:00.000Z'],
  ['slack', '2026-02-01T00:00:00.001Z'],
  // The first millisecond of February again, in two other notations.
  ['web', '2026-02-01T05:30:00+05:30'],
  ['api', '2026-02-01T00:00:00.0009Z'],
  // A leap second counts as the first second of the next year.
  ['web', '2016-12-31 23:59:60+00:00'],
].map(([caller, occurredAt], index) => ({ id: `${index}`, caller, occurredAt }));

describe('GET caller-stats', () => {
  const service = sharedService({}, ({ record }) => record(EVENTS));

  test.each<[queryString: string, web: number, api: number, other: number]>([
    ['', 3, 2, 1],
    ['dateFrom=2026-02-01', 1, 2, 1],
    ['dateTo=2026-02-01', 2, 0, 0],
    ['dateFrom=2026-01-31&dateTo=2026-02-01', 1, 0, 0],
    ['dateFrom=2026-02-01T00:00:00.001Z', 0, 0, 1],
    ['dateTo=2026-02-01T00:00:00.001Z', 3, 2, 0],
    ['dateFrom=2026-01-31T23:59:59.999Z&dateTo=2026-02-01', 1, 0, 0],
    ['dateFrom=2026-02-01T00:00:00.002Z', 0, 0, 0],
    ['dateFrom=2026-02-01T00:00', 1, 2, 1],
    // As Python's str() of a datetime.
    ['dateFrom=2026-02-01+00:00:00.001000%2B00:00', 0, 0, 1],
    ['dateFrom=2026-02-01%2001:00:00%2B01:00', 1, 2, 1],
    ['dateFrom=2026-02-01T01:00:00%2B01:00', 1, 2, 1],
    ['dateFrom=2026-02-01T00:00%2B00:01', 2, 2, 1],
    ['dateFrom=2026-02-01T00:00:00.0019Z', 0, 0, 1],
    ['dateTo=2026-02-01T00:00:00.0009Z', 2, 0, 0],
    ['dateFrom=2016-12-31T23:59:60Z&dateTo=2017-01-01T00:00:00.001Z', 1, 0, 0],
    ['dateTo=2016-12-31T23:59:60.001Z', 1, 0, 0],
    ['dateFrom=2026-02-01&dateTo=2026-02-01', 0, 0, 0],
    ['dateFrom=0000-01-01&dateTo=9999-12-31T23:59:59.999-23:59', 3, 2, 1],
    ['dateTo=2026-02-01&dateFrom=2026-01-31', 1, 0, 0],
    ['date%46rom=2026%2D02%2D01', 1, 2, 1],
  ])('?%s counts %i web, %i api, %i other', async (queryString, web, api, other) => {
    const answer = await service().send({ path: `${STATS}?${queryString}` });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({ web, api, other, total: web + api + other });
  });

  test('counts a query as soon as its recording is acknowledged', async () => {
    const { record, count } = await service().addProject();
    for (let n = 1; n <= 20; n++) {
      await record({ id: `${n}`, caller: 'api' });
      expect(await count()).toEqual({ web: 0, api: n, other: 0, total: n });
    }
  });

  test('does not count the queries of another project', async () => {
    const answer = await service().send({ path: STATS.replace('docs', 'blog') });
    expect(answer.text).toBe('{"web":0,"api":0,"other":0,"total":0}');
  });
});

describe('HEAD responds as GET without the body:', () => {
  const comparable = ({ status, headers }: Answer) => ({
    status,
    headers: { ...headers, date: undefined, connection: undefined },
  });
  const service = sharedService();
  test.each([
    STATS,
    `${STATS}?dateFrom=2026-02-01`,
    `${STATS}?dateFrom=nonsense`,
    STATS.replace('docs', 'unknown'),
    '/livez',
    '/readyz',
    '/openapi.json',
    '/docs',
    '/docs/',
    '/docs/settings',
    '/docs/try',
    '/nowhere',
    '/%zz',
  ])('%s', async (path) => {
    const { send, keys } = service();
    for (const key of [keys.admin, null]) {
      const get = await send({ path, key });
      expect(get.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
      expect(comparable(await send({ method: 'HEAD', path, key }))).toEqual(comparable(get));
    }
  });
});

describe("a key's last use", () => {
  test('is stored at most once a minute', async () => {
    const { send, calls, clock, store } = await startService();
    const touches = () => calls.filter(({ method }) => method === 'touchKey');
    const lastUsed = async () => {
      await Promise.all(touches().map(({ result }) => result));
      return (await store.directory.listKeys('default')).find(({ id }) => id === 'admin')?.lastUsedAt;
    };
    await Promise.all([send(), send(), send()]);
    expect(await lastUsed()).toBe(startMs);
    clock.nowMs = startMs + 59_999;
    await send();
    expect(touches()).toHaveLength(1);
    clock.nowMs = startMs + 60_000;
    await send();
    await send();
    expect(touches()).toHaveLength(2);
    expect(await lastUsed()).toBe(startMs + 60_000);
  });

  test('is stored for accepted keys only', async () => {
    const { send, calls, keys } = await startService();
    for (const name of ['expired', 'revoked', 'recording'] satisfies KeyName[])
      await send({ key: keys[name] });
    await send({ method: 'POST', path: QUERIES, key: keys.recording });
    const touched = calls
      .filter(({ method }) => method === 'touchKey')
      .map(({ parameters }) => parameters[0]);
    expect(touched).toEqual(['recording']);
  });

  test('may fail to be stored without failing the request', async () => {
    const { send, watched, log, keys } = await startService();
    watched.before = async (method) => {
      if (method === 'touchKey') throw new Error('no room');
    };
    expect((await send()).status).toBe(200);
    expect(log()).toContain('could not store the last use of a key');
    expect(log()).not.toContain(keys.admin);
  });
});

test('probes, the start page and unknown paths need no key', async () => {
  const { send } = await startService();
  expect((await send({ path: '/livez', key: null })).text).toBe('{"status":"live"}');
  expect((await send({ path: '/readyz', key: null })).text).toBe('{"status":"ready"}');
  const home = await send({ path: '/', key: null });
  expect([home.status, home.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(errorOf(await send({ path: '/nowhere', key: null }))).toContain('/docs');
});
