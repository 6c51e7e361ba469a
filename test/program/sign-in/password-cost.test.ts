/** The cost of password hashes, also of those that earlier versions made. */
import { randomBytes, scryptSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/storage/ports/store.js';
import { placeFactories } from '../../support/storage/store.js';
import { runOnUsers } from '../../support/users/people.js';
import { usersOf, Visitor } from '../../support/users/visitor.js';
import { isDeep } from '../../support/volume.js';

const email = 'ada@example.org';

/** 32 MiB and about 0.3 s. */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 2 ** 26 };
const NEW_FORM = /^\$scrypt\$v=2\$ln=15,r=8,p=3\$([\w+/]{22})\$([\w+/]{86})$/;

/** By `quick-passwords.mjs`. */
const quickerTimes = 1024;

/** How many times cheaper hashes are than those of users. The store makes no difference to them, so one has the full cost. */
const kinds = placeFactories.map(
  ([kind, factory], at) => [kind, factory, isDeep || at === 0 ? 1 : quickerTimes] as const,
);

async function storedHashes(store: Store): Promise<string[]> {
  const { rows } = await runOnUsers(store, 'SELECT password FROM {user_credential}');
  return rows.map((row) => String(row['password']));
}

/** As the first versions hashed, with half the memory of OWASP's cost for one pass. */
function hashAsAtFirst(text: string, cheaper: number): string {
  const salt = randomBytes(16).toString('hex');
  const firstCost = { N: 2 ** 14 / cheaper, r: 16, p: 1, maxmem: 2 ** 26 };
  const key = scryptSync(text.normalize('NFKC'), salt, 64, firstCost);
  return `${salt}:${key.toString('hex')}`;
}

/** As earlier versions hashed: the same function, of another form of the password. */
function hashNormalized(text: string, cheaper: number): string {
  const salt = randomBytes(16);
  const key = scryptSync(text.normalize('NFKC'), salt, 64, { ...cost, N: cost.N / cheaper });
  const [saltText, keyText] = [salt, key].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$scrypt$ln=15,r=8,p=3$${saltText}$${keyText}`;
}

describe.each(kinds)('%s', (_kind, factory, cheaper) => {
  // `quick-passwords.mjs` reads this.
  const password = cheaper === 1 ? 'at full cost, please' : 'a long enough passphrase';

  test('passwords are stored as scrypt hashes with the full cost and individual salts', async () => {
    const store = await (await factory()).open();
    const { users } = usersOf(store);
    for (const name of ['ada', 'bob'])
      await users.create(new Visitor().asking(), { email: `${name}@example.org`, name, password });
    const stored = (await storedHashes(store)).map((hash) => NEW_FORM.exec(hash) ?? []);
    expect(new Set(stored.map(([, salt]) => salt)).size).toBe(2);
    for (const [, salt = '', key = ''] of stored)
      expect(Buffer.from(key, 'base64')).toEqual(
        scryptSync(password, Buffer.from(salt, 'base64'), 64, { ...cost, N: cost.N / cheaper }),
      );
  });

  test('a hash of an earlier version is replaced by the first sign-in with the right password', async () => {
    const store = await (await factory()).open();
    const { users } = usersOf(store);
    await users.create(new Visitor().asking(), { email, name: 'Ada', password });
    const signIn = (given: string) => users.signIn(new Visitor().asking(), { email, password: given });
    for (const older of [hashAsAtFirst(password, cheaper), hashNormalized(password, cheaper)]) {
      await runOnUsers(store, 'UPDATE {user_credential} SET password = ?', [older]);
      await expect(signIn(`${password}!`)).rejects.toMatchObject({ code: 'wrong_credentials' });
      expect(await storedHashes(store)).toEqual([older]);
      await signIn(password);
      const [renewed = ''] = await storedHashes(store);
      expect(renewed).toMatch(NEW_FORM);
      await signIn(password);
      expect(await storedHashes(store)).toEqual([renewed]);
      await expect(signIn(`${password}!`)).rejects.toMatchObject({ code: 'wrong_credentials' });
    }
  });
});
