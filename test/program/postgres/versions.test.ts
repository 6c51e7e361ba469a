/** Nodes and commands that meet a schema of another version than theirs. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { openStore } from '../../../src/storage/open.js';
import { NEWEST_VERSION } from '../../../src/storage/postgres/migrations/index.js';
import { firstRunOf, kill } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { succeed } from '../../support/cli/cli-place.js';
import { listening, programOn, ready, statusOf } from '../../support/postgres/schema-nodes.js';
import { newSchemaIn, onDatabase, schemaOf } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';

const databaseUrl = inject('postgresServers').at(-1)?.url ?? '';
const newer = 99;

async function setVersion(url: string, version: number): Promise<void> {
  const schema = schemaOf(url);
  await onDatabase(url, (client) => client.query(`UPDATE ${schema}.schema_version SET version = ${version}`));
}

/** What is to be read where the schema is newer: both versions, and what to do. */
const saysBoth = new RegExp(
  `schema version ${newer}, made by a newer caller-stats; this one works with version ${NEWEST_VERSION}\\. ` +
    'Upgrade this node, or restore a backup',
);

/** The warnings of a log, by their messages and the errors in them. */
function warningsIn(stderr: string): string[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string; err?: { message: string } })
    .filter(({ level }) => level === 40)
    .map(({ msg, err }) => `${msg}: ${err?.message}`);
}

describe('a node that starts with a newer schema', () => {
  test('runs, refuses requests, logs the reason once, and recovers', async () => {
    const url = newSchemaIn(databaseUrl);
    const program = programOn(url);
    await succeed(program.run(['project', 'create', 'Docs', '--id', 'docs']));
    const key = (await succeed(program.run(['key', 'create', '--name', 'admin']))).stdout.trim();
    await setVersion(url, newer);
    const running = program.start();
    const server = await listening(running);
    const client = clientOf(server, 'docs', key);
    expect(await statusOf(server, '/livez')).toBe(200);
    expect(await statusOf(server, '/readyz')).toBe(503);
    const refused = { status: 503, body: { error: 'The store cannot answer now; try again.' } };
    expect(await client.count()).toEqual(refused);
    expect(await client.record(batchOf(0, 3))).toEqual(refused);
    await setVersion(url, NEWEST_VERSION);
    expect(await statusOf(server, '/readyz')).toBe(200);
    expect(await client.record(batchOf(0, 3))).toMatchObject({ status: 200, body: { recorded: 3 } });
    await ready(running);
    kill(running.pid, 'SIGTERM');
    const { status, stderr } = await running.ended;
    expect(status).toBe(0);
    expect(warningsIn(stderr)).toEqual([expect.stringMatching(saysBoth)]);
    expect(stderr).toContain('"msg":"the database can be used"');
  });

  test('creates no first keys', async () => {
    const url = newSchemaIn(databaseUrl);
    const program = programOn(url);
    await (await openStore(url)).close();
    await setVersion(url, newer);
    const running = program.start();
    await listening(running);
    kill(running.pid, 'SIGTERM');
    const { status, stdout } = await running.ended;
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^caller-stats listens on \S+\nTime zones: .+\n$/),
    });
  });
});

test('a node refuses requests after another changed the schema, and recovers', async () => {
  const url = newSchemaIn(databaseUrl);
  const running = programOn(url).start();
  const server = await ready(running);
  const { project, admin, recording } = firstRunOf(server);
  const [reader, writer] = [clientOf(server, project, admin), clientOf(server, project, recording)];
  expect(await writer.record(batchOf(0, 3))).toMatchObject({ status: 200 });
  for (const round of [1, 2, 3]) {
    await setVersion(url, newer);
    // Each may be the first to notice.
    if (round === 1) expect(await statusOf(server, '/readyz')).toBe(503);
    if (round === 2) expect(await writer.record(batchOf(round, 3))).toMatchObject({ status: 503 });
    expect(await reader.count()).toMatchObject({ status: 503 });
    expect(await writer.record(batchOf(round, 3))).toMatchObject({ status: 503 });
    expect(await statusOf(server, '/readyz')).toBe(503);
    expect(await statusOf(server, '/livez')).toBe(200);
    await setVersion(url, NEWEST_VERSION);
    expect(await reader.count()).toMatchObject({ status: 200, body: { total: 3 * round } });
    expect(await writer.record(batchOf(round, 3))).toMatchObject({ status: 200, body: { recorded: 3 } });
    expect(await statusOf(server, '/readyz')).toBe(200);
  }
  kill(running.pid, 'SIGTERM');
  const { status, stderr } = await running.ended;
  expect(status).toBe(0);
  expect(stderr).toMatch(saysBoth);
});

