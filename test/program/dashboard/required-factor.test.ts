/** Organizations that require a second factor of their members. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ROLES, type Role } from '../../../src/domain/people/member.js';
import type { StartResponse } from '../../../src/http/dashboard/responses.js';
import { auditOf, Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { DASHBOARD_ROUTES, exampleOf, REFUSED_BODY } from '../../support/http/dashboard-routes.js';
import { errorOf, STATS, sharedService, startService } from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';
import { addPasskey, deviceOf, provePasskey } from '../../support/users/passkeys.js';
import { runOnUsers } from '../../support/users/people.js';
import { codeNow } from '../../support/users/visitor.js';

const organization = '/api/organizations/default';
const [ada, bob] = ['ada@example.org', 'bob@example.org'];

const require = (browser: Browser, secondFactor: unknown = 'required') =>
  browser.send({ method: 'PATCH', path: organization, body: { secondFactor } });

/** Expects the refusal that leads to setting up a second factor. */
function expectLocked(answer: Answer, about?: string): void {
  expect([answer.status, answer.headers['x-error-code'], errorOf(answer)], about).toEqual([
    403,
    'second_factor_required',
    'Default requires a second factor. Set one up on your account page first.',
  ]);
}

const organizationsOf = async (browser: Browser) =>
  (await browser.ask<{ organizations: object[] }>({ path: '/api/session' })).organizations;

describe('members without a second factor', () => {
  const service = sharedService();
  const people: Partial<Record<Role, Browser>> = {};
  beforeAll(async () => {
    const owner = await signedIn(service(), ada, 'owner');
    await addPasskey(owner, deviceOf(service()));
    for (const role of ROLES) people[role] = await signedIn(service(), `${role}@example.org`, role);
    expect((await require(owner)).status).toBe(200);
  });
  const person = (role: Role) => people[role] ?? new Browser(service());
  const use = (browser: Browser, method: string, path: string) =>
    browser.send({
      method,
      path: exampleOf(path),
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: REFUSED_BODY }),
    });

  test('learn the names of their organizations only', async () => {
    const { session, projects } = await person('viewer').ask<StartResponse>({ path: '/api/start' });
    expect(session.organizations.map(({ id, locked }) => [id, locked])).toEqual([['default', true]]);
    expect(projects).toEqual({});
  });

  const routes = DASHBOARD_ROUTES.map(({ method, path, who }) => [method, path, who] as const);

  test.each(routes.filter(([, path]) => path.startsWith('/api/organizations/')))(
    'may not use %s %s, whatever their role',
    async (method, path) => {
      for (const role of ROLES) expectLocked(await use(person(role), method, path), role);
    },
  );

  test.each(routes.filter(([, , who]) => who === 'user'))('may use %s %s', async (method, path) => {
    expect([200, 400, 404]).toContain((await use(person('viewer'), method, path)).status);
  });
});

test('only owners who have a second factor require it', async () => {
  const service = await startService();
  const owner = await signedIn(service, ada, 'owner');
  const refused = await require(owner);
  expect([refused.status, errorOf(refused)]).toEqual([400, 'Set up a second factor for yourself first.']);
  await addPasskey(owner, deviceOf(service));
  for (const wrong of [true, 'yes', null, '']) expect((await require(owner, wrong)).status).toBe(400);
  for (const role of ['editor', 'viewer'] as const) {
    const other = await signedIn(service, `${role}@example.org`, role);
    await addPasskey(other, deviceOf(service));
    expect((await require(other)).status).toBe(403);
    expect(await other.ask({ path: `${organization}/members` })).toMatchObject({
      members: [{ secondFactor: null }, {}, {}].slice(0, role === 'editor' ? 2 : 3),
    });
  }
  await signedIn(service, bob, 'viewer');
  const { members } = await owner.ask<{ members: { email: string; secondFactor: boolean }[] }>({
    path: `${organization}/members`,
  });
  expect(members.filter(({ secondFactor }) => !secondFactor).map(({ email }) => email)).toEqual([bob]);
  expect((await require(owner)).status).toBe(200);
  expect((await require(owner)).status).toBe(200);
  expect((await require(owner, 'optional')).status).toBe(200);
  const entries = (await auditOf(service)).filter(({ action }) => action === 'organization.change');
  expect(entries.map(({ actor, detail }) => `${actor} ${detail}`)).toEqual([
    `${ada} second factor: optional`,
    `${ada} second factor: required`,
  ]);
});

