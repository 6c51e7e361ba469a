/** Accounts, sessions, passwords and second factors on every store. */
import { describe, expect, test } from 'vitest';
import { passwordCharactersMax, passwordCharactersMin } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { placeFactories } from '../../support/storage/store.js';
import { runOnUsers } from '../../support/users/people.js';
import {
  ada,
  codesOf,
  createUser,
  findEmail,
  type Node,
  sessionOf,
  travel,
  usersOf,
  Visitor,
  withSecondFactor,
} from '../../support/users/visitor.js';

async function countRows(store: Store, table: string): Promise<number> {
  const { rows } = await runOnUsers(store, `SELECT count(*) AS number FROM {${table}}`);
  return Number(rows[0]?.['number']);
}

async function expectError(result: Promise<unknown>, code: string): Promise<void> {
  await expect(result).rejects.toMatchObject({ code });
}

describe.each(placeFactories)('%s:', (_kind, factory) => {
  const openNew = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    return { store, node: usersOf(store), second: usersOf(other) };
  };

  test('rejects an existing account and passwords that are too short or too long', async () => {
    const { store, node } = await openNew();
    await createUser(node);
    const create = (more: object) => node.users.create(new Visitor().asking(), { ...ada, ...more });
    await expectError(create({}), 'already_exists');
    for (const length of [passwordCharactersMin - 1, passwordCharactersMax + 1]) {
      const unfit = { email: 'bob@example.org', password: 'x'.repeat(length) };
      await expectError(create(unfit), 'invalid');
    }
    expect(await countRows(store, 'user_account')).toBe(1);
    expect([await node.users.exists(ada.email), await node.users.exists('bob@example.org')]).toEqual([
      true,
      false,
    ]);
    const { rows } = await runOnUsers(store, 'SELECT * FROM {user_credential}');
    expect(JSON.stringify(rows)).not.toContain(ada.password);
  });

  test('rejects a wrong password and an unknown user without creating a session', async () => {
    const { store, node } = await openNew();
    await createUser(node);
    const sessions = await countRows(store, 'user_session');
    for (const [email, password] of [
      [ada.email, 'not the passphrase'],
      [ada.email, `${ada.password} `],
      [ada.email, ''],
      ['bob@example.org', ada.password],
    ] as const) {
      await expectError(node.users.signIn(new Visitor().asking(), { email, password }), 'wrong_credentials');
    }
    expect(await countRows(store, 'user_session')).toBe(sessions);
  });

  test('a session is valid on every node, is listed, and ends on every node', async () => {
    const { node, second } = await openNew();
    const first = await createUser(node);
    const visitor = new Visitor();
    visitor.keep(await second.users.signIn(visitor.asking(), ada));
    expect([await findEmail(second, first), await findEmail(node, visitor)]).toEqual([ada.email, ada.email]);
    const listed = await node.users.listSessions(visitor.asking());
    expect(listed).toHaveLength(2);
    expect(listed[0]).toMatchObject({ address: '192.0.2.1', userAgent: 'a test' });
    const { user, session } = await sessionOf(node, first);
    expect(listed.map(({ id }) => id)).toContain(session.id);
    const stranger = await createUser(node, { ...ada, email: 'bob@example.org' });
    const other = (await sessionOf(node, stranger)).user;
    await expectError(node.users.endSession(other, session.id), 'not_found');
    await second.users.endSession(user, session.id);
    await expectError(second.users.endSession(user, session.id), 'not_found');
    expect([await findEmail(node, first), await findEmail(node, visitor)]).toEqual([undefined, ada.email]);
    visitor.keep(await node.users.signOut(visitor.asking()));
    expect(await findEmail(second, visitor)).toBeUndefined();
  });

  test('using a session extends it, and it keeps all its rights until it ends', async () => {
    const { node } = await openNew();
    const visitor = await createUser(node);
    const start = Date.now();
    for (const day of [3, 6, 9]) {
      travel(start + day * dayMs);
      expect(await findEmail(node, visitor)).toBe(ada.email);
    }
    const [session] = await node.users.listSessions(visitor.asking());
    expect(session?.expiresAt).toBeGreaterThan(start + 15 * dayMs);
    const { user, session: current } = await sessionOf(node, visitor);
    expect(await node.users.endOtherSessions(user, current)).toBe(0);
    travel(start + 17 * dayMs);
    expect(await findEmail(node, visitor)).toBeUndefined();
  });

  test('changing the password ends the other sessions and invalidates the old password', async () => {
    const { node, second } = await openNew();
    const [visitor, elsewhere] = [await createUser(node), new Visitor()];
    elsewhere.keep(await second.users.signIn(elsewhere.asking(), ada));
    const change = { currentPassword: ada.password, newPassword: 'another long passphrase' };
    const wrong = { ...change, currentPassword: change.newPassword };
    await expectError(node.credentials.changePassword(visitor.asking(), wrong), 'wrong_credentials');
    expect(await findEmail(node, elsewhere)).toBe(ada.email);
    visitor.keep(await node.credentials.changePassword(visitor.asking(), change));
    expect([await findEmail(node, visitor), await findEmail(node, elsewhere)]).toEqual([
      ada.email,
      undefined,
    ]);
    await expectError(node.users.signIn(elsewhere.asking(), ada), 'wrong_credentials');
    const now = { ...ada, password: change.newPassword };
    expect(await node.users.signIn(elsewhere.asking(), now)).toMatchObject({ secondFactor: false });
  });

  test('a password reset token works once, within an hour, on any node', async () => {
    const { node, second } = await openNew();
    const visitor = await createUser(node);
    await expectError(node.credentials.startPasswordReset('bob@example.org'), 'not_found');
    const token = await node.credentials.startPasswordReset(ada.email);
    // 256 random bits, and a mark of the address.
    expect(token).toMatch(/^[\w-]{43}[\w-]{8}$/);
    const newPassword = 'another long passphrase';
    const reset = (one: string) => second.credentials.resetPassword({ token: one, newPassword });
    await expectError(reset(`${token}x`), 'not_found');
    await reset(token);
    await expectError(reset(token), 'not_found');
    expect(await findEmail(node, visitor)).toBeUndefined();
    await expectError(node.users.signIn(visitor.asking(), ada), 'wrong_credentials');
    visitor.keep(await node.users.signIn(visitor.asking(), { ...ada, password: newPassword }));
    const late = await node.credentials.startPasswordReset(ada.email);
    travel(Date.now() + 3_600_000 + 1000);
    await expectError(reset(late), 'not_found');
  });

  test('a second factor is needed from its confirmation until it is turned off', async () => {
    travel(Date.now());
    const { node, second } = await openNew();
    const visitor = await createUser(node);
    await expectError(node.credentials.confirmSecondFactor(visitor.asking(), '000000'), 'wrong_credentials');
    const started = await node.credentials.startSecondFactor(visitor.asking());
    const code = codesOf(started.uri);
    expect(new URL(started.uri).searchParams.get('issuer')).toBe('caller-stats');
    // Not needed before it is confirmed.
    expect(await node.users.signIn(new Visitor().asking(), ada)).toMatchObject({ secondFactor: false });
    const wrong = String((Number(code(Date.now())) + 1) % 1_000_000).padStart(6, '0');
    await expectError(node.credentials.confirmSecondFactor(visitor.asking(), wrong), 'wrong_credentials');
    visitor.keep(await node.credentials.confirmSecondFactor(visitor.asking(), code(Date.now())));
    expect((await node.users.findSession(visitor.asking()))?.user.codes).toBe(true);
    await expectError(node.credentials.startSecondFactor(visitor.asking()), 'already_exists');

    const other = new Visitor();
    expect(other.keep(await node.users.signIn(other.asking(), ada))).toMatchObject({ secondFactor: true });
    expect(await findEmail(node, other)).toBeUndefined();
    const verify = (text: string, trustDevice = false) =>
      second.users.verifySecondFactor(other.asking(), { code: text, trustDevice });
    await expectError(verify(wrong), 'wrong_credentials');
    await expectError(verify(code(Date.now() - 600_000)), 'wrong_credentials');
    // The code that confirmed it does not work again.
    await expectError(verify(code(Date.now())), 'wrong_credentials');
    travel(Date.now() + 30_000);
    other.keep(await verify(code(Date.now()), true));
    expect(await findEmail(node, other)).toBe(ada.email);
    // A trusted device needs no second factor; another device does.
    other.keep(await node.users.signOut(other.asking()));
    expect(await node.users.signIn(other.asking(), ada)).toMatchObject({ secondFactor: false });
    expect(await node.users.signIn(new Visitor().asking(), ada)).toMatchObject({ secondFactor: true });

    visitor.keep(await node.credentials.stopSecondFactor(visitor.asking()));
    expect(await findEmail(node, visitor)).toBe(ada.email);
    expect(await node.users.signIn(new Visitor().asking(), ada)).toMatchObject({ secondFactor: false });
  });

  test('each backup code works once, even in concurrent requests', async () => {
    const { node, second } = await openNew();
    const { backupCodes } = await withSecondFactor(node);
    expect(new Set(backupCodes).size).toBe(10);
    const use = async (code: string, at: Node = node) => {
      const visitor = new Visitor();
      visitor.keep(await at.users.signIn(visitor.asking(), ada));
      const answered = await at.users.verifySecondFactor(visitor.asking(), { code, trustDevice: false });
      return answered.email;
    };
    const [first = '', next = ''] = backupCodes;
    expect(await use(first)).toBe(ada.email);
    await expectError(use(first), 'wrong_credentials');
    const both = await Promise.allSettled([use(next), use(next, second)]);
    expect(both.toSorted((a, b) => a.status.localeCompare(b.status))).toMatchObject([
      { status: 'fulfilled', value: ada.email },
      { status: 'rejected', reason: { code: 'wrong_credentials' } },
    ]);
  });

  test('the command line removes all that opens an account, without a code', async () => {
    const { node } = await openNew();
    const { visitor } = await withSecondFactor(node);
    await expectError(node.credentials.removeAll('bob@example.org'), 'not_found');
    await node.credentials.removeAll(ada.email);
    expect(await findEmail(node, visitor)).toBeUndefined();
    await expectError(node.users.signIn(new Visitor().asking(), ada), 'wrong_credentials');
    const token = await node.credentials.startPasswordReset(ada.email);
    await node.credentials.resetPassword({ token, newPassword: ada.password });
    expect(await node.users.signIn(new Visitor().asking(), ada)).toMatchObject({ secondFactor: false });
  });

  test('rejects sessions of a server with another secret', async () => {
    const { store, node } = await openNew();
    const visitor = await createUser(node);
    expect(
      await findEmail(usersOf(store, { secrets: async () => ['x'.repeat(32)] }), visitor),
    ).toBeUndefined();
    expect(await findEmail(usersOf(store), visitor)).toBe(ada.email);
  });
});
