import { describe, expect, test } from 'vitest';
import { errorOf, type KeyName, QUERIES, STATS, startMs, startService } from '../support/http.js';
import type { Answer } from '../support/http-checks.js';

const EVENTS = [
  ['web', '2026-01-31T23:59:59.999Z'],
  ['api', '2026-02-01T00:00:00.000Z'],
  ['slack', '2026-02-01T00:00:00.001Z'],
  // The first millisecond of February again, in two other ways.
  ['web', '2026-02-01T05:30:00+05:30'],
  ['api', '2026-02-01T00:00:00.0009Z'],
  // The last second of 2016, which counts as the first of 2017.
  ['web', '2016-12-31T23:59:60Z'],
].map(([caller, occurredAt], index) => ({ id: `${index}`, caller, occurredAt }));

describe('counts', () => {
  test.each<[queryString: string, web: number, api: number, other: number]>([
    ['', 3, 2, 1],
    ['dateFrom=2026-02-01', 1, 2, 1],
    ['dateTo=2026-02-01', 2, 0, 0],
    ['dateFrom=2026-02-01&dateTo=2026-02-02', 1, 2, 1],
    ['dateFrom=2026-01-31&dateTo=2026-02-01', 1, 0, 0],
    ['dateFrom=2026-02-01T00:00:00.001Z', 0, 0, 1],
    ['dateTo=2026-02-01T00:00:00.001Z', 3, 2, 0],
    ['dateFrom=2026-01-31T23:59:59.999Z&dateTo=2026-02-01', 1, 0, 0],
    ['dateFrom=2026-02-01T00:00:00.002Z', 0, 0, 0],
    ['dateFrom=2026-02-01T00:00:00.1Z', 0, 0, 0],
    ['dateFrom=2026-02-01T00:00:00.00Z', 1, 2, 1],
    ['dateFrom=2026-02-01T00:00', 1, 2, 1],
    ['dateFrom=2026-02-01T00:00:00', 1, 2, 1],
    ['dateFrom=2026-02-01t00:00:00z', 1, 2, 1],
    ['dateFrom=2026-02-01T01:00:00%2B01:00', 1, 2, 1],
    ['dateFrom=2026-01-31T15:30-08:30', 1, 2, 1],
    ['dateFrom=2026-02-01T00:00%2B00:01', 2, 2, 1],
    ['dateFrom=2026-02-01T00:00:00.0019Z', 0, 0, 1],
    ['dateTo=2026-02-01T00:00:00.0009Z', 2, 0, 0],
    ['dateFrom=2016-12-31T23:59:60Z&dateTo=2017-01-01T00:00:00.001Z', 1, 0, 0],
    ['dateTo=2017-01-01', 0, 0, 0],
    ['dateTo=2016-12-31T23:59:60.001Z', 1, 0, 0],
    ['dateFrom=2026-02-01&dateTo=2026-02-01', 0, 0, 0],
    ['dateFrom=0000-01-01&dateTo=9999-12-31T23:59:59.999-23:59', 3, 2, 1],
    ['dateTo=2026-02-01&dateFrom=2026-01-31', 1, 0, 0],
    ['date%46rom=2026%2D02%2D01', 1, 2, 1],
  ])('?%s', async (queryString, web, api, other) => {
    const { record, send } = await startService();
    await record(EVENTS);
    const answer = await send({ path: `${STATS}?${queryString}` });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({ web, api, other, total: web + api + other });
  });

  test('a query counts from the moment its recording is acknowledged', async () => {
    const { record, send, keys } = await startService();
    for (let n = 1; n <= 20; n++) {
      await record({ id: `${n}`, caller: 'api' }, { authorization: `Bearer ${keys.recording}` });
      expect((await send()).text).toBe(`{"web":0,"api":${n},"other":0,"total":${n}}`);
    }
  });

  test('of one project do not show in another', async () => {
    const { record, send } = await startService();
    await record(EVENTS);
    const answer = await send({ path: STATS.replace('docs', 'blog') });
    expect(answer.text).toBe('{"web":0,"api":0,"other":0,"total":0}');
  });
});

test.each<[KeyName, number]>([
  ['admin', 200],
  ['recording', 200],
  ['recordingBlog', 404],
  ['rivalAdmin', 404],
])('recording into docs with the key %s: %i', async (name, status) => {
  const { record, keys } = await startService();
  const answer = await record({ id: 'a', caller: 'web' }, { authorization: `Bearer ${keys[name]}` });
  expect(answer.status).toBe(status);
});

describe('HEAD', () => {
  const lasting = ({ status, headers }: Answer) => ({
    status,
    headers: { ...headers, date: undefined, connection: undefined },
  });
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
    '/docs/try/static/index.html',
    '/nowhere',
    '/%zz',
  ])('%s: what GET answers, without the body', async (path) => {
    const { send, keys } = await startService();
    for (const key of [keys.admin, null]) {
      const get = await send({ path, key });
      expect(get.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
      expect(lasting(await send({ method: 'HEAD', path, key }))).toEqual(lasting(get));
    }
  });
});

describe('the last use of a key', () => {
  test('is written at most once a minute', async () => {
    const { send, calls, clock, store } = await startService();
    const touches = () => calls.filter(({ method }) => method === 'touchKey');
    const lastUsed = async () => {
      await Promise.all(touches().map(({ result }) => result));
      return (await store.listKeys('default')).find(({ id }) => id === 'admin')?.lastUsedAt;
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

  test('is not written for a key that was refused, nor for another key', async () => {
    const { send, calls, keys } = await startService();
    await send({ key: keys.expired });
    await send({ key: keys.revoked });
    await send({ key: keys.recording });
    await send({ method: 'POST', path: QUERIES, key: keys.recording });
    const touched = calls
      .filter(({ method }) => method === 'touchKey')
      .map(({ parameters }) => parameters[0]);
    expect(touched).toEqual(['recording']);
  });

  test('that cannot be written fails no request', async () => {
    const { send, watched, log, keys } = await startService();
    watched.before = async (method) => {
      if (method === 'touchKey') throw new Error('no room');
    };
    expect((await send()).status).toBe(200);
    expect(log()).toContain('could not store the last use of a key');
    expect(log()).not.toContain(keys.admin);
  });
});

test('answers for whoever starts, stops and balances the service', async () => {
  const { send } = await startService();
  expect((await send({ path: '/livez', key: null })).text).toBe('{"status":"live"}');
  expect((await send({ path: '/readyz', key: null })).text).toBe('{"status":"ready"}');
  const home = await send({ path: '/', key: null });
  expect([home.status, home.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(errorOf(await send({ path: '/nowhere', key: null }))).toContain('/docs');
});
