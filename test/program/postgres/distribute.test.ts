/**
 * `migrate --distribute`, with the extension that stands in for Citus. What a real cluster does with the calls is for the
 * conformance suite to show, run with `CALLER_STATS_TEST_DATABASE_URL`.
 */
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { record } from '../../../src/storage/postgres/migrations/functions/recording.js';
import {
  MIGRATIONS,
  type Migration,
  NEWEST_VERSION,
} from '../../../src/storage/postgres/migrations/index.js';
import { runCli } from '../../support/cli/cli.js';
import { emptyPlace } from '../../support/cli/cli-place.js';
import { addCoordinator, placeOn, standIn } from '../../support/postgres/citus-stand-in.js';
import { documentedGrants } from '../../support/postgres/grants.js';
import { migrateWith } from '../../support/postgres/migrate-with.js';
import { newestPostgres, startPostgres } from '../../support/postgres/postgres-server.js';
import { newUser } from '../../support/postgres/postgres-user.js';
import { newSchemaIn, onDatabase, openForTest } from '../../support/storage/store.js';

const importCall = [
  'create_distributed_function',
  'caller_stats.import_counts(text,text[],text[],bigint[],bigint[],bigint[],integer[])',
  'asked_project',
  'caller_stats.query',
];

const manageCall = ['citus_add_local_table_to_metadata', 'caller_stats.audit', null, null];

const migrate = (url: string, ...args: string[]) =>
  runCli(['migrate', ...args], { env: { DATABASE_URL: url } });

