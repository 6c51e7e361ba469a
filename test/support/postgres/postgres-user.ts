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
    await changeRights(databaseUrl, `DROP OWNED BY ${name} CASCADE; DROP ROLE ${name}`);
  });
  return { name, url: (other) => withUser(other, name, password) };
}

/** Lets a user create schemas. */
export async function allowSchemas(databaseUrl: string, { name }: Pick<User, 'name'>): Promise<void> {
  await changeRights(
    databaseUrl,
    `GRANT CREATE ON DATABASE ${new URL(databaseUrl).pathname.slice(1)} TO ${name}`,
  );
}

/** One test at a time: PostgreSQL refuses to change the rights on a database twice at once ("tuple concurrently updated"). */
async function changeRights(databaseUrl: string, sql: string): Promise<void> {
  const lock = "SELECT pg_advisory_xact_lock(hashtext('rights on the database'))";
  await onDatabase(databaseUrl, (client) => client.query(`${lock}; ${sql}`));
}

/** A URL with another user and password, which may contain any characters. */
function withUser(url: string, name: string, password: string): string {
  return url.replace(/:\/\/[^@]*@/, `://${name}:${encodeURIComponent(password)}@`);
}
