/**
 * An account that the link of one organization made, for the address of a member of another: the owner of the first may have
 * opened the link. It opens only the first, until the other's own link proves the address.
 */
import { describe, expect, test } from 'vitest';
import { newInvitation } from '../../../src/domain/people/invitation.js';
import { runCli } from '../../support/cli/cli.js';
import { auditOf, Browser, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { errorOf, startService } from '../../support/http/http.js';
import { by, databases } from '../../support/storage/store.js';
import { addPasskey, deviceOf } from '../../support/users/passkeys.js';
import { memberOf } from '../../support/users/people.js';
import { codeNow, usersOf } from '../../support/users/visitor.js';

const [ada, bob] = ['ada@example.org', 'bob@example.org'] as const;

async function organizationsOf(browser: Browser): Promise<string[]> {
  const { organizations } = await browser.ask<{ organizations: { id: string }[] }>({ path: '/api/session' });
  return organizations.map(({ id }) => id);
}

const statusOf = async (browser: Browser, path: string) =>
  (await browser.send({ path: `/api/organizations/default${path}` })).status;

describe.each(databases)('on %s', (_kind, newDatabase) => {
  /** A server with a second organization, and the browser of a stranger with an account for the address of a member. */
  const start = async (role: 'owner' | 'viewer' = 'owner') => {
    const service = await startService({ database: newDatabase() });
    await service.store.directory.addMember(memberOf(ada, { role }), by);
    return { service, stranger: await signedIn(service, ada, 'editor', { organization: 'rival' }) };
  };
  /** Joins with the session of a browser. */
  const join = (browser: Browser, token: string) =>
    browser.send({ path: '/api/invitations/accept', body: { token } });

  test("opens nothing of the other organization's", async () => {
    const { service, stranger } = await start();
    expect(await organizationsOf(stranger)).toEqual(['rival']);
    for (const path of ['/projects', '/keys', '/members', '/invitations', '/audit'])
      expect(await statusOf(stranger, path)).toBe(404);
    const begun = await stranger.ask<{ projects: object }>({ path: '/api/start' });
    expect(Object.keys(begun.projects)).toEqual(['rival']);
    const again = new Browser(service);
    expect((await again.signIn(ada)).status).toBe(200);
    expect(await organizationsOf(again)).toEqual(['rival']);
    const leave = { path: '/api/account/organizations/default/leave', body: {} };
    expect((await stranger.send(leave)).status).toBe(404);
    expect((await auditOf(service)).filter(({ action }) => /^(user|member\.remove)/.test(action))).toEqual(
      [],
    );
  });

  test('does not open what the address is added to later', async () => {
    const service = await startService({ database: newDatabase() });
    const stranger = await signedIn(service, ada, 'owner', { organization: 'rival' });
    const added = await runCli([
      'member',
      'invite',
      '--without-link',
      ada,
      '--role',
      'owner',
      '--database',
      service.databaseUrl,
    ]);
    expect(added).toMatchObject({ status: 0 });
    expect(added.stderr).toContain('member invite');
    expect(await organizationsOf(stranger)).toEqual(['rival']);
    const reset = await usersOf(service.store).credentials.startPasswordReset(ada);
    await stranger.ask({ path: '/api/password-reset', body: { token: reset, password: PASSWORD } }, 204);
    await stranger.signIn(ada);
    expect(await organizationsOf(stranger)).toEqual(['rival']);
    expect(await statusOf(stranger, '/keys')).toBe(404);
  });

  test('opens nothing that was copied', async () => {
    const source = await startService();
    for (const email of [ada, bob])
      await source.store.directory.addMember(memberOf(email, { role: 'owner' }), by);
    const service = await startService({ database: newDatabase() });
    const before = await signedIn(service, ada, 'owner', { organization: 'rival' });
    const copied = await runCli(['copy', '--from', source.databaseUrl, '--to', service.databaseUrl]);
    expect(copied).toMatchObject({ status: 0 });
    const after = await signedIn(service, bob, 'viewer', { organization: 'rival' });
    for (const stranger of [before, after]) {
      expect(await organizationsOf(stranger)).toEqual(['rival']);
      expect(await statusOf(stranger, '/members')).toBe(404);
    }
  });

  test('is not seen, ended or named by the other organization, nor does it write into its audit log', async () => {
    const { service, stranger } = await start('viewer');
    const { uri } = await stranger.ask<{ uri: string }>({
      path: '/api/account/second-factor/start',
      body: { password: PASSWORD },
    });
    const confirm = { path: '/api/account/second-factor/confirm', body: { code: codeNow(uri) } };
    await stranger.ask(confirm, 204);
    await new Browser(service).signIn(ada, `not ${PASSWORD}`);
    const owner = await signedIn(service, bob, 'owner');
    const { members } = await owner.ask<{ members: object[] }>({
      path: '/api/organizations/default/members',
    });
    expect(members).toContainEqual(expect.objectContaining({ email: ada, name: null, secondFactor: false }));
    const end = { path: `/api/organizations/default/members/${ada}/end-sessions`, body: {} };
    expect(await owner.ask(end)).toEqual({ ended: 0 });
    expect(await organizationsOf(stranger)).toEqual(['rival']);
    const told = (await auditOf(service)).filter(({ action }) => action.startsWith('user.'));
    expect(told.map(({ action, detail }) => `${action} ${detail}`)).toEqual(['user.session_end all: 0']);
    expect((await auditOf(service, 'rival')).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['user.second_factor', 'user.sign_in_failure']),
    );
  });

  test('does not close the set-up that waits for the owner, and the set-up link opens only its organization', async () => {
    const { service } = await start();
    expect(await service.store.directory.isSetUpOpen()).toBe(true);
    await service.store.directory.addMember(memberOf(bob, { organizationId: 'rival', role: 'owner' }), by);
    const wanted = { organizationId: 'default', email: null, role: 'owner', projects: [] } as const;
    const maker = { by: { ...by, at: service.clock.nowMs }, randomInt: (max: number) => max - 1 };
    const { invitation, token } = newInvitation(wanted, maker);
    await service.store.directory.createInvitation(invitation, by);
    service.hide(token);
    const browser = new Browser(service);
    const body = { token, name: 'Bob', email: bob, password: PASSWORD };
    await browser.ask({ path: '/api/set-up', body }, 204);
    expect(await organizationsOf(browser)).toEqual(['default']);
    expect((await browser.send({ path: '/api/organizations/rival/members' })).status).toBe(404);
  });

  test('is left without anything that opened it as soon as an operator makes a link for the right person', async () => {
    const { service, stranger } = await start('viewer');
    await addPasskey(stranger, deviceOf(service));
    const older = await usersOf(service.store).credentials.startPasswordReset(ada);
    const reset = ['member', 'reset', ada, '--second-factor', '--json', '--database', service.databaseUrl];
    const made = await runCli(reset);
    expect(made).toMatchObject({ status: 0 });
    // Before the link is used: else the stranger gives the account a factor that the right person does not have.
    const more = { path: '/api/account/passkeys/start', body: { password: PASSWORD } };
    expect((await stranger.send(more)).status).toBe(401);
    expect((await new Browser(service).signIn(ada)).status).toBe(401);
    const use = (token: string) =>
      new Browser(service).send({
        path: '/api/password-reset',
        body: { token, password: `new ${PASSWORD}` },
      });
    expect((await use(older)).status).toBe(404);
    const [, token = ''] = (JSON.parse(made.stdout) as { link: string }).link.split('#');
    expect((await use(token)).status).toBe(204);
    const right = await new Browser(service).signIn(ada, `new ${PASSWORD}`);
    expect([right.status, JSON.parse(right.text)]).toEqual([200, { secondFactor: false }]);
    // What the operator did is told also where the account opens nothing.
    for (const organization of ['default', 'rival'])
      expect(
        (await auditOf(service, organization)).filter(({ actor }) => actor === 'command line'),
      ).toMatchObject([
        { action: 'user.password', targetId: ada, detail: 'reset link made' },
        { action: 'user.second_factor', targetId: ada },
      ]);
  });

  test("opens the other organization with that organization's own link, and then stays open", async () => {
    const { service, stranger } = await start('viewer');
    const owner = await signedIn(service, bob, 'owner');
    const invited = { path: '/api/organizations/default/invitations', body: { email: ada, role: 'editor' } };
    const { token } = await owner.ask<{ token: string }>(invited, 201);
    service.hide(token);
    expect((await join(new Browser(service), token)).status).toBe(401);
    expect((await join(owner, token)).status).toBe(401);
    expect((await join(stranger, token)).status).toBe(204);
    expect(await organizationsOf(stranger)).toEqual(['default', 'rival']);
    expect(await statusOf(stranger, '/members')).toBe(200);
    const taken = await owner.send(invited);
    expect([taken.status, errorOf(taken)]).toEqual([409, `${ada} is a member already.`]);
    // Removed and added again, the account is still the one whose address the link proved.
    await owner.ask({ method: 'DELETE', path: `/api/organizations/default/members/${ada}` });
    expect(await organizationsOf(stranger)).toEqual(['rival']);
    await service.store.directory.addMember(memberOf(ada), by);
    expect(await organizationsOf(stranger)).toEqual(['default', 'rival']);
  });

  test('is not held to the rules of the other organization', async () => {
    const { service, stranger } = await start('viewer');
    const start2 = { path: '/api/account/second-factor/start', body: { password: PASSWORD } };
    const { uri, backupCodes } = await stranger.ask<{ uri: string; backupCodes: string[] }>(start2);
    const confirm = { path: '/api/account/second-factor/confirm', body: { code: codeNow(uri) } };
    await stranger.ask(confirm, 204);
    await service.store.directory.changeOrganization('default', { secondFactor: 'required' }, by);
    const proof = { password: PASSWORD, code: backupCodes[0] };
    const stop = { path: '/api/account/second-factor/stop', body: proof };
    expect((await stranger.send(stop)).status).toBe(204);
  });
});

