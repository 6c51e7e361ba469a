import { stat } from 'node:fs/promises';
import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { openConnection, openReader } from '../../../../src/storage/sqlite/connection.js';
import { NEWEST_VERSION } from '../../../../src/storage/sqlite/migrations/index.js';
import { openMigrated } from '../../../../src/storage/sqlite/migrations/migrate.js';
import type { Operation } from '../../../../src/storage/sqlite/writer/operations.js';
import { Writer } from '../../../../src/storage/sqlite/writer/writer.js';
import { whenOver } from '../../../support/cleanup.js';
import { by, keyOf, projectOf } from '../../../support/storage/entities.js';
import { databaseInMemory } from '../../../support/storage/sqlite.js';
import { temporaryFolder } from '../../../support/temporary.js';

const create: Operation = { kind: 'directory', method: 'createProject', args: [projectOf('docs'), by] };

const record = (projectId: string, id: string, caller: string): Operation => ({
  kind: 'record',
  projectId,
  ids: [id],
  callers: [caller],
  occurredAt: Float64Array.of(0),
});

test('commits other operations although one is refused', async () => {
  const db = databaseInMemory();
  const outcomes = await new Writer(db).commit([
    create,
    record('docs', 'a', 'web'),
    record('none', 'b', 'web'),
    record('docs', 'c', 'web'),
  ]);
  expect(outcomes).toMatchObject([
    { ok: true },
    { ok: true },
    { ok: false, code: 'not_found' },
    { ok: true },
  ]);
  expect(db.prepare('SELECT count(*) AS count FROM query').get()).toEqual({ count: 2 });
});

test('remembers for a recording nothing that another operation may have changed', async () => {
  const project = projectOf('docs');
  const remove: Operation = {
    kind: 'directory',
    method: 'deleteProject',
    args: [project.organizationId, project.id, by],
  };
  const group = [create, record('docs', 'a', 'web'), remove, record('docs', 'b', 'web')];
  expect(await new Writer(databaseInMemory()).commit(group)).toMatchObject([
    { ok: true },
    { ok: true },
    { ok: true },
    { ok: false, code: 'not_found' },
  ]);
});

test('remembers nothing of an earlier group, since which another process has changed the file', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  const [db, other] = [openMigrated(file), openConnection(file)];
  for (const one of [db, other]) whenOver(() => one.close());
  const writer = new Writer(db);
  await writer.commit([create, record('docs', 'a', 'web')]);
  await writer.commit([record('docs', 'c', 'web')]);
  other.exec('UPDATE project SET rows_from = 1');
  expect(await writer.commit([record('docs', 'b', 'web')])).toMatchObject([{ ok: false, code: 'invalid' }]);
});

test('undoes the whole group after an unexpected error', async () => {
  const db = databaseInMemory();
  const writer = new Writer(db);
  await writer.commit([create]);
  db.exec(
    `CREATE TRIGGER refuse BEFORE INSERT ON caller BEGIN SELECT RAISE(ABORT, 'refused for a test'); END`,
  );
  await expect(writer.commit([record('docs', 'a', 'web'), record('docs', 'b', 'slack')])).rejects.toThrow(
    'refused',
  );
  expect(db.isTransaction).toBe(false);
  for (const table of ['query', 'query_counter', 'caller_counter'])
    expect(db.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 });
});

