import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { onDatabase } from '../storage/store.js';

export interface User {
  readonly name: string;
  /** A database's URL with this user and password. */
  readonly url: (databaseUrl: string) => string;
}

/** Creates a user, which is removed after the test with all that it owns. `options` follow its name. */
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

/** A URL with another user and password, which may contain any characters. */
function withUser(url: string, name: string, password: string): string {
  return url.replace(/:\/\/[^@]*@/, `://${name}:${encodeURIComponent(password)}@`);
}