test.each([
  '\u212Aate@example.org',
  'kate@e\u017Fample.org',
  'k\u0130te@example.org',
  'kate\u3002b@example.org',
])('an address in other letters is refused, not read as the address that it resembles: %s', async (email) => {
  const service = await startService();
  const owner = await signedIn(service, bob, 'owner');
  const invited = { path: '/api/organizations/default/invitations', body: { email, role: 'viewer' } };
  expect((await owner.send(invited)).status).toBe(400);
  expect((await owner.signIn(email)).status).toBe(400);
});

test('a letter that becomes one of ASCII in lower case names nobody', async () => {
  const service = await startService();
  const owner = await signedIn(service, bob, 'owner');
  await service.store.directory.addMember(memberOf('kate@example.org'), by);
  const members = await service.store.directory.listMembers('default');
  // The Kelvin sign.
  const path = `/api/organizations/default/members/${encodeURIComponent('\u212Aate@example.org')}`;
  for (const attempt of [
    { method: 'PATCH', path, body: { role: 'owner' } },
    { path: `${path}/end-sessions`, body: {} },
    { method: 'DELETE', path },
  ])
    expect((await owner.send(attempt)).status).toBe(404);
  expect(await service.store.directory.listMembers('default')).toEqual(members);
  await owner.ask({ method: 'DELETE', path: '/api/organizations/default/members/KATE@Example.org' });
});

