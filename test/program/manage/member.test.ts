import { describe, expect, test } from 'vitest';
import { dismissMember } from '../../../src/app/members.js';
import { openStore } from '../../../src/storage/open.js';
import { whenOver } from '../../support/cleanup.js';
import { runCli } from '../../support/cli/cli.js';
import { jsonOf } from '../../support/cli/cli-keys.js';
import { emptyPlace, placeWithProject, refusal, succeed } from '../../support/cli/cli-place.js';
import { startMailServer } from '../../support/http/receivers.js';
import { by, keyOf } from '../../support/storage/entities.js';
import { memberOf, runOnUsers } from '../../support/users/people.js';
import { ada, createUser, findEmail, usersOf } from '../../support/users/visitor.js';

const membersOf = (place: Parameters<typeof jsonOf>[0]) => jsonOf<object[]>(place, ['member', 'list']);

describe('member refuses', () => {
  test.concurrent.each([
    ['no at sign', 'ada'],
    ['no user name', '@example.org'],
    ['a comma', 'ada@example.org,bob@example.org'],
    ['a space', 'ada lovelace@example.org'],
    ['a display name', 'Ada <ada@example.org>'],
    ['a line break', 'ada\n@example.org'],
    ['no characters', ''],
    ['too many characters', `${'a'.repeat(243)}@example.org`],
  ])('an e-mail address with %s', async (_what, email) => {
    for (const args of [['invite'], ['change', '--role', 'owner'], ['remove']]) {
      expect(await refusal(runCli(['member', ...args, '--database=x', '--', email]), 2)).toMatch(
        /^caller-stats: --database: .+\ncaller-stats: EMAIL: is not an e-mail address\n$/,
      );
    }
  });

  test.concurrent.each([
    [
      'an unknown role',
      ['invite', 'ada@example.org', '--role', 'admin'],
      /Allowed choices are owner, editor, viewer/,
    ],
    [
      'a change without a role',
      ['change', 'ada@example.org'],
      /required option '--role <role>' not specified/,
    ],
    [
      'a reader of nothing',
      ['invite', 'ada@example.org', '--role', 'reader'],
      /--project: a reader needs at least one project/,
    ],
    [
      'an owner of one project',
      ['invite', 'ada@example.org', '--role', 'owner', '--project', 'docs'],
      /--project: only a reader has some; owners read all projects/,
    ],
    ['no address', ['remove'], /missing required argument 'email'/],
  ])('%s', async (_what, args, message) => {
    expect(await refusal(runCli(['member', ...args]), 2)).toMatch(message);
  });
});

test('members are added, listed, changed and removed; the case of their address does not matter', async () => {
  const place = await placeWithProject();
  const run = async (...args: string[]) => (await succeed(place.run(['member', ...args]))).stdout;
  const refused = (...args: string[]) => refusal(place.run(['member', ...args]), 1);
  expect(await run('list')).toBe('E-MAIL  ROLE  SINCE\n');
  expect(await run('invite', '--without-link', ' Ada@Example.ORG ')).toBe(
    'added ada@example.org as viewer\n',
  );
  expect(
    await jsonOf(place, ['member', 'invite', '--without-link', 'Bob+x@example.org', '--role', 'owner']),
  ).toEqual({
    email: 'bob+x@example.org',
    role: 'owner',
  });
  expect(await refused('invite', '--without-link', 'ADA@example.org', '--role', 'owner')).toBe(
    'caller-stats: ada@example.org is a member already.\n',
  );
  const since = expect.stringMatching(/^\d{4}-.+Z$/);
  const [ada, bob] = await membersOf(place);
  expect([ada, bob]).toEqual([
    { email: 'ada@example.org', role: 'viewer', createdAt: since },
    { email: 'bob+x@example.org', role: 'owner', createdAt: since },
  ]);
  expect(await run('change', 'ADA@EXAMPLE.ORG', '--role', 'editor')).toBe('ada@example.org is editor now\n');
  expect(await membersOf(place)).toEqual([{ ...ada, role: 'editor' }, bob]);
  expect(await run('list')).toMatch(
    /^E-MAIL +ROLE +SINCE\nada@example\.org +editor +\d{4}-\S+Z\nbob\+x@example\.org +owner +\d{4}-\S+Z\n$/,
  );
  expect(await run('change', 'ada@example.org', '--role', 'reader', '--project', 'docs')).toBe(
    'ada@example.org is reader of docs now\n',
  );
  expect(await membersOf(place)).toEqual([{ ...ada, role: 'reader', projects: ['docs'] }, bob]);
  expect(await refused('change', 'ada@example.org', '--role', 'reader', '--project', 'none')).toBe(
    'caller-stats: There is no project none.\n',
  );
  expect(await run('remove', 'Ada@example.org')).toBe('removed ada@example.org\n');
  expect(await membersOf(place)).toEqual([bob]);
  expect(await refused('remove', 'ada@example.org')).toBe(
    'caller-stats: There is no member ada@example.org.\n',
  );
  expect(await refused('change', 'ada@example.org', '--role', 'owner')).toBe(
    'caller-stats: There is no member ada@example.org.\n',
  );
  const last = 'caller-stats: bob+x@example.org is the last owner; make another member an owner first.\n';
  expect(await refused('remove', 'BOB+X@example.org')).toBe(last);
  expect(await refused('change', 'BOB+X@example.org', '--role', 'editor')).toBe(last);
  await run('invite', '--without-link', 'eve@example.org', '--role', 'owner');
  expect(await jsonOf(place, ['member', 'remove', 'BOB+X@example.org'])).toEqual({
    email: 'bob+x@example.org',
    keys: [],
  });
  expect(await membersOf(place)).toMatchObject([{ email: 'eve@example.org', role: 'owner' }]);
});

