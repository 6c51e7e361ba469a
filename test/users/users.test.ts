/** Accounts, sessions, passwords and second factors, on every kind of store. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { passwordCharactersMax, passwordCharactersMin } from '../../src/domain/limits.js';
import type { Store } from '../../src/storage/ports/store.js';
import '../support/quick-passwords.mjs';
import { runOnUsers } from '../support/people.js';
import { placeFactories } from '../support/store.js';
import { codesOf, type Node, usersOf, Visitor } from '../support/visitor.js';

const ada = { email: 'ada@example.org', name: 'Ada', password: 'a long enough passphrase' };
const dayMs = 86_400_000;

/** Moves the clock that the sign-in library reads, until the test is over. */
function travel(timeMs: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: timeMs });
  onTestFinished(() => void vi.useRealTimers());
}

async function countOf(store: Store, table: string): Promise<number> {
  const { rows } = await runOnUsers(store, `SELECT count(*) AS number FROM {${table}}`);
  return Number(rows[0]?.['number']);
}

async function created({ users }: Node, who = ada): Promise<Visitor> {
  const visitor = new Visitor();
  visitor.keep(await users.create(visitor.asking(), who));
  return visitor;
}

async function emailOf({ users }: Node, visitor: Visitor): Promise<string | undefined> {
  const found = await users.findSession(visitor.asking());
  return found && visitor.keep(found).user.email;
}

