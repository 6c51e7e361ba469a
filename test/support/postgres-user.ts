import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { onDatabase } from './store.js';

export interface User {
  readonly name: string;
  /** The database's URL with this user and password in place of the other. */
  readonly url: (databaseUrl: string) => string;
}

/** A user of the test's own, with all that belongs to it gone when the test is over. `options` follow its name. */
export async function newUser(databaseUrl: string, password: string, options = ''): Promise<User> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onDatabase(databaseUrl, (client) =>
    client.query(`CREATE ROLE ${name} LOGIN ${options} PASSWORD ${pg.escapeLiteral(password)}`),
  );
  onTestFinished(async () => {
    await onDatabase(databaseUrl, (client) =>
      client.query(`DROP OWNED BY ${name} CASCADE; DROP ROLE ${name}`),
    );
  });
  return { name, url: (other) => withUser(other, name, password) };
}

/** A URL with another user and password, whatever characters are in it. */
function withUser(url: string, name: string, password: string): string {
  return url.replace(/:\/\/[^@]*@/, `://${name}:${encodeURIComponent(password)}@`);
}
