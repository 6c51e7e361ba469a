/** Signing in at a real provider of OpenID Connect; refusals first. */
import { describe, expect, inject, test } from 'vitest';
import { Browser, invite, PASSWORD, signedIn } from '../support/dashboard.js';
import { type Service, startService } from '../support/http.js';
import { type OidcProvider, type OidcUser, startOidcProvider } from '../support/oidc-provider.js';
import { OidcUserAgent } from '../support/oidc-user-agent.js';
import { memberOf, runOnUsers } from '../support/people.js';
import { by, newSchemaIn } from '../support/store.js';

const publicUrl = 'http://127.0.0.1:4321';
const redirectPath = '/api/sign-in/oidc/callback/sso';
const ada: OidcUser = { id: 'u1', email: 'ada@example.org', emailVerified: true, name: 'Ada' };
const bob: OidcUser = { id: 'u2', email: 'bob@example.org', emailVerified: false, name: 'Bob' };

interface Place {
  readonly service: Service;
  readonly provider: OidcProvider;
}

async function startBoth(database?: string): Promise<Place> {
  const provider = await startOidcProvider({ users: [ada, bob], redirectPath });
  const { issuer, clientId, clientSecret } = provider;
  const service = await startService({
    ...(database === undefined ? {} : { database }),
    users: { publicUrl, singleSignOn: { name: 'Example SSO', issuer, clientId, clientSecret } },
  });
  service.hide(clientSecret);
  return { service, provider };
}

/** Where the server sends the browser; on the server itself as a path. */
async function redirectOf(browser: Browser, path: string): Promise<string> {
  const { status, headers } = await browser.send({ path });
  expect(status).toBe(302);
  return (headers['location'] ?? '').replace(publicUrl, '');
}

/** Signs in at the provider, or declines with null; gives the path that the provider sends the browser to. */
async function atProvider(browser: Browser, email: string | null, to = '/projects/docs'): Promise<string> {
  const url = await redirectOf(browser, `/api/sign-in/oidc?to=${encodeURIComponent(to)}`);
  const { pathname, search } = await new OidcUserAgent().signIn(url, email);
  return `${pathname}${search}`;
}

/** The whole way; where the browser ends up. */
async function signInAs(browser: Browser, email: string | null, to?: string): Promise<string> {
  return redirectOf(browser, await atProvider(browser, email, to));
}

const userOf = async (browser: Browser) => (await browser.ask({ path: '/api/session' }))['user'];

/** The provider's tokens, and anything else that is none of ours to keep. */
async function keptTokens({ store }: Service): Promise<unknown[]> {
  const { rows } = await runOnUsers(
    store,
    'SELECT access_token, refresh_token, id_token FROM {user_credential}',
  );
  return rows.flatMap((row) => Object.values(row)).filter((value) => value !== null);
}