test('a node refuses requests after its schema was dropped, and recovers once it exists again', async () => {
  const url = newSchemaIn(databaseUrl);
  const schema = schemaOf(url);
  const program = programOn(url);
  const server = await ready(program.start());
  const { project, admin } = firstRunOf(server);
  // The server's jobs lock tables in another order: PostgreSQL ends one of two that wait for each other, so try again.
  const drop = () => onDatabase(url, (client) => client.query(`DROP SCHEMA ${schema} CASCADE`));
  const isDeadlock = (error: unknown) => error instanceof Error && 'code' in error && error.code === '40P01';
  await drop().catch((error) => (isDeadlock(error) ? drop() : Promise.reject(error)));
  expect(await clientOf(server, project, admin).count()).toMatchObject({ status: 503 });
  expect(await statusOf(server, '/readyz')).toBe(503);
  // As a backup brings it back.
  await succeed(program.run(['project', 'create', 'Docs', '--id', 'docs']));
  expect(await statusOf(server, '/readyz')).toBe(200);
  const key = (await succeed(program.run(['key', 'create', '--name', 'admin']))).stdout.trim();
  expect(await clientOf(server, 'docs', key).count()).toMatchObject({ status: 200, body: { total: 0 } });
});

test('every command fails with the reason on a newer schema', async () => {
  const url = newSchemaIn(databaseUrl);
  const program = programOn(url);
  await succeed(program.run(['project', 'create', 'Docs', '--id', 'docs']));
  const file = join(await temporaryFolder(), 'queries.ndjson');
  await writeFile(file, '{"id": "a", "caller": "web", "occurredAt": "2026-01-01T00:00:00Z"}\n');
  await setVersion(url, newer);
  const commands = [
    ['project', 'create', 'More'],
    ['project', 'list'],
    ['key', 'create', '--name', 'a'],
    ['key', 'list'],
    ['key', 'rotate', 'a'],
    ['key', 'disable', 'a'],
    ['key', 'enable', 'a'],
    ['key', 'revoke', 'a'],
    ['organization', 'create', 'More'],
    ['organization', 'list'],
    ['member', 'invite', '--without-link', 'a@example.org'],
    ['member', 'list'],
    ['audit'],
    ['import', file, '--project', 'docs'],
    ['stats', 'docs'],
    ['verify'],
  ];
  for (const args of commands) {
    const { status, stdout, stderr } = await program.run(args);
    expect({ args, status, stdout }).toEqual({ args, status: 1, stdout: '' });
    expect(stderr).toMatch(saysBoth);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  }
  await setVersion(url, NEWEST_VERSION);
  const { stdout } = await succeed(program.run(['verify']));
  expect(stdout).toBe('0 queries in 1 project: every counter is what a recount gives\n');
});

test('commands that need an existing store create nothing', async () => {
  const url = newSchemaIn(databaseUrl);
  const program = programOn(url);
  const commands = [
    ['project', 'list'],
    ['key', 'list'],
    ['key', 'rotate', 'a'],
    ['key', 'disable', 'a'],
    ['organization', 'list'],
    ['member', 'invite', '--without-link', 'a@example.org'],
    ['member', 'list'],
    ['audit'],
    ['stats', 'docs'],
    ['verify'],
  ];
  for (const args of commands) {
    const { status, stdout, stderr } = await program.run(args);
    expect({ args, status, stdout }).toEqual({ args, status: 1, stdout: '' });
    expect(stderr).toMatch(/^caller-stats: There is no caller-stats in the database .+ makes it\.\n$/);
  }
  const schema = schemaOf(url);
  const { rowCount } = await onDatabase(url, (client) =>
    client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]),
  );
  expect(rowCount).toBe(0);
});
