/** What the URL leaves out comes from the environment, as with every client of PostgreSQL. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { openStore } from '../../../src/storage/open.js';
import { spawnCli } from '../../support/cli/cli.js';
import { succeed } from '../../support/cli/cli-place.js';
import { listening, programOn, ready, statusOf } from '../../support/postgres/schema-nodes.js';
import { by, newSchemaIn, onDatabase, openForTest, schemaOf } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';

const databaseUrl = inject('postgresServers').at(-1)?.url ?? '';

describe('parts that the URL omits', () => {
  /** The parts of a URL of a new schema, and the schema alone. */
  const parts = () => {
    const { username, password, hostname, port, pathname, search } = new URL(newSchemaIn(databaseUrl));
    return { username, password, hostname, port, database: pathname.slice(1), search };
  };

  test('come from PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE', async () => {
    const { username, password, hostname, port, database, search } = parts();
    const env = {
      DATABASE_URL: `postgres://${search}`,
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      PGDATABASE: database,
    };
    await succeed(spawnCli(['project', 'create', 'Docs', '--id', 'docs'], { env }));
    const listed = await succeed(spawnCli(['project', 'list', '--json'], { env }));
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id: 'docs' }]);
    for (const [name, value, message] of [
      ['PGPORT', '1', /nothing answers/],
      ['PGUSER', 'nobody', /refuses this password/],
      ['PGPASSWORD', 'wrong', /refuses this password/],
      ['PGDATABASE', 'nope', /no such database/],
      ['PGSSLMODE', 'require', /does not encrypt connections/],
      ['PGHOST', `${'x'.repeat(64)}.invalid`, /host name is not known/],
    ] as const) {
      const { status, stderr } = await spawnCli(['project', 'list'], { env: { ...env, [name]: value } });
      expect({ name, status }).toEqual({ name, status: 1 });
      expect(stderr).toMatch(message);
    }
  });

  test('do not override parts of the URL', async () => {
    const env = {
      DATABASE_URL: newSchemaIn(databaseUrl),
      PGHOST: 'nowhere.invalid',
      PGPORT: '1',
      PGUSER: 'nobody',
      PGPASSWORD: 'wrong',
      PGDATABASE: 'nope',
    };
    await succeed(spawnCli(['project', 'create', 'Docs'], { env }));
  });

  test('include a password from a password file', async () => {
    const { username, password, hostname, port, database, search } = parts();
    const file = join(await temporaryFolder(), 'pgpass');
    await writeFile(file, `other:1:*:*:wrong\n${hostname}:${port}:${database}:${username}:${password}\n`);
    await chmod(file, 0o600);
    const url = `postgres://${username}@${hostname}:${port}/${database}${search}`;
    await succeed(spawnCli(['project', 'create', 'Docs'], { env: { DATABASE_URL: url, PGPASSFILE: file } }));
    const without = await spawnCli(['project', 'list'], { env: { DATABASE_URL: url } });
    expect(without).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/it wants a password; give one/),
    });
  });
});

test('names connections caller-stats or as the URL says', async () => {
  for (const [parameter, name] of [
    ['', 'caller-stats'],
    ['&application_name=counts%20of%20docs', 'counts of docs'],
  ] as const) {
    const url = newSchemaIn(databaseUrl);
    const server = await ready(programOn(`${url}${parameter}`).start());
    expect(await statusOf(server, '/readyz')).toBe(200);
    // Others may be at work on the server; what these asked last names their schema.
    const { rows } = await onDatabase(databaseUrl, (client) =>
      client.query(
        `SELECT DISTINCT application_name AS name FROM pg_stat_activity
         WHERE strpos(query, $1) > 0 AND pid <> pg_backend_pid()`,
        [schemaOf(url)],
      ),
    );
    expect(rows).toEqual([{ name }]);
  }
});

test('passes options to the server', async () => {
  const url = newSchemaIn(databaseUrl);
  await (await openStore(url)).close();
  const store = await openForTest(`${url}&options=-c default_transaction_read_only=on`);
  await store.maintenance.check();
  const making = store.directory.createOrganization({ id: 'other', name: 'Other', createdAt: 0 }, by);
  await expect(making).rejects.toMatchObject({ code: 'unavailable', message: /read-only/ });
  await expect(store.maintenance.checkRecording(0)).rejects.toThrow(/read-only/);
});

test('uses at most the configured number of connections', async () => {
  const name = 'few connections';
  const url = `${newSchemaIn(databaseUrl)}&application_name=${name}`;
  const running = programOn(url).start(['--database-connections-max', '2']);
  const server = await listening(running);
  await ready(running);
  const asked = Array.from({ length: 30 }, () => fetch(`${server.url}/readyz`).then(({ status }) => status));
  const most = await onDatabase(databaseUrl, async (client) => {
    const counts: number[] = [];
    for (let looks = 0; looks < 20; looks++) {
      const { rows } = await client.query(
        'SELECT count(*)::integer AS open FROM pg_stat_activity WHERE application_name = $1',
        [name],
      );
      counts.push(Number(rows[0]?.open));
    }
    return Math.max(...counts);
  });
  expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2);
});
