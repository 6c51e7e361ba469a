/** Rate limits of requests and of failed authentication. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { signedIn } from '../../support/http/dashboard.js';
import { DASHBOARD_ROUTES, exampleOf } from '../../support/http/dashboard-routes.js';
import {
  errorOf,
  type KeyName,
  QUERIES,
  type Service,
  STATS,
  startService,
  type TestRequest,
} from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';

// The rate-limiting library uses the system time. Fake only the functions that it calls; files and sockets keep working.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const json = { 'content-type': 'application/json' };
const LIMIT_HEADERS = ['ratelimit-policy', 'ratelimit', 'retry-after'] as const;

/** The status and the three headers about limits. */
function readLimits({ status, headers }: Answer): unknown[] {
  return [status, ...LIMIT_HEADERS.map((name) => headers[name])];
}

async function sendAll(send: Service['send'], requests: readonly TestRequest[]): Promise<number[]> {
  const all: number[] = [];
  for (const request of requests) all.push((await send(request)).status);
  return all;
}

describe('the rate limit of an organization', () => {
  const limits = { requestsPerMinute: 3 };

  test('returns 429 with standard headers until the minute ends', async () => {
    const { send, calls } = await startService({ limits });
    const policy = '"organization";q=3;w=60';
    expect(readLimits(await send())).toEqual([200, policy, '"organization";r=2;t=60', undefined]);
    vi.advanceTimersByTime(20_001);
    expect(readLimits(await send())).toEqual([200, policy, '"organization";r=1;t=40', undefined]);
    expect(readLimits(await send())).toEqual([200, policy, '"organization";r=0;t=40', undefined]);
    calls.length = 0;
    const refused = await send();
    expect(readLimits(refused)).toEqual([429, policy, '"organization";r=0;t=40', '40']);
    expect(errorOf(refused)).toBe('Too many requests: 3 a minute are allowed. Try again in 40 s.');
    expect(
      calls.map(({ method }) => method),
      'only the key is looked up',
    ).toEqual(['findAccess']);
    vi.advanceTimersByTime(39_998);
    expect(readLimits(await send())).toEqual([429, policy, '"organization";r=0;t=1', '1']);
    vi.advanceTimersByTime(1);
    expect(readLimits(await send())).toEqual([200, policy, '"organization";r=2;t=60', undefined]);
  });

  test('is not used up by a stranger with a key that is for other addresses', async () => {
    const { send, addKey } = await startService({ limits });
    const elsewhere = await addKey('elsewhere', { type: 'admin', allow: ['192.0.2.1'] });
    const stranger = { key: elsewhere, from: '192.0.2.2' };
    const tool = {
      ...stranger,
      ...{ method: 'POST', path: '/mcp', headers: json },
      body: '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
    };
    expect(await sendAll(send, [stranger, stranger, tool, stranger, tool])).toEqual(Array(5).fill(403));
    expect(readLimits(await send(stranger))).toEqual([403, undefined, undefined, undefined]);
    const own = { key: elsewhere, from: '192.0.2.1' };
    expect(await sendAll(send, [own, own, own, own, stranger])).toEqual([200, 200, 200, 429, 403]);
  });

  test('is shared by all keys of the organization', async () => {
    const { send, keys } = await startService({ limits });
    const record = { method: 'POST', path: QUERIES, headers: json };
    const body = (id: string) => JSON.stringify({ id, caller: 'web' });
    expect(
      await sendAll(send, [
        { key: keys.admin },
        { ...record, key: keys.recording, body: body('a') },
        { ...record, key: keys.recordingBlog, path: QUERIES.replace('docs', 'blog'), body: body('b') },
        { key: keys.admin },
        { ...record, key: keys.recording, body: body('c') },
      ]),
    ).toEqual([200, 200, 200, 429, 429]);
    const theirs = { path: STATS.replace('docs', 'rival-docs'), key: keys.rivalAdmin };
    expect(readLimits(await send(theirs)).slice(0, 3)).toEqual([
      200,
      '"organization";q=3;w=60',
      '"organization";r=2;t=60',
    ]);
  });

  test('counts all requests with an active key that is for their address, even failed ones, and no others', async () => {
    const { send, addKey, keys } = await startService({ limits: { requestsPerMinute: 6 } });
    const reading = await addKey('reading', { type: 'admin', scopes: ['read'] });
    const counted: [TestRequest, number][] = [
      [{ method: 'HEAD' }, 200],
      [{ path: STATS.replace('docs', 'nowhere') }, 404],
      [{ method: 'DELETE' }, 405],
      [{ path: `${STATS}?x=1` }, 400],
      [{ method: 'POST', path: QUERIES, body: 'x' }, 415],
      [{ key: reading, method: 'POST', path: QUERIES }, 403],
    ];
    for (const [at, [request, status]] of counted.entries()) {
      for (const key of [keys.expired, keys.revoked, keys.disabled, keys.unknown, null]) {
        expect(readLimits(await send({ ...request, key }))).toEqual([401, undefined, undefined, undefined]);
      }
      for (const path of ['/livez', '/readyz', '/nowhere', '/docs']) {
        expect(readLimits(await send({ path })).slice(1)).toEqual([undefined, undefined, undefined]);
      }
      expect(readLimits(await send(request)).slice(0, 3), JSON.stringify(request.path)).toEqual([
        status,
        '"organization";q=6;w=60',
        `"organization";r=${5 - at};t=60`,
      ]);
    }
    for (const [request] of counted) expect((await send(request)).status, 'all of it').toBe(429);
  });

  test('is checked after the key and its addresses, and before everything else', async () => {
    const { send, addKey, keys, calls } = await startService({ limits: { requestsPerMinute: 1 } });
    expect((await send()).status).toBe(200);
    const reading = await addKey('reads only', { type: 'admin', scopes: ['read'] });
    for (const name of ['expired', 'revoked', 'disabled', 'unknown'] satisfies KeyName[]) {
      expect((await send({ key: keys[name] })).status, name).toBe(401);
    }
    calls.length = 0;
    expect(
      await sendAll(send, [
        { key: reading },
        { key: reading, method: 'POST', path: QUERIES, body: 'x' },
        { path: STATS.replace('docs', 'nowhere') },
        { path: STATS.replace('docs', 'rival-docs') },
        { method: 'PATCH' },
        { path: `${STATS}?x=1` },
        { method: 'POST', path: QUERIES, headers: { ...json, 'content-encoding': 'br' }, body: 'x' },
      ]),
    ).toEqual(Array(7).fill(429));
    expect(new Set(calls.map(({ method }) => method)), 'stores no use and reads nothing').toEqual(
      new Set(['findAccess']),
    );
  });

  test('counts concurrent requests', async () => {
    const { send } = await startService({ limits: { requestsPerMinute: 10 } });
    const answers = await Promise.all(Array.from({ length: 25 }, () => send()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    const left = answers.filter(({ status }) => status === 200).map(({ headers }) => headers['ratelimit']);
    expect(new Set(left).size, 'each response has its own remaining number').toBe(10);
  });
});

describe('the rate limit of a person', () => {
  const projects = { path: '/api/organizations/default/projects' };

  test('counts what they read and change, and takes nothing from others', async () => {
    const service = await startService({ limits: { requestsPerMinute: 3 } });
    const ada = await signedIn(service, 'ada@example.org', 'editor');
    const bob = await signedIn(service, 'bob@example.org', 'viewer');
    expect(readLimits(await ada.send(projects))).toEqual([200, undefined, undefined, undefined]);
    expect((await ada.send({ ...projects, body: { id: 'new', name: 'New' } })).status).toBe(201);
    expect((await ada.send({ path: '/api/start' })).status).toBe(200);
    const refused = await ada.copy('198.51.100.1').send(projects);
    expect(readLimits(refused)).toEqual([429, '"organization";q=3;w=60', '"organization";r=0;t=60', '60']);
    expect((await bob.send(projects)).status).toBe(200);
    expect((await service.send()).status).toBe(200);
    vi.advanceTimersByTime(60_000);
    expect((await ada.send(projects)).status).toBe(200);
  });

  test('holds for every operation that needs a session', async () => {
    const service = await startService({ limits: { requestsPerMinute: 1 } });
    const ada = await signedIn(service, 'ada@example.org', 'owner');
    await ada.ask(projects);
    const restricted = DASHBOARD_ROUTES.filter(({ who }) => who !== 'anybody');
    for (const { method, path } of [...restricted, { method: 'GET', path: '/api/session' }])
      expect([path, (await ada.send({ method, path: exampleOf(path) })).status]).toEqual([path, 429]);
    expect((await ada.send({ path: '/api/sign-out', body: {} })).status).toBe(204);
  });
});

describe('the rate limit of failures', () => {
  const limits = { failuresPerMinute: 3 };
  const policy = '"failures";q=3;w=60';

  test('counts failed authentications by address, HEAD requests and wrong methods too', async () => {
    const { send, keys } = await startService({ limits: { failuresPerMinute: 7 } });
    const from = '192.0.2.1';
    const failing: [TestRequest, number][] = [
      [{ key: null }, 401],
      [{ key: 'garbage' }, 401],
      [{ key: keys.unknown }, 401],
      [{ key: keys.revoked, path: STATS.replace('docs', 'nowhere') }, 401],
      [{ key: keys.recording }, 401],
      [{ key: null, method: 'HEAD' }, 401],
      [{ key: keys.disabled, method: 'DELETE' }, 401],
    ];
    for (const [at, [request, status]] of failing.entries()) {
      expect(readLimits(await send({ ...request, from })), `number ${at}`).toEqual([
        status,
        '"failures";q=7;w=60',
        `"failures";r=${6 - at};t=60`,
        undefined,
      ]);
    }
    for (const [request] of failing) {
      expect(readLimits(await send({ ...request, from }))).toEqual([
        429,
        '"failures";q=7;w=60',
        '"failures";r=0;t=60',
        '60',
      ]);
    }
    expect((await send({ key: null, from: '192.0.2.2' })).status, 'another address').toBe(401);
    expect((await send({ key: null, from: '2001:db8::1' })).status, 'another address').toBe(401);
  });

  test('counts a /64 of IPv6 together, and a /48 up to ten times the limit', async () => {
    const { send } = await startService({ limits });
    const fail = async (from: string) => (await send({ key: null, from })).status;
    const inOneNetwork = await Promise.all([1, 2, 3].map((host) => fail(`2001:db8:1:1::${host}`)));
    expect(inOneNetwork).toEqual([401, 401, 401]);
    expect(readLimits(await send({ key: null, from: '2001:db8:1:1:ffff::1' }))).toEqual([
      429,
      policy,
      '"failures";r=0;t=60',
      '60',
    ]);
    // 27 more of other networks, in the same /48.
    for (let network = 2; network <= 10; network++)
      for (let host = 1; host <= 3; host++) expect(await fail(`2001:db8:1:${network}::${host}`)).toBe(401);
    expect(readLimits(await send({ key: null, from: '2001:db8:1:ffff::1' }))).toEqual([
      429,
      '"failures";q=30;w=60',
      '"failures";r=0;t=60',
      '60',
    ]);
    expect(await fail('2001:db8:2:1::1')).toBe(401);
    expect([await fail('::ffff:192.0.2.7'), await fail('::ffff:192.0.2.8')]).toEqual([401, 401]);
  });

  test('neither counts nor blocks requests with an active key', async () => {
    const { send, addKey } = await startService({ limits });
    const elsewhere = await addKey('elsewhere', { type: 'admin', allow: ['192.0.2.1'] });
    for (let n = 0; n < 5; n++) {
      expect(readLimits(await send())).toEqual([200, undefined, undefined, undefined]);
      expect((await send({ key: elsewhere })).status).toBe(403);
      expect((await send({ path: STATS.replace('docs', 'nowhere') })).status).toBe(404);
    }
    expect(await sendAll(send, Array(5).fill({ key: null }))).toEqual([401, 401, 401, 429, 429]);
    expect(readLimits(await send())).toEqual([200, undefined, undefined, undefined]);
    expect((await send({ method: 'POST', path: QUERIES, headers: json, body: '[]' })).status).toBe(200);
  });

  test('ends after a minute, as its headers say', async () => {
    const { send } = await startService({ limits });
    await sendAll(send, Array(3).fill({ key: null }));
    vi.advanceTimersByTime(59_999);
    const refused = await send({ key: null });
    expect(readLimits(refused)).toEqual([429, policy, '"failures";r=0;t=1', '1']);
    expect(refused.headers['www-authenticate'], 'a challenge would suggest another key').toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(readLimits(await send({ key: null }))).toEqual([401, policy, '"failures";r=2;t=60', undefined]);
  });

  test('is independent of the limit of the organization', async () => {
    const { send } = await startService({ limits: { requestsPerMinute: 2, failuresPerMinute: 2 } });
    const both = [{}, { key: null }];
    expect(await sendAll(send, [...both, ...both, ...both])).toEqual([200, 401, 200, 401, 429, 429]);
  });
});

test('without limits, no request is blocked and no response has headers about limits', async () => {
  const { send, keys } = await startService();
  for (let n = 0; n < 10; n++) {
    const requests = [{}, { key: null }, { key: keys.unknown }, { method: 'HEAD' }, { method: 'PUT' }];
    for (const request of requests) {
      const [status, ...headers] = readLimits(await send(request));
      expect(status).not.toBe(429);
      expect(headers).toEqual([undefined, undefined, undefined]);
    }
  }
});
