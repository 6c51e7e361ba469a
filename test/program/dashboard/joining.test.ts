/** Set-up links and invitations: each works once, in time, for the right person. */
import { randomInt } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { invitationMailsMax } from '../../../src/domain/limits.js';
import { newInvitation } from '../../../src/domain/people/invitation.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { runCli } from '../../support/cli/cli.js';
import { auditOf, Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { detailsOf, errorOf, type Service, startMs, startService } from '../../support/http/http.js';
import { startMailServer } from '../../support/http/receivers.js';
import { by, databases } from '../../support/storage/store.js';
import { memberOf } from '../../support/users/people.js';
import { codeNow } from '../../support/users/visitor.js';

const [ada, bob] = ['ada@example.org', 'bob@example.org'] as const;
const INVITATIONS = '/api/organizations/default/invitations';
const lateMs = 7 * dayMs;
const EXPIRED = 'The link was used, withdrawn or replaced, has expired, or is for somebody else.';

async function setUpToken({ store, clock, hide }: Service): Promise<string> {
  const wanted = { organizationId: 'default', email: null, role: 'owner', projects: [] } as const;
  const { invitation, token } = newInvitation(wanted, { by: { ...by, at: clock.nowMs }, randomInt });
  await store.directory.createInvitation(invitation, by);
  hide(token);
  return token;
}

const setUp = (browser: Browser, token: string, email: string, password = PASSWORD) =>
  browser.send({ path: '/api/set-up', body: { token, name: 'Ada', email, password } });

const accept = (browser: Browser, token: string, more: object = { name: 'Bob', password: PASSWORD }) =>
  browser.send({ path: '/api/invitations/accept', body: { token, ...more } });

const lookUp = (service: Service, token: string) =>
  new Browser(service).send({ path: '/api/invitations/look-up', body: { token } });

const isSetUpOpen = async (service: Service) =>
  (await new Browser(service).ask({ path: '/api/session' }))['setUp'];

describe.each(databases)('on %s', (_kind, newDatabase) => {
  const start = () => startService({ database: newDatabase() });

  test('a set-up link creates one owner', async () => {
    const service = await start();
    expect(await isSetUpOpen(service)).toBe(true);
    const [older, token] = [await setUpToken(service), await setUpToken(service)];
    const browser = new Browser(service);
    expect((await setUp(browser, older, ada)).status).toBe(404);
    const refused = await setUp(browser, token, 'ada', 'short');
    expect([refused.status, detailsOf(refused)]).toEqual([
      400,
      [
        'email: is not an e-mail address',
        'password: has fewer than 12 characters; a few words make a good one',
      ],
    ]);
    expect((await setUp(browser, `${token}x`, ada)).status).toBe(404);
    expect((await accept(browser, token)).status).toBe(404);
    expect((await lookUp(service, token)).status).toBe(404);
    expect((await setUp(browser, token, ada)).status).toBe(204);
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({
      user: { email: ada, name: 'Ada', hasPassword: true, secondFactor: false },
      organizations: [{ id: 'default', name: 'Default', role: 'owner' }],
      setUp: false,
    });
    const late = await setUp(new Browser(service), token, bob);
    expect([late.status, errorOf(late), late.cookies]).toEqual([404, EXPIRED, []]);
    expect(await isSetUpOpen(service)).toBe(false);
    expect(await service.store.directory.findUsers([ada, bob])).toEqual(
      new Map([[ada, { name: 'Ada', secondFactor: false }]]),
    );
    const [entry] = (await auditOf(service)).filter(({ action }) => action === 'member.add');
    expect(entry).toMatchObject({ actor: ada, targetId: ada, address: browser.from, at: startMs });
  });

  test('a set-up link names the organization, and its owners rename it', async () => {
    const service = await start();
    const browser = new Browser(service);
    const body = { token: await setUpToken(service), name: 'Ada', email: ada, password: PASSWORD };
    const refused = await browser.send({ path: '/api/set-up', body: { ...body, organization: ' ' } });
    expect(detailsOf(refused)).toEqual([expect.stringMatching(/^organization: /)]);
    const made = await browser.send({ path: '/api/set-up', body: { ...body, organization: 'Acme' } });
    expect(made.status).toBe(204);
    const renamed = await browser.ask<{ name: string }>({
      method: 'PATCH',
      path: '/api/organizations/default',
      body: { name: 'Acme & Co' },
    });
    expect(renamed).toMatchObject({ id: 'default', name: 'Acme & Co' });
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({
      organizations: [{ id: 'default', name: 'Acme & Co' }],
    });
    const changes = (await auditOf(service)).filter(({ action }) => action === 'organization.change');
    expect(changes).toMatchObject([
      { actor: ada, detail: 'name: Acme, now Acme & Co' },
      { actor: ada, detail: 'name: Default, now Acme' },
    ]);
  });

  test('an owner who was copied without an account signs up with a set-up link', async () => {
    const source = await startService();
    for (const email of [ada, bob])
      await source.store.directory.addMember(memberOf(email, { role: 'owner' }), by);
    const service = await start();
    const copied = await runCli(['copy', '--from', source.databaseUrl, '--to', service.databaseUrl]);
    expect(copied).toMatchObject({ status: 0 });
    const members = await service.store.directory.listMembers('default');
    expect(members.map(({ email, role }) => [email, role])).toEqual([
      [ada, 'owner'],
      [bob, 'owner'],
    ]);
    const token = await setUpToken(service);
    const browser = new Browser(service);
    expect((await setUp(browser, token, ada)).status).toBe(204);
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({
      user: { email: ada, name: 'Ada' },
      organizations: [{ id: 'default', role: 'owner' }],
      setUp: false,
    });
    expect((await setUp(new Browser(service), token, bob)).status).toBe(404);
    expect(await service.store.directory.listMembers('default')).toEqual(members);
    const [entry] = await auditOf(service);
    expect(entry).toMatchObject({ action: 'member.add', actor: ada, targetId: ada, address: browser.from });
  });

  test('a set-up link and a password trust no browser of an account that has a second factor', async () => {
    const service = await start();
    const viewer = await signedIn(service, bob, 'viewer');
    const { uri } = await viewer.ask<{ uri: string }>({
      path: '/api/account/second-factor/start',
      body: { password: PASSWORD },
    });
    await viewer.ask({ path: '/api/account/second-factor/confirm', body: { code: codeNow(uri) } }, 204);
    const browser = new Browser(service);
    const answer = await setUp(browser, await setUpToken(service), bob);
    expect(answer.status).toBe(204);
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({ user: null });
    expect(browser.cookie('caller-stats.device')).toBeUndefined();
    const signIns = (await auditOf(service)).filter(({ action }) => action === 'user.sign_in');
    expect(signIns).toEqual([]);
  });

  test.each([
    ['new users', []],
    ['owners without an account', [ada, bob]],
  ] as const)('of two %s who set up concurrently, one gets an account', async (_who, owners) => {
    const service = await start();
    for (const email of owners)
      await service.store.directory.addMember(memberOf(email, { role: 'owner' }), by);
    const token = await setUpToken(service);
    const answers = await Promise.all([
      setUp(new Browser(service, '192.0.2.1'), token, ada),
      setUp(new Browser(service, '192.0.2.2'), token, bob),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 404]);
    const [first, second] = answers[0].status === 204 ? [ada, bob] : [bob, ada];
    expect((await new Browser(service).signIn(first)).status).toBe(200);
    expect((await new Browser(service).signIn(second)).status).toBe(401);
    expect([...(await service.store.directory.findUsers([ada, bob])).keys()]).toEqual([first]);
    expect(await service.store.directory.listMembers('default')).toHaveLength(Math.max(owners.length, 1));
  });

  test('an invitation lets one person join once', async () => {
    const service = await start();
    const owner = await signedIn(service, ada, 'owner');
    const made = await owner.ask<{ token: string; invitation: object }>(
      { path: INVITATIONS, body: { email: 'BOB@example.org', role: 'editor' } },
      201,
    );
    service.hide(made.token);
    const invitation = {
      id: expect.stringMatching(/^[0-9a-z]{16}$/),
      email: bob,
      role: 'editor',
      createdBy: ada,
      createdAt: new Date(startMs).toISOString(),
      expiresAt: new Date(startMs + lateMs).toISOString(),
    };
    expect(made.invitation).toEqual(invitation);
    expect(await owner.ask({ path: INVITATIONS })).toEqual({ invitations: [invitation] });
    expect(JSON.parse((await lookUp(service, made.token)).text)).toEqual({
      organization: { id: 'default', name: 'Default' },
      email: bob,
      role: 'editor',
      invitedBy: ada,
      expiresAt: invitation.expiresAt,
      hasAccount: false,
    });
    const browser = new Browser(service);
    const missing = await accept(browser, made.token, {});
    expect([missing.status, detailsOf(missing)]).toEqual([
      400,
      ['name: is missing; a new account needs one', 'password: is missing; a new account needs one'],
    ]);
    const twice = await Promise.all([accept(browser, made.token), accept(new Browser(service), made.token)]);
    expect(twice.filter(({ status }) => status === 204)).toHaveLength(1);
    // Depends on whether the account or also the membership exists by then.
    expect([401, 404, 409]).toContain(twice.find(({ status }) => status !== 204)?.status);
    const late = await accept(new Browser(service), made.token);
    expect([late.status, errorOf(late)]).toEqual([404, EXPIRED]);
    expect(await owner.ask({ path: INVITATIONS })).toEqual({ invitations: [] });
    const taken = await owner.send({ path: INVITATIONS, body: { email: bob, role: 'owner' } });
    expect([taken.status, errorOf(taken)]).toEqual([409, `${bob} is a member already.`]);
  });
});

test('expired, withdrawn and replaced links are rejected', async () => {
  const service = await startService();
  const owner = await signedIn(service, ada, 'owner');
  const first = await invite(service, bob, 'viewer');
  const second = await invite(service, bob, 'editor');
  expect((await lookUp(service, first)).status).toBe(404);
  const { invitations } = await owner.ask<{ invitations: { id: string }[] }>({ path: INVITATIONS });
  const path = `${INVITATIONS}/${invitations[0]?.id}`;
  expect((await owner.send({ method: 'DELETE', path })).status).toBe(204);
  expect((await owner.send({ method: 'DELETE', path })).status).toBe(404);
  const third = await invite(service, bob, 'editor');
  service.clock.nowMs += lateMs;
  for (const token of [first, second, third]) {
    expect((await lookUp(service, token)).status).toBe(404);
    expect((await accept(new Browser(service), token)).status).toBe(404);
  }
  const set = await startService();
  const token = await setUpToken(set);
  set.clock.nowMs += lateMs;
  expect((await setUp(new Browser(set), token, ada)).status).toBe(404);
});

test('an invitation that is revoked while somebody accepts it leaves no account', async () => {
  const service = await startService();
  const { store, clock } = service;
  const token = await invite(service, 'bob@example.org', 'owner');
  const accept = store.directory.acceptInvitation;
  vi.spyOn(store.directory, 'acceptInvitation').mockImplementationOnce(async (...args) => {
    const [invitation] = await store.directory.listInvitations('default', clock.nowMs);
    await store.directory.revokeInvitation('default', invitation?.id ?? '', by);
    return accept(...args);
  });
  const stranger = new Browser(service);
  const body = { token, name: 'Bob', password: PASSWORD };
  expect((await stranger.send({ path: '/api/invitations/accept', body })).status).toBe(404);
  expect(await stranger.ask({ path: '/api/session' })).toMatchObject({ user: null });
  expect((await stranger.signIn('bob@example.org')).status).toBe(401);
});

test('an invited user who has an account must sign in to join', async () => {
  const service = await startService();
  const browser = await signedIn(service, bob, 'viewer', { organization: 'rival' });
  const other = await signedIn(service, ada, 'owner');
  const token = await invite(service, bob, 'editor');
  expect(JSON.parse((await lookUp(service, token)).text)).toMatchObject({ hasAccount: true });
  for (const one of [new Browser(service), other]) {
    const refused = await accept(one, token);
    expect([refused.status, errorOf(refused)]).toEqual([
      401,
      `Sign in as ${bob} first, then open the link again.`,
    ]);
  }
  expect((await accept(browser, token, {})).status).toBe(204);
  expect(await browser.ask({ path: '/api/session' })).toMatchObject({
    organizations: [
      { id: 'default', role: 'editor' },
      { id: 'rival', role: 'viewer' },
    ],
  });
});

test('an owner changes roles and removes members, but not the last owner', async () => {
  const service = await startService();
  const owner = await signedIn(service, ada, 'owner');
  await signedIn(service, bob, 'viewer');
  const members = '/api/organizations/default/members';
  const change = (email: string, role: string) =>
    owner.send({ method: 'PATCH', path: `${members}/${encodeURIComponent(email)}`, body: { role } });
  for (const refused of [
    await change(ada, 'viewer'),
    await owner.send({ method: 'DELETE', path: `${members}/${ada}` }),
  ]) {
    expect([refused.status, errorOf(refused)]).toEqual([
      400,
      `${ada} is the last owner; make another member an owner first.`,
    ]);
  }
  expect(detailsOf(await change(bob, 'root'))).toEqual(['role: is not one of owner, editor, viewer, reader']);
  const changed = await change('BOB@example.org', 'owner');
  expect([changed.status, JSON.parse(changed.text)]).toEqual([200, { keys: [] }]);
  expect(await owner.ask({ path: members })).toEqual({
    members: [ada, bob].map((email) => ({
      email,
      secondFactor: false,
      role: 'owner',
      createdAt: new Date(startMs).toISOString(),
      name: email,
      you: email === ada,
    })),
  });
  expect((await owner.send({ method: 'DELETE', path: `${members}/${ada}` })).status).toBe(200);
  expect((await owner.send({ path: members })).status).toBe(404);
});

test('an owner who removes a member or makes one a viewer learns of the admin keys they created', async () => {
  const service = await startService();
  const owner = await signedIn(service, 'owner@example.org', 'owner');
  const leaver = await signedIn(service, 'leaver@example.org', 'owner');
  const organization = '/api/organizations/default';
  const createKey = async (from: Browser, name: string, more: object = { type: 'admin' }) => {
    const body = { name, expires: 'never', ...more };
    return (
      await from.ask<{ key: { id: string }; secret: string }>({ path: `${organization}/keys`, body }, 201)
    ).key.id;
  };
  const [one = '', other] = [await createKey(leaver, 'one'), await createKey(leaver, 'other')].toSorted();
  await createKey(leaver, 'recording', { type: 'recording', projectId: 'docs' });
  await createKey(owner, 'mine');
  const revoke = (id: string) => owner.ask({ path: `${organization}/keys/${id}/revoke`, body: {} });
  await revoke(await createKey(leaver, 'revoked'));
  const path = `${organization}/members/leaver@example.org`;
  const left = async (method: string, body?: object) =>
    (await owner.ask<{ keys: { id: string; status: string }[] }>({ method, path, ...(body && { body }) }))
      .keys;
  expect(await left('PATCH', { role: 'editor' })).toEqual([]);
  const expected = [one, other].map((id) => expect.objectContaining({ id, status: 'active' }));
  expect(await left('PATCH', { role: 'viewer' })).toEqual(expected);
  await revoke(one);
  expect(await left('DELETE')).toEqual(expected.slice(1));
});

describe('an invitation', () => {
  const invited = (email: string) => ({ path: INVITATIONS, body: { email, role: 'viewer' } });
  type Made = { token: string; mail: { problem: string | null } };

  test.each([
    ['an e-mail server', false, 'CALLER_STATS_SMTP_URL'],
    ['a public address', true, 'CALLER_STATS_PUBLIC_URL'],
  ])('without %s is not sent, and the answer names the setting', async (_what, hasMail, setting) => {
    const mail = { smtpUrl: 'smtp://127.0.0.1:1', mailFrom: 'stats@example.org' };
    const notifications = { privateNetworks: [], mail: hasMail ? mail : undefined };
    const service = await startService({ notifications });
    const owner = await signedIn(service, ada, 'owner');
    const { token, mail: result } = await owner.ask<Made>(invited(bob), 201);
    service.hide(token);
    expect(result.problem).toBe(`the server needs ${setting} for it`);
  });

  test('is sent to its address alone, and beyond the limit of an hour only shown', async () => {
    const { url, received } = await startMailServer();
    const service = await startService({
      notifications: { privateNetworks: [], mail: { smtpUrl: url, mailFrom: 'stats@example.org' } },
      users: { publicUrl: 'https://stats.example.org' },
    });
    const owner = await signedIn(service, ada, 'owner');
    const made: Made[] = [];
    for (let at = 0; at <= invitationMailsMax; at++) {
      const one = await owner.ask<Made>(invited(`bob-${at}@example.org`), 201);
      service.hide(one.token);
      made.push(one);
    }
    expect(made.map(({ mail }) => mail.problem)).toEqual([
      ...Array.from({ length: invitationMailsMax }, () => null),
      `at most ${invitationMailsMax} invitations an hour are sent by e-mail`,
    ]);
    expect(received.map(({ to }) => to)).toEqual(
      Array.from({ length: invitationMailsMax }, (_, at) => [`bob-${at}@example.org`]),
    );
    // Lines of a mail are wrapped with "=" at their ends.
    const text = received[0]?.source.replaceAll('=\r\n', '') ?? '';
    expect(text).toContain(`https://stats.example.org/join#${made[0]?.token}`);
    expect(text).toContain('ada@example.org invites you to https://stats.example.org.');
  });

  test('that the e-mail server refuses is shown with the reason', async () => {
    const { url } = await startMailServer({ refuses: true });
    const service = await startService({
      notifications: { privateNetworks: [], mail: { smtpUrl: url, mailFrom: 'stats@example.org' } },
      users: { publicUrl: 'https://stats.example.org' },
    });
    const owner = await signedIn(service, ada, 'owner');
    const { token, mail } = await owner.ask<Made>(invited(bob), 201);
    service.hide(token);
    expect(mail.problem).toMatch(/451/);
  });
});
