import { expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { openReader } from '../../../src/storage/sqlite/connection.js';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { openMigrated } from '../../../src/storage/sqlite/migrations/migrate.js';
import { Reader } from '../../../src/storage/sqlite/reader.js';
import { whenOver } from '../../support/cleanup.js';
import { databaseInMemory, deleteProjectIn, recordInto } from '../../support/storage/sqlite.js';
import { temporaryFolder } from '../../support/temporary.js';

test('reports whether there is something to clean up', () => {
  const db = databaseInMemory();
  const reader = new Reader(db);
  recordInto(db, 'docs', [{ id: 'a', caller: 'web', occurredAt: 0 }]);
  expect([reader.hasDeleted(), reader.hasRetentionToApply(0)]).toEqual([false, false]);
  db.exec('UPDATE project SET retention_days = 1');
  expect(reader.hasRetentionToApply(0)).toBe(true);
  deleteProjectIn(db, 'docs');
  expect([reader.hasDeleted(), reader.hasRetentionToApply(0)]).toEqual([true, false]);
});

test('checks the database by reading from it', () => {
  const db = databaseInMemory();
  const reader = new Reader(db);
  // It is not what finds out about the counters.
  db.exec('PRAGMA foreign_keys = OFF; DROP TABLE caller_type_counter');
  reader.check('database');
  db.exec('DROP TABLE project');
  expect(() => reader.check('database')).toThrow(/no such table/);
});

test('checks the version of the schema', () => {
  const db = databaseInMemory();
  const reader = new Reader(db);
  reader.check('schema');
  db.exec('PRAGMA user_version = 1');
  expect(() => reader.check('schema')).toThrow();
});

test('opens nothing once a program of another version has changed the schema', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  const newer = openMigrated(file);
  const db = openReader(file);
  whenOver(() => db.close());
  whenOver(() => newer.close());
  const reader = new Reader(db);
  expect(reader.findAccess('hash', 'docs')).toBeUndefined();
  newer.exec(`PRAGMA user_version = ${NEWEST_VERSION + 1}`);
  expect(() => reader.findAccess('hash', 'docs')).toThrow(/^The database has schema version \d+ now/);
  newer.exec(`PRAGMA user_version = ${NEWEST_VERSION}`);
  expect(reader.findAccess('hash', 'docs')).toBeUndefined();
});

test('checks the counters without using the cache', () => {
  const db = databaseInMemory();
  const reader = new Reader(db);
  reader.check('counts');
  recordInto(db, 'docs', [{ id: 'a', caller: 'web', occurredAt: 0 }]);
  for (let ask = 0; ask < 40; ask++) reader.counters.count('docs', ALL_TIME);
  reader.check('counts');
  db.exec('DROP TABLE caller_type_counter');
  expect(() => reader.check('counts')).toThrow(/no such table/);
});
