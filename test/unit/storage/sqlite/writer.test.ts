import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openMigrated } from '../../../../src/storage/sqlite/migrations/migrate.js';
import type { Operation } from '../../../../src/storage/sqlite/writer/operations.js';
import { Writer } from '../../../../src/storage/sqlite/writer/writer.js';
import { whenOver } from '../../../support/cleanup.js';
import { by, projectOf } from '../../../support/entities.js';
import { databaseInMemory } from '../../../support/sqlite.js';
import { temporaryFolder } from '../../../support/temporary.js';

const create: Operation = { kind: 'createProject', project: projectOf('docs'), by };

const record = (projectId: string, id: string, caller: string): Operation => ({
  kind: 'record',
  projectId,
  ids: [id],
  callers: [caller],
  occurredAt: Float64Array.of(0),
});

test('an operation that is refused leaves those beside it', () => {
  const db = databaseInMemory();
  const outcomes = new Writer(db).commit([
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

test('an error that is no refusal undoes all of a group', () => {
  const db = databaseInMemory();
  const writer = new Writer(db);
  writer.commit([create]);
  db.exec(
    `CREATE TRIGGER refuse BEFORE INSERT ON caller BEGIN SELECT RAISE(ABORT, 'refused for a test'); END`,
  );
  expect(() => writer.commit([record('docs', 'a', 'web'), record('docs', 'b', 'slack')])).toThrow('refused');
  expect(db.isTransaction).toBe(false);
  for (const table of ['query', 'type_counter', 'caller_counter'])
    expect(db.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 });
});

test('the log is empty when all is removed of a project that was deleted, and not before', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  const db = openMigrated(file);
  whenOver(() => db.close());
  const writer = new Writer(db);
  const purge = () => {
    writer.commit([{ kind: 'purgeDeleted', limit: 5 }]);
    return stat(`${file}-wal`);
  };
  writer.commit([create, record('docs', 'asked by somebody', 'web')]);
  writer.commit([{ kind: 'deleteProject', organizationId: 'default', projectId: 'docs', by }]);
  expect((await purge()).size).toBeGreaterThan(0);
  expect((await purge()).size).toBe(0);
});
