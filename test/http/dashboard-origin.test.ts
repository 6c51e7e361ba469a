/** Changes that a page of another site makes a browser send are refused, and change nothing. */
import { describe, expect, test } from 'vitest';
import { auditOf, type Browser, signedIn } from '../support/dashboard.js';
import { DASHBOARD_ROUTES, exampleOf, REFUSED_BODY } from '../support/dashboard-routes.js';
import { errorOf, type Service, startService } from '../support/http.js';

const own = 'http://localhost:80';

/** What the headers of such a request say; null leaves one out. */
const FOREIGN: readonly (readonly [what: string, headers: Readonly<Record<string, string | null>>])[] = [
  ['another host', { origin: 'http://other.test' }],
  ['another port', { origin: 'http://localhost:8080' }],
  ['a host that begins the same', { origin: 'http://localhost.other.test' }],
  ['a host with user and password before it', { origin: 'http://localhost@other.test' }],
  ['an opaque origin', { origin: 'null' }],
  ['nothing', { origin: '' }],
  ['no URL', { origin: 'localhost' }],
  ['no origin', { origin: null }],
  ['no origin, and a browser that does not say more', { origin: null, 'sec-fetch-site': null }],
  ['the right origin, yet another site', { origin: own, 'sec-fetch-site': 'cross-site' }],
  ['the right origin, yet a sister site', { origin: own, 'sec-fetch-site': 'same-site' }],
  ['the right origin, yet typed by the user', { origin: own, 'sec-fetch-site': 'none' }],
];

function send(browser: Browser, method: string, path: string, body: unknown, headers: object) {
  const cleaned = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value ?? '']),
  ) as Record<string, string>;
  // An empty header is as good as none to the server, and is what can be sent here.
  return browser.send({ method, path, headers: cleaned, ...(method === 'DELETE' ? {} : { body }) });
}

/** All that such a request could have changed. */
async function stateOf({ store }: Service, owner: Browser): Promise<unknown> {
  return {
    audit: await auditOf({ store } as Service),
    keys: await store.listKeys('default'),
    session: await owner.ask({ path: '/api/session' }),
    sessions: await owner.ask({ path: '/api/sessions' }),
  };
}

describe('a change that names', () => {
  test.each(FOREIGN)('%s is 403, whoever sends it', async (_what, headers) => {
    const service = await startService();
    const owner = await signedIn(service, 'ada@example.org', 'owner');
    await signedIn(service, 'bob@example.org', 'editor');
    const before = await stateOf(service, owner);
    const changes = DASHBOARD_ROUTES.filter(({ method }) => method !== 'GET').map(
      ({ method, path }) => [method, exampleOf(path), REFUSED_BODY] as const,
    );
    const base = '/api/organizations/default';
    const real = [
      ['POST', `${base}/keys`, { name: 'k', type: 'admin' }],
      ['POST', `${base}/projects`, { name: 'New', id: 'new' }],
      ['POST', `${base}/keys/admin/revoke`, {}],
      ['POST', `${base}/invitations`, { email: 'eve@example.org', role: 'owner' }],
      ['PATCH', `${base}/members/bob@example.org`, { role: 'owner' }],
      ['DELETE', `${base}/members/bob@example.org`, undefined],
      ['PATCH', '/api/account', { name: 'Eve' }],
      ['POST', '/api/sessions/end-others', {}],
      ['POST', '/api/sign-out', {}],
    ] as const;
    for (const [method, path, body] of [...changes, ...real]) {
      const answer = await send(owner, method, path, body, headers);
      expect([answer.status, errorOf(answer), answer.cookies], `${method} ${path}`).toEqual([
        403,
        'The request does not come from a page of this server.',
        [],
      ]);
    }
    expect(await stateOf(service, owner)).toEqual(before);
    // The same are done where they come from a page of the server.
    for (const [method, path, body] of real) {
      const { status } = await send(owner, method, path, body, {});
      expect([200, 201, 204, 404], `${method} ${path}`).toContain(status);
    }
    expect(await owner.ask({ path: '/api/session' })).toMatchObject({ user: null });
  });
});

test.each([
  ['its host and port', 'stats.example.org:8443', 'https://stats.example.org:8443'],
  ['its host in capitals', 'Stats.Example.org', 'https://stats.example.org'],
  ['a port that goes without saying', 'stats.example.org:443', 'https://stats.example.org'],
  ['a port that goes without saying, over HTTP', 'stats.example.org', 'http://stats.example.org:80'],
  ['an address', '[::1]:4000', 'http://[::1]:4000'],
])('the server knows itself by %s', async (_what, host, origin) => {
  const service = await startService();
  const owner = await signedIn(service, 'ada@example.org', 'owner');
  const headers = { host, origin };
  expect((await owner.send({ path: '/api/sessions/end-others', body: {}, headers })).status).toBe(204);
  const other = { host, origin: origin.replace('//', '//not-') };
  expect((await owner.send({ path: '/api/sessions/end-others', body: {}, headers: other })).status).toBe(403);
});

test('reading asks for no origin, and tells pages of other sites nothing', async () => {
  const service = await startService();
  const owner = await signedIn(service, 'ada@example.org', 'owner');
  const headers = { origin: 'http://other.test', 'sec-fetch-site': 'cross-site' };
  const answer = await owner.send({ path: '/api/session', headers });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ 'cross-origin-resource-policy': 'same-origin' });
});