test('admin keys of a member who is removed or only looks from now on are named, and revoked if asked', async () => {
  const place = await placeWithProject();
  const store = await openStore(`sqlite:${place.database}`);
  for (const email of ['ada@example.org', 'bob@example.org']) {
    await store.directory.addMember(memberOf(email, { role: 'editor' }), by);
    await store.directory.createKey(keyOf(`key of ${email}`, { name: 'Export', createdBy: email }), by);
  }
  await store.close();
  const run = async (...args: string[]) => succeed(place.run(['member', ...args]));
  expect((await run('change', 'ada@example.org', '--role', 'editor')).stderr).toBe('');
  expect((await run('change', 'ada@example.org', '--role', 'viewer')).stderr).toBe(
    'These admin keys, which ada@example.org created, still work. Revoke them with: caller-stats key revoke ID\n' +
      '  key of ada@example.org  Export\n',
  );
  expect((await run('remove', 'ada@example.org', '--revoke-keys')).stderr).toBe(
    'These admin keys, which ada@example.org created, are revoked:\n  key of ada@example.org  Export\n',
  );
  expect(await jsonOf(place, ['member', 'remove', 'bob@example.org'])).toMatchObject({
    keys: [{ id: 'key of bob@example.org', status: 'active' }],
  });
});

test('a member does not leave without the admin keys that are revoked with them', async () => {
  const place = await placeWithProject();
  const store = await openStore(`sqlite:${place.database}`);
  whenOver(() => store.close());
  const email = 'ada@example.org';
  await store.directory.addMember(memberOf(email, { role: 'editor' }), by);
  await store.directory.createKey(keyOf('admin', { createdBy: email }), by);
  await store.directory.createKey(
    keyOf('recording', { type: 'recording', projectId: 'docs', createdBy: email }),
    by,
  );
  // As if the process ended after the first change.
  const changeKey = { value: () => Promise.reject(new Error('the power failed')) };
  const directory = Object.create(store.directory, { changeKey }) as typeof store.directory;
  const removal = { organizationId: 'default', email, rights: null, revokeKeys: true };
  await dismissMember({ directory }, removal, { ...by, at: 5 }).catch(() => {});
  expect(await store.directory.listMembers('default')).toEqual([]);
  expect(await store.directory.listKeys('default')).toMatchObject([
    { id: 'admin', revokedAt: 5 },
    { id: 'recording', revokedAt: null },
  ]);
  const [entry] = await store.directory.readAudit('default', { limit: 1 });
  expect(entry).toMatchObject({ action: 'key.revoke', targetId: 'admin' });
});

test('member reset --sessions ends all sessions of a member, and the audit log says so', async () => {
  const place = await placeWithProject();
  const store = await openStore(`sqlite:${place.database}`);
  whenOver(() => store.close());
  const node = usersOf(store);
  const visitor = await createUser(node);
  const end = ['member', 'reset', ada.email, '--sessions'];
  expect(await refusal(place.run(end), 1)).toBe('caller-stats: ada@example.org is not a member.\n');
  expect(await findEmail(node, visitor)).toBe(ada.email);
  await store.directory.addMember(memberOf(ada.email), by);
  expect((await succeed(place.run(end))).stdout).toBe('ended 1 session of ada@example.org\n');
  expect(await findEmail(node, visitor)).toBeUndefined();
  expect(await jsonOf(place, end)).toEqual({ email: ada.email, ended: 0 });
  expect(
    (await store.directory.readAudit('default', { limit: 2 })).map(({ actor, action, detail }) => [
      actor,
      action,
      detail,
    ]),
  ).toEqual([
    ['command line', 'user.session_end', 'all: 0'],
    ['command line', 'user.session_end', 'all: 1'],
  ]);
});

