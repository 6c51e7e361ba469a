/** Users that may do little: what they are told, and what is enough. */
import { expect, inject, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { openStore } from '../../../src/storage/open.js';
import { firstRunOf } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { succeed } from '../../support/cli/cli-place.js';
import { documentedGrants, isOfPeople, oneByOne } from '../../support/postgres/grants.js';
import { newestPostgres, startPostgres } from '../../support/postgres/postgres-server.js';
import { allowSchemas, newUser } from '../../support/postgres/postgres-user.js';
import { listening, programOn, ready, statusOf } from '../../support/postgres/schema-nodes.js';
import { doAll } from '../../support/storage/everything.js';
import { newSchemaIn, onDatabase, openForTest, schemaOf } from '../../support/storage/store.js';
import { isDeep, newSeed } from '../../support/volume.js';
import { read } from '../../tidy/sources.js';

const databaseUrl = inject('postgresServers').at(-1)?.url ?? '';
/** Each of the privileges takes a quarter of a second: `npm test` tries some, others with other content. */
const step = isDeep ? 1 : 6;
const first = newSeed('privileges') % step;
const lacks = /this user lacks a privilege; grant it, or connect as another user\./;

test('reports a missing privilege to create the schema, and serves once it is granted', async () => {
  const url = newSchemaIn(databaseUrl);
  const user = await newUser(databaseUrl, 'secret');
  const program = programOn(user.url(url));
  const { status, stdout, stderr } = await program.run(['project', 'create', 'Docs']);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(lacks);
  expect(stderr).toMatch(/\(permission denied for database \w+\)\n$/);
  const running = program.start();
  const server = await listening(running);
  expect(await statusOf(server, '/readyz')).toBe(503);
  await allowSchemas(databaseUrl, user);
  const { project, admin } = firstRunOf(await ready(running));
  expect(await clientOf(server, project, admin).record(batchOf(0, 3))).toMatchObject({ status: 200 });
});

test('can start with an empty schema of its own', async () => {
  const url = newSchemaIn(databaseUrl);
  const user = await newUser(databaseUrl, 'secret');
  await onDatabase(databaseUrl, (client) =>
    client.query(`CREATE SCHEMA ${schemaOf(url)} AUTHORIZATION ${user.name}`),
  );
  await succeed(programOn(user.url(url)).run(['project', 'create', 'Docs']));
});

test('everything works with the documented privileges', async () => {
  const url = newSchemaIn(databaseUrl);
  const user = await newUser(databaseUrl, 'secret');
  await (await openStore(url)).close();
  const program = programOn(user.url(url));
  const refused = await program.run(['project', 'list']);
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(lacks) });
  const grants = documentedGrants(schemaOf(url), user.name);
  await onDatabase(url, (client) => client.query(grants.join('\n')));
  const server = await ready(program.start());
  const { project, admin, recording } = firstRunOf(server);
  expect(await clientOf(server, project, recording).record(batchOf(0, 3))).toMatchObject({ status: 200 });
  expect(await clientOf(server, project, admin).count()).toMatchObject({ status: 200, body: { total: 3 } });
  await succeed(program.run(['project', 'create', 'Docs', '--id', 'docs']));
  await succeed(program.run(['key', 'create', '--name', 'a']));
  await succeed(program.run(['key', 'rotate', 'first-admin-key', '--grace', '0']));
  await succeed(program.run(['key', 'revoke', 'first-admin-key']));
  await succeed(program.run(['organization', 'create', 'Acme', '--id', 'acme']));
  await succeed(
    program.run(['member', 'invite', '--without-link', 'a@example.org', '--organization', 'acme']),
  );
  await succeed(program.run(['member', 'remove', 'a@example.org', '--organization', 'acme']));
  await succeed(program.run(['audit']));
  await succeed(program.run(['stats', project]));
  await succeed(program.run(['project', 'change', 'docs', '--name', 'Handbook']));
  await succeed(program.run(['project', 'delete', 'docs', '--confirm', 'Handbook']));
  await succeed(program.run(['verify']));
});

test('prints the first keys once although a later step lacks a privilege', async () => {
  const url = newSchemaIn(databaseUrl);
  const user = await newUser(databaseUrl, 'secret');
  await (await openStore(url)).close();
  const grants = documentedGrants(schemaOf(url), user.name);
  const later = grants.filter((grant) => /user_account|invitation/.test(grant));
  expect(later.length).toBeGreaterThan(0);
  await onDatabase(url, (client) =>
    client.query(grants.join('\n').replaceAll(/, \w+\.(user_account|invitation)\b/g, '')),
  );
  const running = programOn(user.url(url)).start();
  await running.printed(/^Record a query:/m);
  await onDatabase(url, (client) => client.query(later.join('\n')));
  const { stdout } = await ready(running);
  expect(stdout.split('Created a first project and its keys.')).toHaveLength(2);
  expect(stdout).toMatch(/\/set-up#\S+\nDocumentation: \S+\n$/);
});

test('every documented privilege is necessary', async () => {
  const url = newSchemaIn(databaseUrl);
  const user = await newUser(databaseUrl, 'secret');
  await (await openStore(url)).close();
  const grants = documentedGrants(schemaOf(url), user.name);
  const all = oneByOne(grants).filter((privilege) => !isOfPeople(privilege));
  expect(all).toHaveLength(79);
  const change = (sql: string) => onDatabase(url, (client) => client.query(sql));
  await change(grants.join('\n'));
  const store = await openForTest(user.url(url));
  await doAll(store, 'before');
  for (const [at, privilege] of all.entries()) {
    if (at % step !== first) continue;
    await change(`REVOKE ${privilege} FROM ${user.name}`);
    await expect(doAll(store, `without-${at}`), privilege).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(lacks),
    });
    await change(`GRANT ${privilege} TO ${user.name}`);
  }
  await doAll(store, 'after');
  expect(await store.maintenance.verify()).toMatchObject({ differencesTotal: 0 });
});

test('the user of compose.yaml is not a superuser, and the superuser has no password', async () => {
  const { services } = parse(read('deploy/compose.yaml').text);
  const [user, database] = ['stats', services.postgres.environment.POSTGRES_DB];
  const statements = read('deploy/postgres-user.sql').lines.filter((line) => !/^(?:--|\\)/.test(line));
  const server = await startPostgres(newestPostgres());
  onTestFinished(server.stop);
  await onDatabase(server.url(), (client) => client.query(`CREATE DATABASE ${database}`));
  await onDatabase(server.url(database), (client) =>
    // The image calls its superuser postgres.
    client.query(
      statements.join('\n').replace(":'password'", "'a password'").replace('ROLE postgres ', 'ROLE tester '),
    ),
  );
  const url = services.server.environment.DATABASE_URL.replace(/\$\{.+\}/, 'a%20password').replace(
    '@postgres/',
    `@127.0.0.1:${server.port}/`,
  );
  const store = await openForTest(url);
  await doAll(store, 'composed');
  await onDatabase(url, async (client) => {
    const { rows } = await client.query(
      'SELECT rolname, rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user',
    );
    expect(rows).toEqual([{ rolname: user, rolsuper: false, rolcreaterole: false, rolcreatedb: false }]);
  });
  await expect(onDatabase(server.url(), (client) => client.query('SELECT 1'))).rejects.toThrow(
    'password authentication failed',
  );
});
