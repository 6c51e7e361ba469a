/** A user's own account over HTTP: name, password, second factor, sessions. */
import { expect, test } from 'vitest';
import { auditOf, Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { detailsOf, errorOf, type Service, startService } from '../../support/http/http.js';
import { codeNow, travel, usersOf } from '../../support/users/visitor.js';

const ada = 'ada@example.org';

/** Of changes that users made; `audit.test.ts` has failures. */
/** The changes that users made to their accounts, newest first. */
async function userAudit(service: Service): Promise<string[]> {
  const entries = await auditOf(service);
  return entries
    .filter(({ actor, action }) => action.startsWith('user.') && actor.includes('@'))
    .filter(({ action }) => action !== 'user.sign_in')
    .map(({ actor, address, action, detail }) => `${actor} ${address} ${action} ${detail}`);
}

test('a user changes their name, and members see the new one', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const rename = (name: string) => browser.send({ method: 'PATCH', path: '/api/account', body: { name } });
  expect((await rename('')).status).toBe(400);
  expect((await rename('x'.repeat(101))).status).toBe(400);
  expect((await rename('Ada "the first" <Lovelace>')).status).toBe(204);
  expect(await browser.ask({ path: '/api/session' })).toMatchObject({
    user: { name: 'Ada "the first" <Lovelace>' },
  });
  expect(await browser.ask({ path: '/api/organizations/default/members' })).toMatchObject({
    members: [{ name: 'Ada "the first" <Lovelace>' }],
  });
  // So that nobody takes the name of an owner unnoticed.
  expect((await rename('Ada "the first" <Lovelace>')).status).toBe(204);
  const told = (await auditOf(service)).filter(({ action }) => action === 'user.name');
  expect(told).toMatchObject([
    { actor: ada, targetId: ada, detail: `${ada}, now Ada "the first" <Lovelace>` },
  ]);
});

test('a user lists their sessions, and ends one or all others', async () => {
  const service = await startService();
  const [first, second] = [
    await signedIn(service, ada, 'owner', { from: '192.0.2.1' }),
    new Browser(service, '2001:db8::7'),
  ];
  await second.send({
    path: '/api/sign-in',
    body: { email: ada, password: PASSWORD },
    headers: { 'user-agent': 'Firefox' },
  });
  const list = async () =>
    (await first.ask<{ sessions: { id: string; current: boolean }[] }>({ path: '/api/sessions' })).sessions;
  const sessions = await list();
  expect(sessions).toHaveLength(2);
  expect(sessions).toContainEqual(expect.objectContaining({ current: false, userAgent: 'Firefox' }));
  expect(sessions.map((one) => (one as { address?: string }).address)).toContain('192.0.2.1');
  expect(JSON.stringify(sessions)).not.toContain(first.cookie('caller-stats.session_token')?.slice(0, 20));
  const other = sessions.find(({ current }) => !current)?.id ?? '';
  const eve = await signedIn(service, 'eve@example.org', 'owner');
  const end = (browser: Browser, id: string, body: object = { password: PASSWORD }) =>
    browser.send({ path: `/api/sessions/${id}/end`, body });
  const endOthers = (body: object) => first.send({ path: '/api/sessions/end-others', body });
  expect((await end(eve, other)).status).toBe(404);
  for (const [body, status] of [
    [{}, 400],
    [{ password: `${PASSWORD}!` }, 401],
  ] as const)
    for (const send of [() => end(first, other, body), () => endOthers(body)])
      expect((await send()).status).toBe(status);
  expect(await list()).toHaveLength(2);
  expect((await end(first, other)).status).toBe(204);
  expect((await end(first, other)).status).toBe(404);
  expect((await second.send({ path: '/api/sessions' })).status).toBe(401);
  expect((await second.signIn(ada)).status).toBe(200);
  expect((await endOthers({ password: PASSWORD })).status).toBe(204);
  expect((await second.send({ path: '/api/sessions' })).status).toBe(401);
  expect(await list()).toMatchObject([{ current: true }]);
});

test.each([
  ['/api/sessions/end-others', 204],
  ['/api/account/second-factor/start', 200],
])('typing the password again at %s gives the session another token', async (path, status) => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const before = browser.copy();
  await browser.ask({ path, body: { password: PASSWORD } }, status);
  expect((await before.send({ path: '/api/sessions' })).status).toBe(401);
  const { sessions } = await browser.ask<{ sessions: object[] }>({ path: '/api/sessions' });
  expect(sessions).toMatchObject([{ current: true }]);
});

