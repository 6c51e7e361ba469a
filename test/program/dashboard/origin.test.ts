/** Requests that a page of another site makes a browser send are rejected and change nothing. */
import { describe, expect, test } from 'vitest';
import { auditOf, Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { DASHBOARD_ROUTES, exampleOf, REFUSED_BODY } from '../../support/http/dashboard-routes.js';
import { errorOf, type Service, sharedService, startService } from '../../support/http/http.js';

const own = 'http://localhost:80';

/** Headers of such requests; null omits one. */
const FOREIGN: readonly (readonly [what: string, headers: Readonly<Record<string, string | null>>])[] = [
  ['another host', { origin: 'http://other.test' }],
  ['another port', { origin: 'http://localhost:8080' }],
  ['a host with the same beginning', { origin: 'http://localhost.other.test' }],
  ['a host behind user information', { origin: 'http://localhost@other.test' }],
  ['another scheme', { origin: 'ftp://localhost' }],
  ['an extension', { origin: 'chrome-extension://localhost' }],
  ['a web socket', { origin: 'ws://localhost' }],
  ['an opaque origin', { origin: 'null' }],
  ['an empty origin', { origin: '' }],
  ['an origin that is no URL', { origin: 'localhost' }],
  ['no origin', { origin: null }],
  ['neither origin nor Sec-Fetch-Site', { origin: null, 'sec-fetch-site': null }],
  ['the right origin, but cross-site', { origin: own, 'sec-fetch-site': 'cross-site' }],
  ['the right origin, but same-site', { origin: own, 'sec-fetch-site': 'same-site' }],
  ['the right origin, but none as Sec-Fetch-Site', { origin: own, 'sec-fetch-site': 'none' }],
];

function send(browser: Browser, method: string, path: string, body: unknown, headers: object) {
  const cleaned = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value ?? '']),
  ) as Record<string, string>;
  // The server treats an empty header as a missing one; `inject` cannot omit it.
  return browser.send({ method, path, headers: cleaned, ...(method === 'DELETE' ? {} : { body }) });
}

/** Everything that such a request could change. */
async function readState({ store }: Service, owner: Browser): Promise<unknown> {
  return {
    audit: await auditOf({ store } as Service),
    keys: await store.directory.listKeys('default'),
    session: await owner.ask({ path: '/api/session' }),
    sessions: await owner.ask({ path: '/api/sessions' }),
  };
}

const base = '/api/organizations/default';

/** Valid changes. The last one ends the session. */
const VALID = [
  ['POST', `${base}/keys`, { name: 'k', type: 'admin' }],
  ['POST', `${base}/projects`, { name: 'New', id: 'new' }],
  ['POST', `${base}/keys/admin/revoke`, {}],
  ['POST', `${base}/invitations`, { email: 'eve@example.org', role: 'owner' }],
  ['PATCH', `${base}/members/bob@example.org`, { role: 'owner' }],
  ['DELETE', `${base}/members/bob@example.org`, undefined],
  ['PATCH', '/api/account', { name: 'Eve' }],
  ['POST', '/api/sessions/end-others', { password: PASSWORD }],
  ['POST', '/api/sign-out', {}],
] as const;

describe('every change returns 403 with', () => {
  let owner: Browser;
  const service = sharedService({}, async (started) => {
    owner = await signedIn(started, 'ada@example.org', 'owner');
    await signedIn(started, 'bob@example.org', 'editor');
  });

  test.each(FOREIGN)('%s', async (_what, headers) => {
    const before = await readState(service(), owner);
    const every = DASHBOARD_ROUTES.filter(({ method }) => method !== 'GET').map(
      ({ method, path }) => [method, exampleOf(path), REFUSED_BODY] as const,
    );
    for (const [method, path, body] of [...every, ...VALID]) {
      const answer = await send(owner, method, path, body, headers);
      expect([answer.status, errorOf(answer), answer.cookies], `${method} ${path}`).toEqual([
        403,
        'The request does not come from a page of this server.',
        [],
      ]);
    }
    expect(await readState(service(), owner)).toEqual(before);
  });
});

// Browsers send it only over HTTPS and from this machine, and older ones do not know it.
test('another origin is enough to refuse a change, without Sec-Fetch-Site', async () => {
  const service = await startService();
  const owner = await signedIn(service, 'ada@example.org', 'owner');
  const cookie = [...owner.cookies].map((pair) => pair.join('=')).join('; ');
  const rename = async (origin: string) => {
    const headers = { cookie, origin, 'content-type': 'application/json' };
    const request = { method: 'PATCH', path: '/api/account', body: '{"name":"Ada"}', key: null };
    return (await service.send({ ...request, headers })).status;
  };
  expect([await rename('http://other.test'), await rename(own)]).toEqual([403, 204]);
});