test('the last owner who has an account neither leaves nor takes another role', async () => {
  const service = await startService();
  const owner = await signedIn(service, bob, 'owner');
  await service.store.directory.addMember(memberOf(ada, { role: 'owner' }), by);
  const me = `/api/organizations/default/members/${bob}`;
  const attempts = [
    { path: '/api/account/organizations/default/leave', body: {} },
    { method: 'PATCH', path: me, body: { role: 'editor' } },
    { method: 'DELETE', path: me },
  ];
  const refused = [
    400,
    `${bob} is the last owner with an account that opens the organization; make another member with one an owner first.`,
  ];
  const tryAll = async () => {
    for (const attempt of attempts) {
      const answer = await owner.send(attempt);
      expect([answer.status, errorOf(answer)]).toEqual(refused);
    }
  };
  await tryAll();
  // An account that another organization's link made does not count.
  await signedIn(service, ada, 'viewer', { organization: 'rival' });
  await tryAll();
  expect(await new Browser(service).ask({ path: '/api/session' })).toMatchObject({ setUp: false });
  await signedIn(service, 'eve@example.org', 'owner');
  expect((await owner.send(attempts[0] ?? { path: '' })).status).toBe(204);
});

test('an account opens the only organization again after it was removed and added', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'viewer');
  await service.store.directory.removeMember('default', ada, by);
  expect(await organizationsOf(browser)).toEqual([]);
  const invite = ['member', 'invite', '--without-link', '--organization', 'default', ada];
  const added = await runCli([...invite, '--database', service.databaseUrl]);
  expect(added).toMatchObject({ status: 0, stderr: '' });
  expect(await organizationsOf(browser)).toEqual(['default']);
});