test('an owner ends all sessions of a member and the trust in their devices, which only this organization reads', async () => {
  const service = await startService();
  const owner = await signedIn(service, ada, 'owner');
  const bob = 'bob@example.org';
  const member = await signedIn(service, bob, 'editor');
  const elsewhere = new Browser(service);
  await elsewhere.signIn(bob);
  const eve = await signedIn(service, 'eve@example.org', 'owner', { organization: 'rival' });
  const token = await invite(service, bob, 'viewer', 'rival');
  await member.ask({ path: '/api/invitations/accept', body: { token } }, 204);
  const end = (browser: Browser, who: string, organization = 'default') =>
    browser.send({ path: `/api/organizations/${organization}/members/${who}/end-sessions`, body: {} });
  expect((await end(member, ada)).status).toBe(403);
  expect((await end(eve, bob)).status).toBe(404);
  expect((await end(eve, ada, 'rival')).status).toBe(404);
  expect(await userAudit(service)).toEqual([]);
  for (const browser of [owner, member, elsewhere])
    expect((await browser.send({ path: '/api/sessions' })).status).toBe(200);
  expect(JSON.parse((await end(owner, 'Bob@Example.org')).text)).toEqual({ ended: 2 });
  expect(JSON.parse((await end(owner, bob)).text)).toEqual({ ended: 0 });
  for (const browser of [member, elsewhere])
    expect((await browser.send({ path: '/api/sessions' })).status).toBe(401);
  expect((await owner.send({ path: '/api/sessions' })).status).toBe(200);
  expect(await userAudit(service)).toEqual([
    `${ada} 192.0.2.1 user.session_end all: 0`,
    `${ada} 192.0.2.1 user.session_end all: 2`,
  ]);
  expect(JSON.stringify(await auditOf(service, 'rival'))).not.toContain(ada);
});

test('changing the password needs the current one, ends all other sessions and is audited', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const elsewhere = new Browser(service);
  await elsewhere.signIn(ada);
  const newPassword = 'another long passphrase';
  service.hide(newPassword);
  const change = (password: string) =>
    browser.send({ path: '/api/account/password', body: { password, newPassword } });
  const wrong = await change('not the passphrase');
  expect([wrong.status, errorOf(wrong)]).toEqual([401, 'The password is wrong.']);
  expect((await change(PASSWORD)).status).toBe(204);
  expect((await browser.send({ path: '/api/sessions' })).status).toBe(200);
  expect((await elsewhere.send({ path: '/api/sessions' })).status).toBe(401);
  expect((await elsewhere.signIn(ada)).status).toBe(401);
  expect((await elsewhere.signIn(ada, newPassword)).status).toBe(200);
  expect(await userAudit(service)).toEqual([
    `${ada} ${browser.from} user.password changed; all other sessions ended`,
  ]);
});

test('a password reset link works once', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const token = await usersOf(service.store).credentials.startPasswordReset(ada);
  const password = 'another long passphrase';
  for (const secret of [token, password]) service.hide(secret);
  const reset = (one: string) =>
    new Browser(service).send({ path: '/api/password-reset', body: { token: one, password } });
  expect((await reset(`${token}x`)).status).toBe(404);
  expect((await reset(token)).status).toBe(204);
  const again = await reset(token);
  expect([again.status, errorOf(again)]).toEqual([404, 'The link was used or has expired; ask for another.']);
  expect((await browser.send({ path: '/api/sessions' })).status).toBe(401);
  expect((await browser.signIn(ada, password)).status).toBe(200);
});