test('a group that fails makes no recording of the next one outdated', async () => {
  const db = databaseInMemory();
  const writer = new Writer(db);
  await writer.commit([create]);
  const { stamp } = writer;
  const proved = (id: string): Operation => ({ ...record('docs', id, 'web'), stamp }) as Operation;
  db.exec(`CREATE TRIGGER refuse BEFORE INSERT ON query BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
  const failing = [
    [proved('a')],
    [proved('b')],
    // What changes the stamp is undone as well.
    [{ ...create, args: [projectOf('next'), by] } as Operation, record('next', 'c', 'web')],
    [proved('d')],
  ];
  for (const group of failing) await expect(writer.commit(group)).rejects.toThrow('the disk is full');
  db.exec('DROP TRIGGER refuse');
  expect(await writer.commit([proved('a')])).toEqual([{ ok: true, value: { recorded: 1, duplicates: 0 } }]);
});

test('empties the log after a group, unless a reader needs it', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  const db = openMigrated(file);
  whenOver(() => db.close());
  const writer = new Writer(db);
  const commit = (...more: Operation[]) => writer.commit([{ kind: 'emptyLog' }, ...more]);
  const logBytes = async () => (await stat(`${file}-wal`)).size;
  await writer.commit([create]);
  const reader = openReader(file);
  whenOver(() => reader.close());
  reader.exec('BEGIN; SELECT * FROM project');
  const recorded = { ok: true, value: { recorded: 1, duplicates: 0 } };
  expect(await commit(record('docs', 'a', 'web'))).toEqual([{ ok: true, value: false }, recorded]);
  expect(await logBytes()).toBeGreaterThan(0);
  reader.exec('COMMIT');
  expect(await commit(record('docs', 'b', 'web'))).toEqual([{ ok: true, value: true }, recorded]);
  expect(await logBytes()).toBe(0);
});

test('undoes only a change that is refused half-way', async () => {
  const db = databaseInMemory();
  const writer = new Writer(db);
  const key = keyOf('k');
  const rotate: Operation = {
    kind: 'directory',
    method: 'rotateKey',
    // The successor is the key itself: refused once the old key has been changed.
    args: [key.organizationId, key.id, key, 1, by],
  };
  const outcomes = await writer.commit([
    create,
    { kind: 'directory', method: 'createKey', args: [key, by] },
    rotate,
    record('docs', 'a', 'web'),
  ]);
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, false, true]);
  expect(outcomes[2]).toMatchObject({ code: 'already_exists' });
  expect(db.prepare('SELECT expires_at, successor_id FROM api_key').all()).toEqual([
    { expires_at: key.expiresAt, successor_id: null },
  ]);
  expect(db.prepare('SELECT action FROM audit ORDER BY number').all()).toEqual([
    { action: 'project.create' },
    { action: 'key.create' },
  ]);
  expect(db.prepare('SELECT count(*) AS count FROM query').get()).toEqual({ count: 1 });
});

test('handles no message of the main thread during a commit', async () => {
  const db = databaseInMemory();
  const events: string[] = [];
  const { port1, port2 } = new MessageChannel();
  port2.on('message', () => void events.push('message'));
  port1.postMessage('now');
  const committed = new Writer(db)
    .commit([create, ...['a', 'b', 'c'].map((id) => record('docs', id, 'web')), create])
    .then(() => events.push('committed'));
  setImmediate(() => events.push('immediate'));
  await committed;
  expect(events).toEqual(['committed']);
  port1.close();
});

test.each([
  ['caller', { callers: ['web'] }],
  ['time', { occurredAt: Float64Array.of(0) }],
])('rejects a batch without a %s for each of its ids', async (_what, wrong) => {
  const db = databaseInMemory();
  const writer = new Writer(db);
  await writer.commit([create]);
  const batch: Operation = {
    kind: 'record',
    projectId: 'docs',
    ids: ['a', 'b'],
    callers: ['web', 'api'],
    occurredAt: Float64Array.of(0, 1),
    ...wrong,
  };
  await expect(writer.commit([batch])).rejects.toThrow(/^Invariant violated: a batch has a \w+ for each/);
  for (const table of ['query', 'query_counter', 'caller_counter'])
    expect(db.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 });
});

test('changes nothing once a program of another version has changed the schema', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  const [db, newer] = [openMigrated(file), openMigrated(file)];
  whenOver(() => db.close());
  whenOver(() => newer.close());
  const writer = new Writer(db);
  await writer.commit([create]);
  newer.exec(`PRAGMA user_version = ${NEWEST_VERSION + 1}`);
  const refused = {
    code: 'unavailable',
    message: expect.stringMatching(/^The database has schema version \d+ now, made by another caller-stats/),
  };
  await expect(writer.commit([record('docs', 'a', 'web')])).rejects.toMatchObject(refused);
  expect(newer.prepare('SELECT count(*) AS count FROM query').get()).toEqual({ count: 0 });
  newer.exec(`PRAGMA user_version = ${NEWEST_VERSION}`);
  expect(await writer.commit([record('docs', 'a', 'web')])).toMatchObject([{ ok: true }]);
});
