/** When sessions end. */
import { describe, expect, test } from 'vitest';
import { openingsMax } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { placeFactories } from '../../support/storage/store.js';
import { runOnUsers } from '../../support/users/people.js';
import {
  addSecondFactor,
  codeNow,
  type Node,
  travel,
  usersOf,
  Visitor,
} from '../../support/users/visitor.js';

const ada = { email: 'ada@example.org', name: 'Ada', password: 'a long enough passphrase' };

function never(): never {
  throw new Error('nobody is signed in');
}

async function isSignedIn({ users }: Node, visitor: Visitor): Promise<boolean> {
  const found = await users.findSession(visitor.asking());
  return found !== undefined && visitor.keep(found).user.email === ada.email;
}

describe.each(placeFactories)('%s: a session ends', (_kind, factory) => {
  const start = async () => {
    const { open } = await factory();
    const store = await open();
    const node = usersOf(store);
    const visitor = new Visitor();
    visitor.keep(await node.users.create(visitor.asking(), ada));
    return { store, node, visitor };
  };
  const signIn = async ({ users }: Node, visitor = new Visitor()) => {
    visitor.keep(await users.signIn(visitor.asking(), ada));
    return visitor;
  };

  test('30 days after it began, however often it is used', async () => {
    const { node, visitor } = await start();
    const begun = Date.now();
    for (let day = 1; day < 30; day++) {
      travel(begun + day * dayMs);
      expect(await isSignedIn(node, visitor), `day ${day}`).toBe(true);
    }
    const [session] = await node.users.listSessions(visitor.asking());
    expect(session?.expiresAt).toBeLessThanOrEqual(begun + 30 * dayMs + 60_000);
    travel(begun + 30 * dayMs + 60_000);
    expect(await isSignedIn(node, visitor)).toBe(false);
  });

  test('when the person has signed in elsewhere too often since, so that all others are listed', async () => {
    const { store, node, visitor } = await start();
    const { user } = visitor.keep((await node.users.findSession(visitor.asking())) ?? never());
    const begun = Date.now();
    const many = Array.from({ length: openingsMax + 20 }, (_, at) => {
      const [used, ends] = [begun + at, begun + dayMs].map((time) => new Date(time).toISOString());
      const values = [`s${at}`, `t${at}`, user.id, String(ends), String(used), String(used)];
      const insert = `INSERT INTO {user_session} (id, token, user_id, expires_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`;
      return runOnUsers(store, insert, values);
    });
    await Promise.all(many);
    travel(begun + 60_000);
    const last = await signIn(node);
    const listed = await node.users.listSessions(last.asking());
    const { session } = (await node.users.findSession(last.asking())) ?? never();
    expect(listed).toHaveLength(openingsMax);
    expect(listed[0]?.id).toBe(session.id);
    expect(listed.map(({ id }) => id)).not.toContain('s20');
    expect(listed.map(({ id }) => id)).toContain('s21');
    expect(await isSignedIn(node, visitor)).toBe(false);
  });

  test('a week after it was used last', async () => {
    const { node, visitor } = await start();
    const begun = Date.now();
    travel(begun + 6 * dayMs);
    expect(await isSignedIn(node, visitor)).toBe(true);
    // Another browser's use does not keep it.
    const elsewhere = await signIn(node);
    travel(begun + 12 * dayMs);
    expect(await isSignedIn(node, elsewhere)).toBe(true);
    travel(begun + 13 * dayMs + 60_000);
    expect(await isSignedIn(node, visitor)).toBe(false);
    expect(await isSignedIn(node, elsewhere)).toBe(true);
  });

  test('30 days after it began, also if a change gave it another token', async () => {
    const { node, visitor } = await start();
    const begun = Date.now();
    const timesOf = async () => {
      const [one] = await node.users.listSessions(visitor.asking());
      return [one?.createdAt, (one?.expiresAt ?? 0) <= begun + 30 * dayMs + 60_000];
    };
    const [createdAt] = await timesOf();
    for (let day = 1; day < 29; day++) {
      travel(begun + day * dayMs);
      expect(await isSignedIn(node, visitor)).toBe(true);
    }
    const { users, credentials } = node;
    const newPassword = 'another long passphrase';
    for (const change of [
      () => addSecondFactor(node, visitor),
      async () => void visitor.keep(await credentials.stopSecondFactor(visitor.asking())),
      async () => void visitor.keep(await users.renewSession(visitor.asking())),
      async () =>
        void visitor.keep(
          await credentials.changePassword(visitor.asking(), { currentPassword: ada.password, newPassword }),
        ),
    ]) {
      await change();
      expect(await timesOf()).toEqual([createdAt, true]);
    }
    travel(begun + 30 * dayMs + 60_000);
    expect(await isSignedIn(node, visitor)).toBe(false);
  });

  test('when its browser signs in again', async () => {
    const { store, node, visitor } = await start();
    const thief = new Visitor();
    for (const [name, value] of visitor.cookies) thief.cookies.set(name, value);
    const elsewhere = await signIn(node);
    expect(await isSignedIn(node, thief)).toBe(true);
    const wrong = { ...ada, password: 'not the passphrase' };
    await expect(node.users.signIn(visitor.asking(), wrong)).rejects.toMatchObject({
      code: 'wrong_credentials',
    });
    expect(await isSignedIn(node, visitor)).toBe(true);
    await signIn(node, visitor);
    expect(await isSignedIn(node, visitor)).toBe(true);
    expect(await isSignedIn(node, thief)).toBe(false);
    expect(await isSignedIn(node, elsewhere)).toBe(true);
    expect((await runOnUsers(store, 'SELECT id FROM {user_session}')).rows).toHaveLength(2);
  });

  test('and is forgotten with its address when anybody signs in later', async () => {
    const { store, node } = await start();
    const bob = new Visitor();
    bob.keep(await node.users.create(bob.asking(), { ...ada, email: 'bob@example.org' }));
    const stored = async () => (await runOnUsers(store, 'SELECT id FROM {user_session}')).rows.length;
    travel(Date.now() + 6 * dayMs);
    await signIn(node);
    expect(await stored()).toBe(3);
    travel(Date.now() + 2 * dayMs);
    await signIn(node);
    expect(await stored()).toBe(2);
  });

  test('when its user turns two-factor authentication on elsewhere', async () => {
    const { node, visitor } = await start();
    const elsewhere = await signIn(node);
    const { uri } = await node.credentials.startSecondFactor(visitor.asking());
    await expect(node.credentials.confirmSecondFactor(visitor.asking(), '000000x')).rejects.toMatchObject({
      code: 'wrong_credentials',
    });
    expect(await isSignedIn(node, elsewhere)).toBe(true);
    visitor.keep(await node.credentials.confirmSecondFactor(visitor.asking(), codeNow(uri)));
    expect(await isSignedIn(node, visitor)).toBe(true);
    expect(await isSignedIn(node, elsewhere)).toBe(false);
  });
});
