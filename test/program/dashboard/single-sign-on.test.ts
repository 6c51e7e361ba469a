/** Single sign-on with a real OpenID Connect provider. */
import { describe, expect, test } from 'vitest';
import { freshSessionSeconds } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { auditOf, Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { errorOf, type Service, startService } from '../../support/http/http.js';
import { by, databases } from '../../support/storage/store.js';
import { type OidcProvider, type OidcUser, startOidcProvider } from '../../support/users/oidc-provider.js';
import { OidcUserAgent } from '../../support/users/oidc-user-agent.js';
import { addPasskey, deviceOf, provePasskey } from '../../support/users/passkeys.js';
import { memberOf, runOnUsers } from '../../support/users/people.js';
import { SoftwareAuthenticator } from '../../support/users/software-authenticator.js';
import { codeNow, codesOf, travel, usersOf } from '../../support/users/visitor.js';
import { isDeep } from '../../support/volume.js';

const publicUrl = 'http://127.0.0.1:4321';
const redirectPath = '/api/sign-in/oidc/callback/sso';
const ada: OidcUser = { id: 'u1', email: 'ada@example.org', emailVerified: true, name: 'Ada' };
const bob: OidcUser = { id: 'u2', email: 'bob@example.org', emailVerified: false, name: 'Bob' };

async function startBoth(
  database?: string,
  secondFactor: 'require' | 'trust' = 'require',
  url = publicUrl,
): Promise<{ service: Service; provider: OidcProvider }> {
  const provider = await startOidcProvider({ users: [ada, bob], redirectPath });
  const { issuer, clientId, clientSecret } = provider;
  const service = await startService({
    database,
    users: {
      publicUrl: url,
      singleSignOn: { issuer, clientId, clientSecret, secondFactor },
    },
  });
  service.hide(clientSecret);
  return { service, provider };
}

/** The URL to which the server redirects; without the origin if it is the server's own. */
async function followRedirect(browser: Browser, path: string): Promise<string> {
  const { status, headers } = await browser.send({ path });
  expect(status).toBe(302);
  return (headers['location'] ?? '').replace(/^http:\/\/(127\.0\.0\.1|localhost):4321(?=\/)/, '');
}

/** Signs in at the provider, or declines if `email` is null; returns the path to which the provider redirects. */
async function signInAtProvider(
  browser: Browser,
  email: string | null,
  to = '/projects/docs',
): Promise<string> {
  const url = await followRedirect(browser, `/api/sign-in/oidc?to=${encodeURIComponent(to)}`);
  const { pathname, search } = await new OidcUserAgent().signIn(url, email);
  return `${pathname}${search}`;
}

/** Signs in; returns the path at which the browser ends up. */
async function signInAs(browser: Browser, email: string | null, to?: string): Promise<string> {
  return followRedirect(browser, await signInAtProvider(browser, email, to));
}

const findUser = async (browser: Browser) => (await browser.ask({ path: '/api/session' }))['user'];

/** What the audit log says of successful sign-ins, newest first. */
async function signIns(service: Service): Promise<string[]> {
  const entries = (await auditOf(service)).filter(({ action }) => action === 'user.sign_in');
  return entries.map(({ actor, detail }) => `${actor} ${detail}`);
}

/** The provider's tokens in the database. */
async function storedTokens({ store }: Service): Promise<unknown[]> {
  const { rows } = await runOnUsers(
    store,
    'SELECT access_token, refresh_token, id_token FROM {user_credential}',
  );
  return rows.flatMap((row) => Object.values(row)).filter((value) => value !== null);
}

describe('single sign-on rejects', () => {
  test.each([
    ['a user who is not a member', 'eve@example.org', '/sign-in?problem=not_a_member'],
    ['a user whose e-mail address is unverified', bob.email, '/sign-in?problem=unverified_email'],
    ['a user who declines', null, '/sign-in?problem=failed'],
  ])('%s', async (_what, email, expected) => {
    const { service, provider } = await startBoth();
    provider.users.push({ id: 'u3', email: 'eve@example.org', emailVerified: true, name: 'Eve' });
    for (const one of [ada.email, bob.email]) await service.store.directory.addMember(memberOf(one), by);
    const browser = new Browser(service);
    expect(await signInAs(browser, email)).toBe(expected);
    expect(await findUser(browser)).toBeNull();
    expect((await runOnUsers(service.store, 'SELECT id FROM {user_account}')).rows).toEqual([]);
    const problem = expected.split('=')[1];
    expect(service.log()).toMatch(new RegExp(`"status":302,"problem":"${problem}".*"request refused"`));
  });

  test('a response that was used, changed, or meant for another browser', async () => {
    const { service } = await startBoth();
    await service.store.directory.addMember(memberOf(ada.email), by);
    const browser = new Browser(service);
    const answer = await signInAtProvider(browser, ada.email);
    const failed = /^\/sign-in\?problem=failed$/;
    expect(await followRedirect(new Browser(service), answer)).toMatch(failed);
    const other = new Browser(service);
    const others = await signInAtProvider(other, ada.email);
    expect(await followRedirect(other, others.replace(/state=[^&]+/, 'state=x'))).toMatch(failed);
    expect(await followRedirect(other, others.replace(/code=[^&]+/, 'code=x'))).toMatch(failed);
    const mine = await signInAtProvider(browser, ada.email);
    expect(await followRedirect(browser, mine)).toBe('/projects/docs');
    await browser.ask({ path: '/api/sign-out', body: {} }, 204);
    expect(await followRedirect(browser, mine)).toMatch(failed);
    expect(await followRedirect(browser, redirectPath)).toMatch(failed);
    for (const one of [browser, other]) expect(await findUser(one)).toBeNull();
  });

  test('everyone while the provider is unavailable', async () => {
    const { service, provider } = await startBoth();
    await service.store.directory.addMember(memberOf(ada.email), by);
    const browser = new Browser(service);
    const answer = await signInAtProvider(browser, ada.email);
    await provider.stop();
    expect(await followRedirect(browser, answer)).toBe('/sign-in?problem=failed');
    expect(await findUser(browser)).toBeNull();
    expect(service.log()).toContain('Failed to validate authorization code: connect ECONNREFUSED ');
    const started = await startBoth();
    await started.provider.stop();
    const first = await followRedirect(new Browser(started.service), '/api/sign-in/oidc?to=/');
    expect(first).toBe('/sign-in?problem=failed');
    expect(started.service.log()).toMatch(
      /the provider does not answer at http:[^" ]+configuration: connect ECONNREFUSED /,
    );
  });

  test.each([
    redirectPath.replace('sso', 'github'),
    ...['..\\get-session', '..\\..\\ok', '..%5Cget-session', '..%2Fget-session', '%2e%2e\\ok', 'sso\\x'].map(
      (rest) => redirectPath.replace('sso', rest),
    ),
    '/api/sign-in/oidc/sign-up/email',
    '/api/sign-in/oidc/get-session',
    '/api/auth/ok',
  ])('an unknown provider and other paths of the library: %s', async (path) => {
    const { service } = await startBoth();
    const { status, cookies } = await service.sendRaw(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect([status, cookies]).toEqual([404, []]);
  });

  test('starting it stores nothing, however often', async () => {
    const { service } = await startBoth();
    for (let time = 0; time < 3; time++)
      await followRedirect(new Browser(service), '/api/sign-in/oidc?to=/members');
    expect((await runOnUsers(service.store, 'SELECT identifier FROM {user_verification}')).rows).toEqual([]);
  });

  test('a name that would change the text around it', async () => {
    const { service, provider } = await startBoth();
    const name = 'Eve\n\u202egpj.\u0007';
    provider.users.push({ id: 'u3', email: 'eve@example.org', emailVerified: true, name });
    await service.store.directory.addMember(memberOf('eve@example.org'), by);
    const browser = new Browser(service);
    expect(await signInAs(browser, 'eve@example.org')).toBe('/projects/docs');
    expect(await findUser(browser)).toMatchObject({ name: 'eve@example.org' });
  });
});

test.each([
  ['cross-site', '/sign-in?to=%2Fmembers'],
  ['same-site', '/sign-in?to=%2Fmembers'],
  ['same-origin', undefined],
  ['none', undefined],
])('begins with a click or an address, and not with a link of another site: %s', async (site, expected) => {
  const { service, provider } = await startBoth();
  const headers = { 'sec-fetch-site': site };
  const answer = await new Browser(service).send({ path: '/api/sign-in/oidc?to=/members', headers });
  expect(answer.status).toBe(302);
  if (expected !== undefined) expect([answer.headers['location'], answer.cookies]).toEqual([expected, []]);
  else expect(answer.headers['location']).toContain(provider.issuer);
});

test.each([
  ['another host', '//other.test/'],
  ['a URL', 'https://other.test/'],
  ['a backslash', '/\\other.test'],
  ['a script', 'javascript:alert(1)'],
  ['an empty path', ''],
  ['a host behind dots', '/..//other.test'],
])('does not redirect to %s after signing in', async (_what, to) => {
  const { service } = await startBoth();
  await service.store.directory.addMember(memberOf(ada.email), by);
  expect(await signInAs(new Browser(service), ada.email, to)).toBe('/');
});

// The base path comes before it.
test.each(['/../another-app', '/%2e%2e/another-app', '/x/../../another-app'])(
  'redirects to no path above the base path after signing in: %s',
  async (to) => {
    const { service } = await startBoth();
    await service.store.directory.addMember(memberOf(ada.email), by);
    expect(await signInAs(new Browser(service), ada.email, to)).toBe('/another-app');
  },
);

/** Turns on a second factor; returns its codes. */
async function addSecondFactor(browser: Browser): Promise<(timeMs: number) => string> {
  const { uri } = await browser.ask<{ uri: string }>({
    path: '/api/account/second-factor/start',
    body: { password: PASSWORD },
  });
  const body = { code: codeNow(uri) };
  await browser.ask({ path: '/api/account/second-factor/confirm', body }, 204);
  return codesOf(uri);
}

describe('a user with two-factor authentication', () => {
  /** Signs in once by single sign-on, and then has a password and a second factor. */
  const prepare = async (secondFactor: 'require' | 'trust', amr?: readonly string[]) => {
    const { service, provider } = await startBoth(undefined, secondFactor);
    await service.store.directory.addMember(memberOf(ada.email), by);
    provider.users.splice(0, 1, { ...ada, ...(amr && { amr }) });
    const first = new Browser(service);
    await signInAs(first, ada.email);
    const token = await usersOf(service.store).credentials.startPasswordReset(ada.email);
    await first.ask({ path: '/api/password-reset', body: { token, password: PASSWORD } }, 204);
    await first.signIn(ada.email);
    const code = await addSecondFactor(first);
    return { service, code };
  };
  const asked = '/sign-in?second-factor=1&to=%2Fprojects%2Fdocs';

  test('enters a code after single sign-on', async () => {
    const { service, code } = await prepare('require', ['mfa']);
    const sessions = async () => (await runOnUsers(service.store, 'SELECT id FROM {user_session}')).rows;
    const before = await sessions();
    const browser = new Browser(service);
    expect(await signInAs(browser, ada.email)).toBe(asked);
    expect(await findUser(browser)).toBeNull();
    // Neither the browser nor the database has a session that began before the code.
    expect([...browser.cookies.keys()]).not.toContain('caller-stats.session_token');
    expect(await sessions()).toEqual(before);
    const confirm = (text: string, trustDevice = false) =>
      browser.send({ path: '/api/sign-in/second-factor', body: { code: text, trustDevice } });
    expect((await confirm('000000')).status).toBe(401);
    travel(Date.now() + 30_000);
    expect((await confirm(code(Date.now()), true)).status).toBe(204);
    expect(await findUser(browser)).toMatchObject({ email: ada.email });
    // The first one was in preparation.
    expect(await signIns(service)).toEqual([
      `${ada.email} with a code as the second factor`,
      `${ada.email} with a password`,
      `${ada.email} with single sign-on`,
    ]);
    // This browser is trusted now; another one is not.
    await browser.ask({ path: '/api/sign-out', body: {} }, 204);
    expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
    expect(await signInAs(new Browser(service), ada.email)).toBe(asked);
  });

  test.each([
    ['says nothing', undefined, '/projects/docs'],
    ['checked several factors', ['mfa'], '/projects/docs'],
    ['checked a password and a key', ['pwd', 'hwk'], '/projects/docs'],
    ['checked only a password', ['pwd'], asked],
    ['checked two of a kind', ['pwd', 'pin'], asked],
  ])('is believed to have entered one if the provider is trusted and %s', async (_what, amr, expected) => {
    const { service } = await prepare('trust', amr);
    expect(await signInAs(new Browser(service), ada.email)).toBe(expected);
  });

  test.each(['require', 'trust'] as const)(
    'changes it without a code only just after a trusted provider asked for one: %s',
    async (secondFactor) => {
      const { service, code } = await prepare(secondFactor, ['mfa']);
      const browser = new Browser(service);
      await signInAs(browser, ada.email);
      if (secondFactor === 'require') {
        travel(Date.now() + 30_000);
        await browser.ask({ path: '/api/sign-in/second-factor', body: { code: code(Date.now()) } }, 204);
      }
      const stop = async () => {
        const path = '/api/account/second-factor/stop';
        return (await browser.send({ path, body: { password: PASSWORD } })).status;
      };
      service.clock.nowMs = Date.now() + freshSessionSeconds * 1000 + 1;
      expect(await stop()).toBe(400);
      service.clock.nowMs = Date.now();
      expect(await stop()).toBe(secondFactor === 'trust' ? 204 : 400);
    },
  );
});

test.each([
  ['is trusted and checked several factors', 'trust', ['mfa'], false],
  ['is trusted and says nothing', 'trust', undefined, false],
  ['is trusted and checked only a password', 'trust', ['pwd'], true],
  ['is not trusted', 'require', ['mfa'], true],
] as const)(
  'an organization that requires a second factor, if the provider %s',
  async (_what, mode, amr, locked) => {
    const { service, provider } = await startBoth(undefined, mode);
    await service.store.directory.addMember(memberOf(ada.email, { role: 'owner' }), by);
    await service.store.directory.changeOrganization('default', { secondFactor: 'required' }, by);
    provider.users.splice(0, 1, { ...ada, ...(amr && { amr }) });
    const browser = new Browser(service);
    expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({ organizations: [{ locked }] });
    expect((await browser.send({ path: '/api/organizations/default/members' })).status).toBe(
      locked ? 403 : 200,
    );
    // With another setting, the same session counts differently.
    const { issuer, clientId, clientSecret } = provider;
    const singleSignOn = {
      issuer,
      clientId,
      clientSecret,
      secondFactor: 'require',
    } as const;
    const stricter = await startService({
      database: service.databaseUrl,
      keys: service.keys,
      users: { publicUrl, singleSignOn },
    });
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await new Browser(stricter).send({
      path: '/api/organizations/default/members',
      headers: { cookie },
    });
    expect(answer.status).toBe(403);
  },
);

test("a new password keeps the provider's second factor", async () => {
  const { service, provider } = await startBoth(undefined, 'trust');
  await service.store.directory.addMember(memberOf(ada.email, { role: 'owner' }), by);
  await service.store.directory.changeOrganization('default', { secondFactor: 'required' }, by);
  provider.users.splice(0, 1, { ...ada, amr: ['mfa'] });
  const browser = new Browser(service);
  await signInAs(browser, ada.email);
  const token = await usersOf(service.store).credentials.startPasswordReset(ada.email);
  await browser.ask({ path: '/api/password-reset', body: { token, password: PASSWORD } }, 204);
  await signInAs(browser, ada.email);
  const passwords = { password: PASSWORD, newPassword: `new ${PASSWORD}` };
  await browser.ask({ path: '/api/account/password', body: passwords }, 204);
  expect(await browser.ask({ path: '/api/session' })).toMatchObject({ organizations: [{ locked: false }] });
  // A password alone is not a second factor.
  await browser.signIn(ada.email, passwords.newPassword);
  expect(await browser.ask({ path: '/api/session' })).toMatchObject({ organizations: [{ locked: true }] });
});

test('a session of single sign-on lives as long as any other, whatever becomes of that of the provider', async () => {
  const { service, provider } = await startBoth();
  await service.store.directory.addMember(memberOf(ada.email), by);
  const begun = Date.now();
  const [used, unused] = [new Browser(service), new Browser(service)];
  for (const browser of [used, unused]) await signInAs(browser, ada.email);
  await provider.stop();
  const goTo = (day: number): void => {
    travel(begun + day * dayMs + 60_000);
    service.clock.nowMs = Date.now();
  };
  for (const day of [5, 6.9]) {
    goTo(day);
    expect(await findUser(used)).toMatchObject({ email: ada.email });
  }
  goTo(7);
  expect(await findUser(unused)).toBeNull();
  for (const day of [12, 18, 24, 29.9]) {
    goTo(day);
    expect(await findUser(used)).toMatchObject({ email: ada.email });
  }
  goTo(30);
  expect(await findUser(used)).toBeNull();
});

test('a user without a password adds a passkey just after signing in, and then needs it', async () => {
  const url = 'http://localhost:4321';
  const { service } = await startBoth(undefined, 'require', url);
  await service.store.directory.addMember(memberOf(ada.email), by);
  const device = new SoftwareAuthenticator(url);
  const browser = new Browser(service);
  await signInAs(browser, ada.email);
  const start = (path: string) => browser.send({ path: `${path}/start`, body: {} });
  service.clock.nowMs = Date.now() + freshSessionSeconds * 1000 + 1;
  for (const path of ['/api/account/passkeys', '/api/account/second-factor']) {
    const stale = await start(path);
    expect([stale.status, errorOf(stale)]).toEqual([
      403,
      'Sign in again first: this can be changed for 10 minutes after signing in.',
    ]);
  }
  const endOthers = { path: '/api/sessions/end-others', body: {} };
  expect((await browser.send(endOthers)).status).toBe(403);
  service.clock.nowMs = Date.now();
  await browser.ask(endOthers, 204);
  const created = device.create(JSON.parse((await start('/api/account/passkeys')).text));
  const body = { name: 'Laptop', response: created };
  await browser.ask({ path: '/api/account/passkeys', body }, 204);
  await browser.ask({ path: '/api/sign-out', body: {} }, 204);
  expect(await signInAs(browser, ada.email)).toBe('/sign-in?second-factor=1&to=%2Fprojects%2Fdocs');
  expect(await findUser(browser)).toBeNull();
  const { codes, passkey } = JSON.parse((await start('/api/sign-in/second-factor')).text);
  expect(codes).toBe(false);
  const response = device.get(passkey);
  await browser.ask({ path: '/api/sign-in/second-factor/passkey', body: { response } }, 204);
  expect(await findUser(browser)).toMatchObject({ email: ada.email, hasPassword: false, secondFactor: true });
  const { passkey: proof } = await provePasskey(browser, device);
  const setUp = (body: object) => browser.send({ path: '/api/account/second-factor/start', body });
  expect((await setUp({})).status).toBe(400);
  service.clock.nowMs = Date.now() + freshSessionSeconds * 1000 + 1;
  expect((await setUp({ passkey: proof })).status).toBe(403);
  service.clock.nowMs = Date.now();
  expect((await setUp({ passkey: proof })).status).toBe(200);
});

/** `npm test` has PostgreSQL in the other tests of sign-in. */
describe.each(isDeep ? databases : databases.slice(0, 1))('on %s', (_kind, newDatabase) => {
  const start = () => startBoth(newDatabase());

  test('creates an account at the first sign-in and stores no token', async () => {
    const { service } = await start();
    await service.store.directory.addMember(memberOf(ada.email, { role: 'owner' }), by);
    const browser = new Browser(service);
    for (const _time of [1, 2]) {
      expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
      expect(await findUser(browser)).toMatchObject({ email: ada.email, name: 'Ada', hasPassword: false });
      await browser.ask({ path: '/api/sign-out', body: {} }, 204);
    }
    expect((await runOnUsers(service.store, 'SELECT email FROM {user_account}')).rows).toEqual([
      { email: ada.email },
    ]);
    expect(await storedTokens(service)).toEqual([]);
    expect(await signIns(service)).toEqual(new Array(2).fill(`${ada.email} with single sign-on`));
    expect(await service.store.directory.isSetUpOpen()).toBe(false);
  });

  test('is the first proof of an address, and removes what somebody else may have created for it', async () => {
    const { service } = await start();
    const stranger = await signedIn(service, ada.email, 'editor');
    const device = stranger.copy();
    await addSecondFactor(stranger);
    const browser = new Browser(service);
    expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
    expect(await findUser(browser)).toMatchObject({
      hasPassword: false,
      secondFactor: false,
      name: ada.email,
    });
    for (const one of [stranger, device]) {
      expect(await findUser(one)).toBeNull();
      expect((await one.signIn(ada.email, PASSWORD)).status).toBe(401);
    }
    expect((await runOnUsers(service.store, 'SELECT id FROM {user_account}')).rows).toHaveLength(1);
    expect((await runOnUsers(service.store, 'SELECT id FROM {user_second_factor}')).rows).toEqual([]);
    expect(await auditOf(service)).toContainEqual(
      expect.objectContaining({
        action: 'user.password',
        targetId: ada.email,
        detail: expect.stringContaining('proved'),
      }),
    );
    expect(await storedTokens(service)).toEqual([]);
  });

  test('leaves an account alone whose address it has proved', async () => {
    const { service } = await start();
    await service.store.directory.addMember(memberOf(ada.email), by);
    const browser = new Browser(service);
    await signInAs(browser, ada.email);
    const setLink = await usersOf(service.store).credentials.startPasswordReset(ada.email);
    const body = { token: setLink, password: PASSWORD };
    await browser.ask({ path: '/api/password-reset', body }, 204);
    expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
    expect(await findUser(browser)).toMatchObject({ hasPassword: true });
    expect((await new Browser(service).signIn(ada.email)).status).toBe(200);
  });

  test('does not open an account for another user of the provider with its address, until it is unlinked', async () => {
    const { service, provider } = await start();
    await service.store.directory.addMember(memberOf(ada.email), by);
    const [first, second] = [new Browser(service), new Browser(service)];
    await signInAs(first, ada.email);
    provider.users.splice(0, 1, { ...ada, id: 'u9' });
    expect(await signInAs(second, ada.email)).toBe('/sign-in?problem=linked_to_another');
    expect(await findUser(second)).toBeNull();
    const subjects = async () =>
      (await runOnUsers(service.store, 'SELECT account_id FROM {user_credential}')).rows;
    expect(await subjects()).toEqual([{ account_id: 'u1' }]);
    const { users } = usersOf(service.store);
    await users.unlinkProvider(ada.email);
    expect(await findUser(first)).toBeNull();
    expect(await signInAs(second, ada.email)).toBe('/projects/docs');
    expect(await subjects()).toEqual([{ account_id: 'u9' }]);
  });

  test('joins the only organization that there is by its invitation', async () => {
    const { service } = await start();
    for (const table of ['api_key', 'project'])
      await runOnUsers(service.store, `DELETE FROM {${table}} WHERE organization_id = 'rival'`);
    await runOnUsers(service.store, "DELETE FROM {organization} WHERE id = 'rival'");
    await invite(service, ada.email, 'editor');
    const browser = new Browser(service);
    expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({
      organizations: [{ id: 'default', role: 'editor' }],
    });
  });

  test('asks before it joins one of several organizations, and lets the user leave again', async () => {
    const { service } = await start();
    await invite(service, ada.email, 'owner', 'rival');
    const browser = new Browser(service);
    expect(await signInAs(browser, ada.email)).toBe('/projects/docs');
    const session = () =>
      browser.ask<{ organizations: { id: string }[]; invitations: { id: string }[] }>({
        path: '/api/session',
      });
    const { organizations, invitations } = await session();
    expect(organizations).toEqual([]);
    expect(invitations).toMatchObject([
      { organization: { id: 'rival' }, role: 'owner', invitedBy: 'a test', expiresAt: expect.any(String) },
    ]);
    expect(await service.store.directory.listMembers('rival')).toEqual([]);
    const id = invitations[0]?.id;
    const answer = (who: Browser, how: 'accept' | 'decline', which = id) =>
      who.send({ path: `/api/account/invitations/${which}/${how}`, body: {} });
    // Not for others, nor for an account whose address only a link has proved.
    const other = await signedIn(service, 'eve@example.org', 'owner');
    await invite(service, 'eve@example.org', 'owner', 'rival');
    const forEve = (await service.store.directory.listInvitations('rival', service.clock.nowMs)).find(
      ({ email }) => email !== ada.email,
    );
    expect((await other.ask({ path: '/api/session' }))['invitations']).toEqual([]);
    for (const which of [id, forEve?.id]) expect((await answer(other, 'accept', which)).status).toBe(404);
    expect((await answer(browser, 'accept', forEve?.id)).status).toBe(404);
    expect((await answer(browser, 'accept')).status).toBe(204);
    expect((await answer(browser, 'accept')).status).toBe(404);
    expect((await session()).organizations).toMatchObject([{ id: 'rival', role: 'owner' }]);
    await signedIn(service, 'grace@example.org', 'owner', { organization: 'rival' });
    // Also without the factor that the organization requires.
    await service.store.directory.changeOrganization('rival', { secondFactor: 'required' }, by);
    const leave = { path: '/api/account/organizations/rival/leave', body: {} };
    await browser.ask(leave, 204);
    expect((await browser.send(leave)).status).toBe(404);
    expect((await session()).organizations).toEqual([]);
    await invite(service, ada.email, 'viewer', 'rival');
    const again = (await session()).invitations[0]?.id;
    expect((await answer(browser, 'decline', again)).status).toBe(204);
    expect((await session()).invitations).toEqual([]);
    const told = (await auditOf(service, 'rival')).filter(({ actor }) => actor === ada.email);
    expect(told.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['member.add', 'member.remove', 'invitation.revoke']),
    );
  });

  test("opens what the link of another organization's account did not, and removes what that had", async () => {
    const { service } = await start();
    await service.store.directory.addMember(memberOf(ada.email, { role: 'owner' }), by);
    const stranger = await signedIn(service, ada.email, 'owner', { organization: 'rival' });
    const token = await usersOf(service.store).credentials.startPasswordReset(ada.email);
    const browser = new Browser(service);
    await signInAs(browser, ada.email);
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({
      organizations: [{ id: 'default', role: 'owner' }, { id: 'rival' }],
    });
    expect(await findUser(stranger)).toBeNull();
    // A link that was made before, for whoever had the account then.
    const reset = { path: '/api/password-reset', body: { token, password: PASSWORD } };
    expect((await stranger.send(reset)).status).toBe(404);
    expect((await stranger.signIn(ada.email)).status).toBe(401);
  });

  test('does not open the account of an address that is not that of the user any more', async () => {
    const { service, provider } = await start();
    await service.store.directory.addMember(memberOf(ada.email, { role: 'owner' }), by);
    await signInAs(new Browser(service), ada.email);
    const renamed = { ...ada, email: 'lovelace@example.org' };
    provider.users.splice(0, 1, renamed);
    await invite(service, renamed.email, 'viewer', 'rival');
    await service.store.directory.addMember(memberOf(renamed.email), by);
    const browser = new Browser(service);
    expect(await signInAs(browser, renamed.email)).toBe('/sign-in?problem=address_changed');
    expect(await findUser(browser)).toBeNull();
    await usersOf(service.store).users.unlinkProvider(ada.email);
    expect(await signInAs(browser, renamed.email)).toBe('/projects/docs');
    expect(await findUser(browser)).toMatchObject({ email: renamed.email });
  });

  test('leaves the next user of an address nothing that opened the account of the last one', async () => {
    const { service, provider } = await start();
    await service.store.directory.addMember(memberOf(ada.email), by);
    const first = new Browser(service);
    await signInAs(first, ada.email);
    const token = await usersOf(service.store).credentials.startPasswordReset(ada.email);
    await first.ask({ path: '/api/password-reset', body: { token, password: PASSWORD } }, 204);
    provider.users.splice(0, 1, { ...ada, id: 'u9' });
    await usersOf(service.store).users.unlinkProvider(ada.email);
    const second = new Browser(service);
    expect(await signInAs(second, ada.email)).toBe('/projects/docs');
    expect(await findUser(second)).toMatchObject({ hasPassword: false });
    expect((await first.signIn(ada.email)).status).toBe(401);
  });

  test('leaves the last user of an address nothing once it is unlinked', async () => {
    const { service } = await startBoth(newDatabase(), 'require', 'http://localhost:4321');
    await service.store.directory.addMember(memberOf(ada.email), by);
    await invite(service, ada.email, 'owner', 'rival');
    const first = new Browser(service);
    await signInAs(first, ada.email);
    const { invitations } = await first.ask<{ invitations: { id: string }[] }>({ path: '/api/session' });
    const accept = { path: `/api/account/invitations/${invitations[0]?.id}/accept`, body: {} };
    await first.ask(accept, 204);
    const { credentials, users } = usersOf(service.store);
    const token = await credentials.startPasswordReset(ada.email);
    await first.ask({ path: '/api/password-reset', body: { token, password: PASSWORD } }, 204);
    await first.signIn(ada.email);
    const device = deviceOf(service);
    await addPasskey(first, device);
    await users.unlinkProvider(ada.email);
    expect((await first.signIn(ada.email)).status).toBe(401);
    const challenge = await first.send({ path: '/api/sign-in/passkey/start', body: {} });
    const assertion = { response: device.get(JSON.parse(challenge.text)) };
    expect((await first.send({ path: '/api/sign-in/passkey', body: assertion })).status).toBe(401);
    expect(await findUser(first)).toBeNull();
    // Only the provider had proved the address to the other organization.
    const later = await credentials.startPasswordReset(ada.email);
    await first.ask({ path: '/api/password-reset', body: { token: later, password: PASSWORD } }, 204);
    await first.signIn(ada.email);
    expect(await first.ask({ path: '/api/session' })).toMatchObject({ organizations: [] });
  });
});
