import { expect, test } from 'vitest';
import { Reader } from '../../../../src/storage/sqlite/reader.js';
import { Writer } from '../../../../src/storage/sqlite/writer.js';
import { by } from '../../../support/entities.js';
import { databaseInMemory, recordInto } from '../../../support/sqlite.js';

test('the writer is asked for clean-ups only where there is something to clean up', () => {
  const db = databaseInMemory();
  const reader = new Reader(db);
  recordInto(db, 'docs', [{ id: 'a', caller: 'web', occurredAt: 0 }]);
  expect([reader.hasDeleted(), reader.hasRetentionToApply(0)]).toEqual([false, false]);
  db.exec('UPDATE project SET retention_days = 1');
  expect(reader.hasRetentionToApply(0)).toBe(true);
  new Writer(db).commit([{ kind: 'deleteProject', organizationId: 'default', projectId: 'docs', by }]);
  expect([reader.hasDeleted(), reader.hasRetentionToApply(0)]).toEqual([true, false]);
});

test('a check reads, and says what is wrong', () => {
  const db = databaseInMemory();
  const reader = new Reader(db);
  reader.check();
  db.exec('PRAGMA foreign_keys = OFF; DROP TABLE organization');
  expect(() => reader.check()).toThrow(/no such table/);
});