test('a second factor is confirmed with a code, needed to sign in, and turned off with both', async () => {
  travel(Date.now());
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const post = (path: string, body: object, from: Browser = browser) =>
    from.send({ path: `/api/account/second-factor/${path}`, body });
  expect((await post('start', { password: 'not the passphrase' })).status).toBe(401);
  const started = JSON.parse((await post('start', { password: PASSWORD })).text) as {
    uri: string;
    secret: string;
    backupCodes: string[];
  };
  for (const secret of [started.secret, ...started.backupCodes]) service.hide(secret);
  expect(started.uri).toContain(`secret=${started.secret}`);
  const code = () => codeNow(started.uri);
  expect((await post('confirm', { code: '00000x' })).status).toBe(401);
  expect((await post('confirm', { code: ` ${code()} ` })).status).toBe(204);
  const [first, second, third] = started.backupCodes;
  const again = await post('start', { password: PASSWORD, code: first });
  expect([again.status, errorOf(again)]).toEqual([
    409,
    'The second factor is on already; turn it off first.',
  ]);

  const other = new Browser(service);
  const verify = (body: object, from: Browser = other) =>
    from.send({ path: '/api/sign-in/second-factor', body });
  expect((await verify({ code: code() })).status).toBe(401);
  expect(JSON.parse((await other.signIn(ada)).text)).toEqual({ secondFactor: true });
  expect(other.cookie('caller-stats.device')).toBeUndefined();
  expect((await other.send({ path: '/api/sessions' })).status).toBe(401);
  expect((await verify({ code: '00000x' })).status).toBe(401);
  expect((await verify({ code: code(), trustDevice: 'yes' })).status).toBe(400);
  // The code that confirmed the factor does not work again.
  expect((await verify({ code: code() })).status).toBe(401);
  travel(Date.now() + 30_000);
  expect((await verify({ code: code(), trustDevice: true })).status).toBe(204);
  expect(other.cookie('caller-stats.device')).toBeDefined();
  await other.ask({ path: '/api/sign-out', body: {} }, 204);
  expect(JSON.parse((await other.signIn(ada)).text)).toEqual({ secondFactor: false });

  const list = () => browser.ask<{ devices: { id: string }[] }>({ path: '/api/trusted-devices' });
  const [device, ...more] = (await list()).devices;
  expect(more).toEqual([]);
  expect(device).toMatchObject({ address: other.from, userAgent: expect.any(String) });
  const forget = { method: 'DELETE', path: `/api/trusted-devices/${device?.id}` };
  expect((await browser.send(forget)).status).toBe(204);
  expect((await browser.send(forget)).status).toBe(404);
  expect((await list()).devices).toEqual([]);
  expect(JSON.parse((await other.signIn(ada)).text)).toEqual({ secondFactor: true });

  const stranger = new Browser(service);
  await stranger.signIn(ada);
  expect((await verify({ code: second }, stranger)).status).toBe(204);
  expect((await post('stop', { password: PASSWORD })).status).toBe(400);
  expect((await post('stop', { password: PASSWORD, code: third })).status).toBe(204);
  expect(JSON.parse((await new Browser(service).signIn(ada)).text)).toEqual({ secondFactor: false });
  expect(await userAudit(service)).toEqual([
    `${ada} ${browser.from} user.second_factor off`,
    `${ada} ${browser.from} user.trust ended for a device`,
    `${ada} ${browser.from} user.session_end signed out`,
    `${ada} ${browser.from} user.trust granted to a device`,
    `${ada} ${browser.from} user.second_factor on`,
  ]);
});

test('ten wrong codes lock the second factor for 15 minutes', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const start = { path: '/api/account/second-factor/start', body: { password: PASSWORD } };
  const { uri } = await browser.ask<{ uri: string }>(start);
  const code = () => codeNow(uri);
  await browser.ask({ path: '/api/account/second-factor/confirm', body: { code: code() } }, 204);
  const attempt = async (text: string, at: number) => {
    const stranger = new Browser(service, `198.51.100.${at}`);
    await stranger.signIn(ada);
    return stranger.send({ path: '/api/sign-in/second-factor', body: { code: text } });
  };
  for (let at = 0; at < 10; at++) expect((await attempt('00000x', at)).status).toBe(401);
  const locked = await attempt(code(), 99);
  expect([locked.status, locked.headers['retry-after'], locked.cookies]).toEqual([429, '900', []]);
  expect((await browser.send({ path: '/api/sessions' })).status).toBe(200);
});

test('a password that is easy to guess is refused wherever one is set, and changes nothing', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const token = await invite(service, 'bob@example.org', 'viewer');
  const reset = await usersOf(service.store).credentials.startPasswordReset(ada);
  const weak = 'password1234';
  for (const [path, body, field] of [
    ['/api/account/password', { password: PASSWORD, newPassword: weak }, 'newPassword'],
    ['/api/password-reset', { token: reset, password: weak }, 'password'],
    ['/api/invitations/accept', { token, name: 'Bob', password: weak }, 'password'],
  ] as const) {
    const answer = await browser.send({ path, body });
    expect([answer.status, ...detailsOf(answer)], path).toEqual([
      400,
      expect.stringMatching(new RegExp(`^${field}: is one that many people use`)),
    ]);
  }
  expect((await browser.signIn(ada)).status).toBe(200);
  // Both links still work.
  const good = { password: 'another long passphrase' };
  await browser.ask({ path: '/api/password-reset', body: { token: reset, ...good } }, 204);
  await browser.ask({ path: '/api/invitations/accept', body: { token, name: 'Bob', ...good } }, 204);
});