test('a method that changes nothing needs no origin', async () => {
  const service = await startService();
  const visitor = new Browser(service);
  const statusOf = async (method: string) =>
    (await send(visitor, method, '/api/session', undefined, { origin: 'http://other.test' })).status;
  expect([await statusOf('GET'), await statusOf('HEAD')]).toEqual([200, 200]);
  expect([await statusOf('OPTIONS'), await statusOf('TRACE')]).toEqual([405, 405]);
  expect([await statusOf('PUT'), await statusOf('PROPPATCH')]).toEqual([403, 403]);
});

test('the same changes succeed from a page of the server', async () => {
  const service = await startService();
  const owner = await signedIn(service, 'ada@example.org', 'owner');
  await signedIn(service, 'bob@example.org', 'editor');
  for (const [method, path, body] of VALID) {
    const { status } = await send(owner, method, path, body, {});
    expect([200, 201, 204], `${method} ${path}`).toContain(status);
  }
  expect(await owner.ask({ path: '/api/session' })).toMatchObject({ user: null });
});

test.each([
  ['host and port', 'stats.example.org:8443', 'https://stats.example.org:8443'],
  ['host in capitals', 'Stats.Example.org', 'https://stats.example.org'],
  ['default port', 'stats.example.org:443', 'https://stats.example.org'],
  ['default port of HTTP', 'stats.example.org', 'http://stats.example.org:80'],
  ['IP address', '[::1]:4000', 'http://[::1]:4000'],
])('the server recognizes its own origin: %s', async (_what, host, origin) => {
  const service = await startService();
  const owner = await signedIn(service, 'ada@example.org', 'owner');
  const headers = { host, origin };
  const rename = { method: 'PATCH', path: '/api/account', body: { name: 'Ada' } };
  expect((await owner.send({ ...rename, headers })).status).toBe(204);
  const other = { host, origin: origin.replace('//', '//not-') };
  expect((await owner.send({ ...rename, headers: other })).status).toBe(403);
});

describe('a change is refused, although the browser is signed in,', () => {
  const change = async (service: Service, headers: Readonly<Record<string, string>>, address?: string) => {
    const owner = new Browser(service, address);
    const email = `${address ?? 'ada'}@example.org`;
    const body = { token: await invite(service, email, 'owner'), name: 'Ada', password: PASSWORD };
    const origin = `${headers['x-forwarded-proto'] ?? 'http'}://${headers['host']}`;
    const own = service.pageOrigin.startsWith('https') ? {} : { ...headers, origin };
    await owner.ask({ path: '/api/invitations/accept', body, headers: own }, 204);
    return async (more: object) =>
      (await send(owner, 'PATCH', '/api/account', { name: 'Ada' }, { ...headers, ...more })).status;
  };

  test('from every origin but that of the public URL', async () => {
    const service = await startService({ users: { publicUrl: 'https://stats.example.org' } });
    const from = await change(service, { host: 'internal:4000' });
    expect(await from({ origin: 'https://stats.example.org' })).toBe(204);
    for (const origin of [
      'http://stats.example.org',
      'https://stats.example.org:8443',
      'http://internal:4000',
      'https://internal:4000',
      'https://other.test',
      'null',
    ])
      expect(await from({ origin }), origin).toBe(403);
  });

  test('from a page without HTTPS, if the request had it', async () => {
    const service = await startService({ trustProxy: ['192.0.2.0/24'] });
    const from = await change(service, { host: 'stats.example.org', 'x-forwarded-proto': 'https' });
    expect(await from({ origin: 'https://stats.example.org' })).toBe(204);
    expect(await from({ origin: 'http://stats.example.org' })).toBe(403);
  });

  test('from the host in X-Forwarded-Host, from a trusted proxy or not', async () => {
    const service = await startService({ trustProxy: ['192.0.2.0/24'] });
    for (const address of ['192.0.2.1', '198.51.100.1']) {
      const headers = { host: 'stats.example.org', 'x-forwarded-host': 'other.test' };
      const from = await change(service, headers, address);
      expect(await from({ origin: 'https://other.test' }), address).toBe(403);
      expect(await from({ origin: 'https://stats.example.org' }), address).toBe(204);
    }
  });
});

test('reading needs no origin, but other sites cannot use the response', async () => {
  const service = await startService();
  const owner = await signedIn(service, 'ada@example.org', 'owner');
  const headers = { origin: 'http://other.test', 'sec-fetch-site': 'cross-site' };
  const answer = await owner.send({ path: '/api/session', headers });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ 'cross-origin-resource-policy': 'same-origin' });
});