describe('nobody comes in', () => {
  test.each([
    ['who is no member', 'eve@example.org', '/sign-in?problem=not_a_member'],
    ['whose address the provider has not verified', bob.email, '/sign-in?problem=unverified_email'],
    ['who declines', null, '/sign-in?problem=failed'],
  ])('%s', async (_what, email, expected) => {
    const { service, provider } = await startBoth();
    provider.users.push({ id: 'u3', email: 'eve@example.org', emailVerified: true, name: 'Eve' });
    for (const one of [ada.email, bob.email]) await service.store.addMember(memberOf(one), by);
    const browser = new Browser(service);
    expect(await signInAs(browser, email)).toBe(expected);
    expect(await userOf(browser)).toBeNull();
    expect((await runOnUsers(service.store, 'SELECT id FROM {user_account}')).rows).toEqual([]);
  });

  test('by an answer that was used, changed, or meant for another browser', async () => {
    const { service } = await startBoth();
    await service.store.addMember(memberOf(ada.email), by);
    const browser = new Browser(service);
    const answer = await atProvider(browser, ada.email);
    const failed = /^\/sign-in\?problem=failed$/;
    expect(await redirectOf(new Browser(service), answer)).toMatch(failed);
    const other = new Browser(service);
    const others = await atProvider(other, ada.email);
    expect(await redirectOf(other, others.replace(/state=[^&]+/, 'state=x'))).toMatch(failed);
    expect(await redirectOf(other, others.replace(/code=[^&]+/, 'code=x'))).toMatch(failed);
    const mine = await atProvider(browser, ada.email);
    expect(await redirectOf(browser, mine)).toBe('/projects/docs');
    await browser.ask({ path: '/api/sign-out', body: {} }, 204);
    expect(await redirectOf(browser, mine)).toMatch(failed);
    expect(await redirectOf(browser, redirectPath)).toMatch(failed);
    for (const one of [browser, other]) expect(await userOf(one)).toBeNull();
  });

  test('while the provider is away, which is said and is no failure of the server', async () => {
    const { service, provider } = await startBoth();
    await service.store.addMember(memberOf(ada.email), by);
    const browser = new Browser(service);
    const answer = await atProvider(browser, ada.email);
    await provider.stop();
    expect(await redirectOf(browser, answer)).toBe('/sign-in?problem=failed');
    expect(await userOf(browser)).toBeNull();
    const started = await startBoth();
    await started.provider.stop();
    const first = await redirectOf(new Browser(started.service), '/api/sign-in/oidc?to=/');
    expect(first).toBe('/sign-in?problem=failed');
  });

  test('through a provider that the service does not know, or by another path of the library', async () => {
    const { service } = await startBoth();
    const browser = new Browser(service);
    expect(await redirectOf(browser, redirectPath.replace('sso', 'github'))).toMatch(/problem=failed$/);
    for (const path of ['/api/sign-in/oidc/sign-up/email', '/api/sign-in/oidc/get-session', '/api/auth/ok'])
      expect((await browser.send({ path })).status).toBe(404);
  });
});

test.each([
  ['another host', '//other.test/'],
  ['a URL', 'https://other.test/'],
  ['a backslash', '/\\other.test'],
  ['a script', 'javascript:alert(1)'],
  ['nothing', ''],
])('%s is nowhere to come back to', async (_what, to) => {
  const { service } = await startBoth();
  await service.store.addMember(memberOf(ada.email), by);
  expect(await signInAs(new Browser(service), ada.email, to)).toBe('/');
});

const databases = [
  ['SQLite', undefined],
  ...inject('postgresServers').map(({ version, url }) => [`PostgreSQL ${version}`, url] as const),
] as const;

describe.each(databases)('on %s', (_kind, url) => {
  const start = () => startBoth(url === undefined ? undefined : newSchemaIn(url));

  test('a member gets in, with an account from the first time on, and no token is kept', async () => {
    const { service } = await start();
    await service.store.addMember(memberOf(ada.email, { role: 'owner' }), by);
    const browser = new Browser(service);
    for (const _time of [1, 2]) {
      expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
      expect(await userOf(browser)).toMatchObject({ email: ada.email, name: 'Ada', hasPassword: false });
      await browser.ask({ path: '/api/sign-out', body: {} }, 204);
    }
    expect((await runOnUsers(service.store, 'SELECT email FROM {user_account}')).rows).toEqual([
      { email: ada.email },
    ]);
    expect(await keptTokens(service)).toEqual([]);
    expect(await service.store.isSetUpOpen()).toBe(false);
  });

  test('somebody with a password is the same user, and keeps it', async () => {
    const { service } = await start();
    const withPassword = await signedIn(service, ada.email, 'editor');
    const browser = new Browser(service);
    expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
    expect(await userOf(browser)).toMatchObject({ hasPassword: true, name: ada.email });
    expect((await runOnUsers(service.store, 'SELECT id FROM {user_account}')).rows).toHaveLength(1);
    expect((await withPassword.signIn(ada.email, PASSWORD)).status).toBe(200);
    expect(await keptTokens(service)).toEqual([]);
  });

  test('who is invited joins, as what the invitation says', async () => {
    const { service } = await start();
    await invite(service, ada.email, 'editor');
    const browser = new Browser(service);
    expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({
      organizations: [{ id: 'default', role: 'editor' }],
    });
  });
});
