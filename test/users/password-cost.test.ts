/** The cost of password hashes. */
import { scryptSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { placeFactories } from '../support/storage/store.js';
import { runOnUsers } from '../support/users/people.js';
import { usersOf, Visitor } from '../support/users/visitor.js';

const password = 'a long enough passphrase';

/** 32 MiB and about a tenth of a second. */
const cost = { N: 2 ** 14, r: 16, p: 1, maxmem: 2 ** 26 };

// Threads copy the environment when they start. Other tests use cheaper hashes.
beforeAll(() => {
  process.env['CALLER_STATS_TEST_FULL_HASHES'] = '1';
});
afterAll(() => {
  delete process.env['CALLER_STATS_TEST_FULL_HASHES'];
});

test.each(placeFactories)(
  'passwords are stored as scrypt hashes with the full cost and individual salts: %s',
  async (_kind, factory) => {
    const { open } = await factory();
    const store = await open();
    const { users } = usersOf(store);
    for (const name of ['ada', 'bob'])
      await users.create(new Visitor().asking(), { email: `${name}@example.org`, name, password });
    const { rows } = await runOnUsers(store, 'SELECT password FROM {user_credential}');
    const stored = rows.map((row) => String(row['password']).split(':'));
    expect(new Set(stored.map(([salt]) => salt)).size).toBe(2);
    for (const [salt = '', hash] of stored) {
      expect(salt).toMatch(/^[0-9a-f]{32}$/);
      expect(hash).toBe(scryptSync(password, salt, 64, cost).toString('hex'));
    }
  },
);
