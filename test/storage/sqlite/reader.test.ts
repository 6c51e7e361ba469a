import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { isQueryId } from '../../../src/domain/queries/query.js';
import type { RecordedQuery } from '../../../src/domain/queries/receipt.js';
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

test('reads every id as it was recorded, in pages', () => {
  const uuid = '0198c2af-dead-7bee-89ab-cdef01234567';
  const odd = [
    '=',
    '=a',
    uuid.replaceAll('-', ''),
    uuid.toUpperCase(),
    '"\\\n\u0001\u2028',
    'é\u{1f600}',
    'null',
    '1',
  ];
  const ids = fc.uniqueArray(
    fc.oneof(fc.constantFrom(uuid, ...odd), fc.uuid(), fc.string({ unit: 'binary', minLength: 1 })),
    {
      minLength: 1,
    },
  );
  fc.assert(
    fc.property(ids, fc.integer({ min: 1, max: 4 }), (drawn, limit) => {
      const recorded = drawn.filter(isQueryId);
      const db = databaseInMemory();
      const reader = new Reader(db);
      recordInto(
        db,
        'docs',
        recorded.map((id, at) => ({ id, caller: `bot-${at % 3}`, occurredAt: at - 1 })),
      );
      const read: RecordedQuery[] = [];
      let page: RecordedQuery[];
      do {
        page = reader.readQueries('docs', read.at(-1)?.id, limit);
        read.push(...page);
      } while (page.length === limit);
      const byId = new Map(read.map((query) => [query.id, query]));
      expect(read.length).toBe(recorded.length);
      for (const [at, id] of recorded.entries())
        expect(byId.get(id)).toMatchObject({ id, caller: `bot-${at % 3}`, occurredAt: at - 1 });
    }),
    { numRuns: 50 },
  );
});

test('checks the database by reading from it', () => {
  const db = databaseInMemory();
  const reader = new Reader(db);
  // It is not what finds out about the counters.
  db.exec('PRAGMA foreign_keys = OFF; DROP TABLE query_counter');
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
  db.exec('DROP TABLE query_counter');
  expect(() => reader.check('counts')).toThrow(/no such table/);
});