describe.each(placeFactories)('%s:', (_kind, factory) => {
  const openNew = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    return { store, node: usersOf(store), second: usersOf(other) };
  };

  test('an account is refused that is taken, or has an unfit password', async () => {
    const { store, node } = await openNew();
    await created(node);
    const create = (more: object) => node.users.create(new Visitor().asking(), { ...ada, ...more });
    await expect(create({})).rejects.toMatchObject({ code: 'already_exists' });
    for (const length of [passwordCharactersMin - 1, passwordCharactersMax + 1]) {
      const unfit = { email: 'bob@example.org', password: 'x'.repeat(length) };
      await expect(create(unfit)).rejects.toMatchObject({ code: 'invalid' });
    }
    expect(await countOf(store, 'user_account')).toBe(1);
    expect([await node.users.exists(ada.email), await node.users.exists('bob@example.org')]).toEqual([
      true,
      false,
    ]);
    const { rows } = await runOnUsers(store, 'SELECT * FROM {user_credential}');
    expect(JSON.stringify(rows)).not.toContain(ada.password);
  });

  test('nobody signs in with the wrong password, or as nobody, and no session is made', async () => {
    const { store, node } = await openNew();
    await created(node);
    const sessions = await countOf(store, 'user_session');
    for (const [email, password] of [
      [ada.email, 'not the passphrase'],
      [ada.email, `${ada.password} `],
      [ada.email, ''],
      ['bob@example.org', ada.password],
    ] as const) {
      await expect(node.users.signIn(new Visitor().asking(), { email, password })).rejects.toMatchObject({
        code: 'wrong_credentials',
      });
    }
    expect(await countOf(store, 'user_session')).toBe(sessions);
  });

  test('a session is one on every node, is listed, and ends everywhere', async () => {
    const { node, second } = await openNew();
    const first = await created(node);
    const visitor = new Visitor();
    visitor.keep(await second.users.signIn(visitor.asking(), ada));
    expect([await emailOf(second, first), await emailOf(node, visitor)]).toEqual([ada.email, ada.email]);
    const listed = await node.users.listSessions(visitor.asking());
    expect(listed).toHaveLength(2);
    expect(listed[0]).toMatchObject({ address: '192.0.2.1', userAgent: 'a test' });
    const own = (await node.users.findSession(first.asking()))?.session.id ?? '';
    expect(listed.map(({ id }) => id)).toContain(own);
    const stranger = await created(node, { ...ada, email: 'bob@example.org' });
    await expect(node.users.endSession(stranger.asking(), own)).rejects.toMatchObject({ code: 'not_found' });
    await second.users.endSession(visitor.asking(), own);
    await expect(second.users.endSession(visitor.asking(), own)).rejects.toMatchObject({ code: 'not_found' });
    expect([await emailOf(node, first), await emailOf(node, visitor)]).toEqual([undefined, ada.email]);
    visitor.keep(await node.users.signOut(visitor.asking()));
    expect(await emailOf(second, visitor)).toBeUndefined();
  });

  test('a session that is used lasts, and all that it may it may on its last day', async () => {
    const { node } = await openNew();
    const visitor = await created(node);
    const start = Date.now();
    for (const day of [3, 6, 9]) {
      travel(start + day * dayMs);
      expect(await emailOf(node, visitor)).toBe(ada.email);
    }
    const [session] = await node.users.listSessions(visitor.asking());
    expect(session?.expiresAt).toBeGreaterThan(start + 15 * dayMs);
    await node.users.endOtherSessions(visitor.asking());
    travel(start + 17 * dayMs);
    expect(await emailOf(node, visitor)).toBeUndefined();
  });

  test('a changed password ends the other sessions, and the old one opens nothing', async () => {
    const { node, second } = await openNew();
    const [visitor, elsewhere] = [await created(node), new Visitor()];
    elsewhere.keep(await second.users.signIn(elsewhere.asking(), ada));
    const change = { currentPassword: ada.password, newPassword: 'another long passphrase' };
    const wrong = { ...change, currentPassword: change.newPassword };
    await expect(node.credentials.changePassword(visitor.asking(), wrong)).rejects.toMatchObject({
      code: 'wrong_credentials',
    });
    expect(await emailOf(node, elsewhere)).toBe(ada.email);
    visitor.keep(await node.credentials.changePassword(visitor.asking(), change));
    expect([await emailOf(node, visitor), await emailOf(node, elsewhere)]).toEqual([ada.email, undefined]);
    await expect(node.users.signIn(elsewhere.asking(), ada)).rejects.toMatchObject({
      code: 'wrong_credentials',
    });
    const now = { ...ada, password: change.newPassword };
    expect(await node.users.signIn(elsewhere.asking(), now)).toMatchObject({ secondFactor: false });
  });

  test('a token sets a new password once, within a day, on any node', async () => {
    const { node, second } = await openNew();
    const visitor = await created(node);
    await expect(node.credentials.startPasswordReset('bob@example.org')).rejects.toMatchObject({
      code: 'not_found',
    });
    const token = await node.credentials.startPasswordReset(ada.email);
    const newPassword = 'another long passphrase';
    const reset = (one: string) => second.credentials.resetPassword({ token: one, newPassword });
    await expect(reset(`${token}x`)).rejects.toMatchObject({ code: 'not_found' });
    await reset(token);
    await expect(reset(token)).rejects.toMatchObject({ code: 'not_found' });
    expect(await emailOf(node, visitor)).toBeUndefined();
    await expect(node.users.signIn(visitor.asking(), ada)).rejects.toMatchObject({
      code: 'wrong_credentials',
    });
    visitor.keep(await node.users.signIn(visitor.asking(), { ...ada, password: newPassword }));
    const late = await node.credentials.startPasswordReset(ada.email);
    travel(Date.now() + dayMs + 1000);
    await expect(reset(late)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a second factor is asked for once it was shown to work, and not after it is off', async () => {
    const { node, second } = await openNew();
    const visitor = await created(node);
    await expect(
      node.credentials.startSecondFactor(visitor.asking(), 'not the passphrase'),
    ).rejects.toMatchObject({ code: 'wrong_credentials' });
    await expect(node.credentials.confirmSecondFactor(visitor.asking(), '000000')).rejects.toMatchObject({
      code: 'wrong_credentials',
    });
    const started = await node.credentials.startSecondFactor(visitor.asking(), ada.password);
    const code = codesOf(started.uri);
    expect(new URL(started.uri).searchParams.get('issuer')).toBe('caller-stats');
    // Not confirmed, so not asked for.
    expect(await node.users.signIn(new Visitor().asking(), ada)).toMatchObject({ secondFactor: false });
    const wrong = String((Number(code(Date.now())) + 1) % 1_000_000).padStart(6, '0');
    await expect(node.credentials.confirmSecondFactor(visitor.asking(), wrong)).rejects.toMatchObject({
      code: 'wrong_credentials',
    });
    visitor.keep((await node.credentials.confirmSecondFactor(visitor.asking(), code(Date.now()))) as never);
    expect((await node.users.findSession(visitor.asking()))?.user.secondFactor).toBe(true);
    await expect(node.credentials.startSecondFactor(visitor.asking(), ada.password)).rejects.toMatchObject({
      code: 'already_exists',
    });

    const other = new Visitor();
    expect(other.keep(await node.users.signIn(other.asking(), ada))).toMatchObject({ secondFactor: true });
    expect(await emailOf(node, other)).toBeUndefined();
    const verify = (text: string, trustDevice = false) =>
      second.users.verifySecondFactor(other.asking(), { code: text, trustDevice });
    await expect(verify(wrong)).rejects.toMatchObject({ code: 'wrong_credentials' });
    await expect(verify(code(Date.now() - 600_000))).rejects.toMatchObject({ code: 'wrong_credentials' });
    other.keep(await verify(code(Date.now()), true));
    expect(await emailOf(node, other)).toBe(ada.email);
    // A device that is trusted is not asked again; another is.
    other.keep(await node.users.signOut(other.asking()));
    expect(await node.users.signIn(other.asking(), ada)).toMatchObject({ secondFactor: false });
    expect(await node.users.signIn(new Visitor().asking(), ada)).toMatchObject({ secondFactor: true });

    await expect(
      node.credentials.stopSecondFactor(visitor.asking(), 'not the passphrase'),
    ).rejects.toMatchObject({ code: 'wrong_credentials' });
    visitor.keep(await node.credentials.stopSecondFactor(visitor.asking(), ada.password));
    expect(await emailOf(node, visitor)).toBe(ada.email);
    expect(await node.users.signIn(new Visitor().asking(), ada)).toMatchObject({ secondFactor: false });
  });

  test('each backup code works once, even of two at the same moment', async () => {
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
    await expect(use(first)).rejects.toMatchObject({ code: 'wrong_credentials' });
    const both = await Promise.allSettled([use(next), use(next, second)]);
    expect(both.toSorted((a, b) => a.status.localeCompare(b.status))).toMatchObject([
      { status: 'fulfilled', value: ada.email },
      { status: 'rejected', reason: { code: 'wrong_credentials' } },
    ]);
  });

  test('after ten wrong codes no right one helps for a while, whatever the node', async () => {
    const { node, second } = await openNew();
    const { code, backupCodes } = await withSecondFactor(node);
    const attempt = async (text: string) => {
      const visitor = new Visitor();
      visitor.keep(await node.users.signIn(visitor.asking(), ada));
      return second.users.verifySecondFactor(visitor.asking(), { code: text, trustDevice: false });
    };
    for (let at = 0; at < 10; at++)
      await expect(attempt(at % 2 === 0 ? '00000x' : 'no-such-code')).rejects.toMatchObject({
        code: 'wrong_credentials',
      });
    await expect(attempt(code(Date.now()))).rejects.toMatchObject({ code: 'too_many_attempts' });
    await expect(attempt(backupCodes[0] ?? '')).rejects.toMatchObject({ code: 'too_many_attempts' });
    travel(Date.now() + 16 * 60_000);
    expect(await attempt(code(Date.now()))).toMatchObject({ email: ada.email });
  });

  test('the command line turns it off without a code', async () => {
    const { node } = await openNew();
    await withSecondFactor(node);
    await expect(node.credentials.dropSecondFactor('bob@example.org')).rejects.toMatchObject({
      code: 'not_found',
    });
    await node.credentials.dropSecondFactor(ada.email);
    expect(await node.users.signIn(new Visitor().asking(), ada)).toMatchObject({ secondFactor: false });
  });

  test('sessions of a server with another secret are none', async () => {
    const { store, node } = await openNew();
    const visitor = await created(node);
    expect(await emailOf(usersOf(store, { secret: 'x'.repeat(32) }), visitor)).toBeUndefined();
    expect(await emailOf(usersOf(store), visitor)).toBe(ada.email);
  });

  async function withSecondFactor(node: Node) {
    const visitor = await created(node);
    const started = await node.credentials.startSecondFactor(visitor.asking(), ada.password);
    const code = codesOf(started.uri);
    expect(await node.credentials.confirmSecondFactor(visitor.asking(), code(Date.now()))).toBeTypeOf(
      'object',
    );
    return { code, backupCodes: started.backupCodes };
  }
});
