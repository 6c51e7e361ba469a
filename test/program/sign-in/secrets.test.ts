/** What a copy of the database is worth, and secrets that are replaced, on every store. */
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { placeFactories } from '../../support/storage/store.js';
import { runOnUsers } from '../../support/users/people.js';
import {
  ada,
  createUser,
  findEmail,
  travel,
  usersOf,
  Visitor,
  withSecondFactor,
} from '../../support/users/visitor.js';

const [old, newer] = ['o'.repeat(32), 'n'.repeat(32)];
const SESSION = 'caller-stats.session_token';

describe.each(placeFactories)('%s:', (_kind, factory) => {
  const openNew = async () => (await factory()).open();
  const nodeWith = (store: Awaited<ReturnType<typeof openNew>>, ...secrets: string[]) =>
    usersOf(store, { secrets: async () => secrets });

  test('the database has neither the tokens of sessions nor those of resets', async () => {
    const store = await openNew();
    const node = usersOf(store);
    const visitor = await createUser(node);
    const reset = await node.credentials.startPasswordReset(ada.email);
    const session = decodeURIComponent(visitor.cookies.get(SESSION) ?? '').split('.')[0] ?? '';
    // Of a reset, 43 characters are random, and 8 mark the address.
    expect([session.length, reset.length]).toEqual([32, 51]);
    for (const table of ['user_session', 'user_verification']) {
      const { rows } = await runOnUsers(store, `SELECT * FROM {${table}}`);
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toContain(session);
      expect(JSON.stringify(rows)).not.toContain(reset);
    }
  });

  test('what the database has of a session opens none, even with the secret', async () => {
    const store = await openNew();
    const node = nodeWith(store, old);
    const visitor = await createUser(node);
    const { rows } = await runOnUsers(store, 'SELECT token FROM {user_session}');
    const stored = String(rows[0]?.['token']);
    const signature = createHmac('sha256', old).update(stored).digest('base64');
    const forged = new Visitor();
    forged.cookies.set(SESSION, encodeURIComponent(`${stored}.${signature}`));
    expect(await findEmail(node, forged)).toBeUndefined();
    expect(await findEmail(node, visitor)).toBe(ada.email);
  });

  test('a new secret signs nobody out while the old one verifies', async () => {
    const store = await openNew();
    const visitor = await createUser(nodeWith(store, old));
    expect(await findEmail(nodeWith(store, newer), visitor)).toBeUndefined();
    const both = nodeWith(store, newer, old);
    expect(await findEmail(both, visitor)).toBe(ada.email);
    const later = new Visitor();
    later.keep(await both.users.signIn(later.asking(), ada));
    expect(await findEmail(nodeWith(store, newer), later)).toBe(ada.email);
    expect(await findEmail(nodeWith(store, old), later)).toBeUndefined();
  });

  test('second factors work with the new secret, then without the old one, and say so without both', async () => {
    const store = await openNew();
    const { code } = await withSecondFactor(nodeWith(store, old));
    let now = Date.now();
    const signIn = async (...secrets: string[]) => {
      const node = nodeWith(store, ...secrets);
      now += 30_000;
      travel(now);
      const visitor = new Visitor();
      visitor.keep(await node.users.signIn(visitor.asking(), ada));
      return node.users.verifySecondFactor(visitor.asking(), { code: code(now), trustDevice: false });
    };
    expect(await signIn(newer, old)).toMatchObject({ email: ada.email });
    expect(await signIn(newer)).toMatchObject({ email: ada.email });
    await expect(signIn(old)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('member reset --second-factor'),
    });
  });

  test('the secret of the database still decrypts when another one is configured, but verifies nothing', async () => {
    const store = await openNew();
    const { visitor, code } = await withSecondFactor(usersOf(store));
    const node = nodeWith(store, newer);
    expect(await findEmail(node, visitor)).toBeUndefined();
    const now = Date.now() + 30_000;
    travel(now);
    const later = new Visitor();
    later.keep(await node.users.signIn(later.asking(), ada));
    const answered = await node.users.verifySecondFactor(later.asking(), {
      code: code(now),
      trustDevice: false,
    });
    expect(answered.email).toBe(ada.email);
  });
});