test('a change applies at once on every node, to sessions that began before it, and not to keys', async () => {
  const service = await startService();
  const node = await startService({ database: service.databaseUrl, keys: service.keys });
  const owner = await signedIn(service, ada, 'owner');
  await addPasskey(owner, deviceOf(service));
  const member = await signedIn(node, bob, 'editor');
  const ask = () => member.send({ path: `${organization}/projects` });
  expect((await ask()).status).toBe(200);
  await require(owner);
  expectLocked(await ask());
  expect((await node.send({ path: STATS })).status).toBe(200);
  await require(owner, 'optional');
  expect((await ask()).status).toBe(200);
});

test('a member of two organizations uses the other one', async () => {
  const service = await startService();
  const owner = await signedIn(service, ada, 'owner');
  await addPasskey(owner, deviceOf(service));
  await require(owner);
  const member = await signedIn(service, bob, 'viewer', { organization: 'rival' });
  const token = await invite(service, bob, 'viewer');
  await member.ask({ path: '/api/invitations/accept', body: { token } }, 204);
  expectLocked(await member.send({ path: `${organization}/keys` }));
  expect((await member.send({ path: '/api/organizations/rival/keys' })).status).toBe(200);
  expect(await organizationsOf(member)).toMatchObject([
    { id: 'default', secondFactor: 'required', locked: true },
    { id: 'rival', secondFactor: 'optional', locked: false },
  ]);
});

test('a new member joins, sets up a second factor, and continues with the same session', async () => {
  const service = await startService();
  const owner = await signedIn(service, ada, 'owner');
  await addPasskey(owner, deviceOf(service));
  await require(owner);
  const member = new Browser(service);
  const token = await invite(service, bob, 'viewer');
  const account = { token, name: 'Bob', password: PASSWORD };
  await member.ask({ path: '/api/invitations/accept', body: account }, 204);
  expectLocked(await member.send({ path: `${organization}/projects` }));
  expect((await addPasskey(member, deviceOf(service))).status).toBe(204);
  expect((await member.send({ path: `${organization}/projects` })).status).toBe(200);
  expect(await organizationsOf(member)).toMatchObject([{ locked: false }]);
});

test('the last second factor stays while it is required; an operator who removes it leads to setting it up', async () => {
  const service = await startService();
  const owner = await signedIn(service, ada, 'owner');
  const [one, two] = [deviceOf(service), deviceOf(service)];
  await addPasskey(owner, one, 'One');
  await addPasskey(owner, two, 'Two', await provePasskey(owner, one));
  await require(owner);
  const { passkeys } = await owner.ask<{ passkeys: { id: string; name: string }[] }>({
    path: '/api/account/passkeys',
  });
  const remove = async (name: string) =>
    owner.send({
      path: `/api/account/passkeys/${passkeys.find((one) => one.name === name)?.id}/remove`,
      body: await provePasskey(owner, two),
    });
  expect((await remove('One')).status).toBe(204);
  const refused = await remove('Two');
  expect([refused.status, errorOf(refused)]).toEqual([
    409,
    'Default requires a second factor. Add another one before you remove this one.',
  ]);
  await runOnUsers(service.store, 'DELETE FROM {user_passkey}');
  expectLocked(await owner.send({ path: `${organization}/projects` }));
  // Codes without a passkey stay, too.
  const { uri, backupCodes } = await owner.ask<{ uri: string; backupCodes: string[] }>({
    path: '/api/account/second-factor/start',
    body: { password: PASSWORD },
  });
  const code = codeNow(uri);
  await owner.ask({ path: '/api/account/second-factor/confirm', body: { code } }, 204);
  const stop = (backupCode = '') =>
    owner.send({
      path: '/api/account/second-factor/stop',
      body: { password: PASSWORD, code: backupCode },
    });
  expect((await stop(backupCodes[0])).status).toBe(409);
  await require(owner, 'optional');
  expect((await stop(backupCodes[1])).status).toBe(204);
});