test('member reset --single-sign-on refuses who is not a member, and an account without single sign-on', async () => {
  const place = await placeWithProject();
  const store = await openStore(`sqlite:${place.database}`);
  whenOver(() => store.close());
  const unlink = ['member', 'reset', ada.email, '--single-sign-on'];
  expect(await refusal(place.run(unlink), 1)).toBe('caller-stats: ada@example.org is not a member.\n');
  await store.directory.addMember(memberOf(ada.email), by);
  const unused = 'caller-stats: ada@example.org has not used single sign-on.\n';
  expect(await refusal(place.run(unlink), 1)).toBe(unused);
  await createUser(usersOf(store));
  expect(await refusal(place.run(unlink), 1)).toBe(unused);
  await runOnUsers(store, "UPDATE {user_credential} SET provider_id = 'sso'");
  expect((await succeed(place.run(unlink))).stdout).toBe('unlinked ada@example.org from single sign-on\n');
  expect((await runOnUsers(store, 'SELECT id FROM {user_credential}')).rows).toEqual([]);
  expect(await store.directory.readAudit('default', { limit: 1 })).toMatchObject([
    { actor: 'command line', action: 'user.single_sign_on', targetId: ada.email },
  ]);
});

test('an invitation link has the public address and base path', async () => {
  const place = await emptyPlace();
  await place.run(['migrate']);
  const where = ['--public-url', 'https://example.org', '--base-path', '/stats/'];
  const { status, stdout } = await place.run(['member', 'invite', 'eve@example.org', ...where]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^https:\/\/example\.org\/stats\/join#[0-9A-Za-z]{43}\n$/);
});

test('links of invitations and resets are sent where there is an e-mail server and a public address', async () => {
  const place = await placeWithProject();
  const store = await openStore(`sqlite:${place.database}`);
  whenOver(() => store.close());
  await createUser(usersOf(store));
  const { url, received } = await startMailServer();
  const env = { CALLER_STATS_SMTP_URL: `${url}?from=stats@example.org` };
  const publicUrl = { CALLER_STATS_PUBLIC_URL: 'https://stats.example.org' };
  const invite = ['member', 'invite', 'eve@example.org'];
  expect((await place.run(invite, { env })).stderr).toContain('that needs CALLER_STATS_PUBLIC_URL');
  for (const [args, page, email] of [
    [invite, 'join', 'eve@example.org'],
    [['member', 'reset', ada.email], 'reset', ada.email],
  ] as const) {
    const { stdout, stderr } = await succeed(place.run(args, { env: { ...env, ...publicUrl } }));
    expect(stderr).toContain(`Sent to ${email}.`);
    const mail = received.at(-1);
    expect(mail?.to).toEqual([email]);
    expect(mail?.source.replaceAll('=\r\n', '')).toContain(stdout.trim());
    expect(stdout).toContain(`https://stats.example.org/${page}#`);
  }
  expect(received).toHaveLength(2);
});

test('member invite says that it assumed the address, and how to set it', async () => {
  const place = await emptyPlace();
  await place.run(['migrate']);
  const assumed = (url: string) =>
    `The link assumes that the server is at ${url}; change that with --public-url or PORT.\n`;
  const invite = ['member', 'invite', 'eve@example.org'];
  expect((await place.run(invite, { env: { PORT: '4100', BASE_PATH: '/stats' } })).stderr).toContain(
    `\n${assumed('http://127.0.0.1:4100/stats')}`,
  );
  const named = await place.run(invite, { env: { CALLER_STATS_PUBLIC_URL: 'https://example.org' } });
  expect([named.status, named.stderr.split('\n')]).toEqual([0, [expect.stringMatching(/^For eve/), '']]);
  const json = await place.run([...invite, '--json']);
  expect([JSON.parse(json.stdout).link, json.stderr]).toEqual([
    expect.stringContaining('http://127.0.0.1:4000/join#'),
    '',
  ]);
});