describe('migrate', () => {
  test.each(inject('postgresServers'))(
    '--distribute is refused where Citus is not installed or not created: $version',
    async ({ url }) => {
      // The npm server never has Citus; the machine's own server may.
      const { rowCount } = await onDatabase(url, (client) =>
        client.query("SELECT FROM pg_available_extensions WHERE name = 'citus'"),
      );
      const refused = await migrate(newSchemaIn(url), '--distribute');
      expect(refused).toMatchObject({ status: 1, stdout: '' });
      expect(refused.stderr).toMatch(
        rowCount === 0
          ? /^caller-stats: The server of .* has no extension citus.*\n$/
          : /run CREATE EXTENSION citus/,
      );
    },
  );

  test('creates a SQLite file, which cannot be distributed', async () => {
    const place = await emptyPlace();
    expect(await place.run(['migrate'])).toMatchObject({ status: 0, stderr: '' });
    const refused = await place.run(['migrate', '--distribute']);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain('cannot be distributed');
  });

  test('creates the schema, and does nothing the second time', async () => {
    const [server] = inject('postgresServers');
    const url = newSchemaIn(server?.url ?? '');
    for (const state of ['was created', 'is up to date']) {
      expect(await migrate(url)).toMatchObject({
        status: 0,
        stderr: '',
        stdout: `The schema ${state}, at version ${NEWEST_VERSION}.\n`,
      });
    }
    expect(JSON.parse((await migrate(url, '--json')).stdout)).toEqual({
      version: NEWEST_VERSION,
      distributed: [],
      kept: null,
    });
    expect(await runCli(['project', 'list'], { env: { DATABASE_URL: url } })).toMatchObject({ status: 0 });
  });

  test('--distribute asks Citus once to distribute each growing table', async () => {
    const server = await startPostgres(newestPostgres(), { extensions: standIn });
    onTestFinished(() => server.stop());
    const url = server.url();
    const calls = () =>
      onDatabase(url, async (client) => {
        const { rows } = await client.query(
          'SELECT function, name, argument, colocate_with FROM call ORDER BY number',
        );
        return rows.map((row) => Object.values(row));
      });

    const early = await migrate(url, '--distribute');
    expect(early).toMatchObject({ status: 1, stdout: '' });
    expect(early.stderr).toContain('run CREATE EXTENSION citus');

    await onDatabase(url, (client) => client.query('CREATE EXTENSION citus'));
    const unknown = await migrate(url, '--distribute');
    expect(unknown).toMatchObject({ status: 1, stdout: '' });
    expect(unknown.stderr).toContain('citus_set_coordinator_host');
    await addCoordinator(url);
    const done = await migrate(url, '--distribute');
    expect(done).toMatchObject({ status: 0, stderr: '' });
    expect(done.stdout.split('\n')).toEqual([
      `The schema is up to date, at version ${NEWEST_VERSION}.`,
      'distributed caller_stats.project',
      'distributed caller_stats.query',
      'distributed caller_stats.caller_type_counter',
      'distributed caller_stats.caller_counter',
      'distributed caller_stats.question_key',
      'distributed caller_stats.found_query',
      'distributed caller_stats.late_change',
      'distributed caller_stats.ingestion_source',
      'distributed caller_stats.ingestion_count',
      'distributed caller_stats.imported_count',
      'distributed caller_stats.receipt',
      'distributed caller_stats.import_range',
      'distributed caller_stats.correction',
      'distributed caller_stats.corrected_query',
      'distributed caller_stats.withdrawn_count',
      'distributed caller_stats.project_copy',
      'distributed caller_stats.audit',
      'distributed caller_stats.record(text, bytea[], bigint[], text[], integer[], text[], integer[])',
      'distributed caller_stats.record_one(text, bytea, bigint, text, integer, text)',
      'distributed caller_stats.import_counts(text, text[], text[], bigint[], bigint[], bigint[], integer[])',
      '',
    ]);
    const recordCalls = [
      'record(text,bytea[],bigint[],text[],integer[],text[],integer[])',
      'record_one(text,bytea,bigint,text,integer,text)',
    ].map((one) => [
      'create_distributed_function',
      `caller_stats.${one}`,
      'asked_project',
      'caller_stats.query',
    ]);
    const expected = [
      ['create_distributed_table', 'caller_stats.project', 'id', 'none'],
      ['truncate_local_data', 'caller_stats.project', null, null],
      ['create_distributed_table', 'caller_stats.query', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.query', null, null],
      ['create_distributed_table', 'caller_stats.caller_type_counter', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.caller_type_counter', null, null],
      ['create_distributed_table', 'caller_stats.caller_counter', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.caller_counter', null, null],
      ['create_distributed_table', 'caller_stats.question_key', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.question_key', null, null],
      ['create_distributed_table', 'caller_stats.found_query', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.found_query', null, null],
      ['create_distributed_table', 'caller_stats.late_change', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.late_change', null, null],
      ['create_distributed_table', 'caller_stats.ingestion_source', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.ingestion_source', null, null],
      ['create_distributed_table', 'caller_stats.ingestion_count', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.ingestion_count', null, null],
      ['create_distributed_table', 'caller_stats.imported_count', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.imported_count', null, null],
      ['create_distributed_table', 'caller_stats.receipt', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.receipt', null, null],
      ['create_distributed_table', 'caller_stats.import_range', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.import_range', null, null],
      ['create_distributed_table', 'caller_stats.correction', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.correction', null, null],
      ['create_distributed_table', 'caller_stats.corrected_query', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.corrected_query', null, null],
      ['create_distributed_table', 'caller_stats.withdrawn_count', 'project_id', 'caller_stats.project'],
      ['truncate_local_data', 'caller_stats.withdrawn_count', null, null],
      manageCall,
      ...recordCalls,
      importCall,
    ];
    expect(await calls()).toEqual(expected);

    expect((await migrate(url, '--distribute')).stdout).toContain('Everything is distributed already.');
    expect(await calls()).toEqual([...expected, ...recordCalls, importCall]);

    expect(await heldIn(url)).toEqual(['import_counts', 'record']);
  });
});

/** The functions that hold the shard. */
const heldIn = (url: string) =>
  onDatabase(url, async (client) => {
    const { rows } = await client.query(
      `SELECT proname FROM pg_proc WHERE prosrc LIKE '%BEGIN%DELETE FROM caller_stats.receipt%' ORDER BY 1`,
    );
    return rows.map(({ proname }) => proname);
  });

async function distributed(): Promise<string> {
  const server = await startPostgres(newestPostgres(), { extensions: standIn });
  onTestFinished(() => server.stop());
  const url = server.url();
  await onDatabase(url, (client) => client.query('CREATE EXTENSION citus'));
  await addCoordinator(url);
  await migrate(url, '--distribute');
  return url;
}

test('a migration that replaces what a cluster needs of functions and tables adds it again', async () => {
  const url = await distributed();
  const next: Migration = (schema) => [
    record(schema),
    `ALTER TABLE ${schema}.project ADD COLUMN next text`,
    `CREATE TABLE ${schema}.next (x integer)`,
  ];
  const broken: Migration = (schema) => [...next(schema), `CREATE TABLE ${schema}.member (x integer)`];
  await expect(migrateWith(url, [...MIGRATIONS, broken])).rejects.toThrow();
  expect(await heldIn(url)).toEqual(['import_counts', 'record']);
  await migrateWith(url, [...MIGRATIONS, next]);
  expect(await heldIn(url)).toEqual(['import_counts', 'record']);
  const copies = await onDatabase(url, (client) =>
    client.query('SELECT next FROM caller_stats.project_copy'),
  );
  expect(copies.fields).toHaveLength(1);
});

test('a cluster that an earlier version has distributed is named by doctor, and mended by the next node', async () => {
  const url = await distributed();
  const env = { DATABASE_URL: url };
  await onDatabase(url, (client) => client.query(record('caller_stats')));
  const found = await runCli(['doctor'], { env });
  expect(found.status).toBe(1);
  expect(found.stdout).toMatch(/^problem +cluster: .+ can be lost\n +before .+ run: caller-stats migrate$/m);
  expect(await heldIn(url)).toEqual(['import_counts']);
  // One that may not replace functions does not record.
  const user = await newUser(url, 'secret');
  await onDatabase(url, (client) =>
    client.query(
      [
        ...documentedGrants('caller_stats', user.name),
        `GRANT SELECT ON pg_dist_partition TO ${user.name}`,
      ].join(';'),
    ),
  );
  await expect(openForTest(user.url(url))).rejects.toMatchObject({
    message: expect.stringContaining('this user lacks a privilege'),
    cause: { message: 'permission denied for schema caller_stats' },
  });
  await openForTest(url);
  expect(await heldIn(url)).toEqual(['import_counts', 'record']);
  await openForTest(user.url(url));
  expect((await runCli(['doctor'], { env })).stdout).toMatch(/^ok +cluster/m);
});

test('doctor says how many projects each server has, and what the coordinator lacks', async () => {
  const server = await startPostgres(newestPostgres(), { extensions: standIn });
  onTestFinished(() => server.stop());
  const url = server.url();
  const env = { DATABASE_URL: url };
  await onDatabase(url, (client) => client.query('CREATE EXTENSION citus'));
  await addCoordinator(url);
  await migrate(url);
  expect((await runCli(['doctor'], { env })).stdout).not.toContain('cluster');
  await migrate(url, '--distribute');
  await placeOn(url, { group: 1, host: '127.0.0.1', port: 9 });
  for (const id of ['a', 'b']) await runCli(['project', 'create', id, '--id', id], { env });
  expect((await runCli(['doctor'], { env })).stdout).toMatch(
    /^ok +cluster: projects by server: 127\.0\.0\.1:9 2 \(3 MB\)$/m,
  );
  // One that has nothing, and one that does not answer.
  await onDatabase(url, (client) =>
    client.query(`
      INSERT INTO pg_dist_node VALUES (2, '127.0.0.1', 10), (3, '127.0.0.1', 11);
      INSERT INTO pg_dist_shard VALUES (3, 'caller_stats.project');
      INSERT INTO pg_dist_placement VALUES (3, 3)`),
  );
  expect((await runCli(['doctor'], { env })).stdout).toMatch(
    /: 127\.0\.0\.1:10 0 \(0 MB\), 127\.0\.0\.1:11 0 \(size unknown\), 127\.0\.0\.1:9 2 \(3 MB\)$/m,
  );
  await onDatabase(url, (client) => client.query('DROP TABLE caller_stats.project_copy'));
  expect((await runCli(['doctor'], { env })).stdout).toMatch(
    /^warning +cluster: .+ missing.+\n +run: caller-stats migrate --distribute$/m,
  );
});
