/** What a password costs whoever has a copy of the database and guesses. */
import { scryptSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { runOnUsers } from '../support/people.js';
import { placeFactories } from '../support/store.js';
import { usersOf, Visitor } from '../support/visitor.js';

const password = 'a long enough passphrase';

/** 32 MiB and some tenth of a second a guess. The other tests ask for less: they load `quick-passwords.mjs`. */
const cost = { N: 2 ** 14, r: 16, p: 1, maxmem: 2 ** 26 };

test.each(placeFactories)(
  'a password is kept as scrypt of its full cost, each with its own salt: %s',
  async (_kind, factory) => {
    const { open } = await factory();
    const store = await open();
    const { users } = usersOf(store);
    for (const name of ['ada', 'bob'])
      await users.create(new Visitor().asking(), { email: `${name}@example.org`, name, password });
    const { rows } = await runOnUsers(store, 'SELECT password FROM {user_credential}');
    const kept = rows.map((row) => String(row['password']).split(':'));
    expect(new Set(kept.map(([salt]) => salt)).size).toBe(2);
    for (const [salt = '', hash] of kept) {
      expect(salt).toMatch(/^[0-9a-f]{32}$/);
      expect(hash).toBe(scryptSync(password, salt, 64, cost).toString('hex'));
    }
  },
);
