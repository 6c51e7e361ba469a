import { expect, test } from 'vitest';
import { ReadSnapshot } from '../../../../src/storage/sqlite/counters/read-snapshot.js';
import { databaseInMemory } from '../../../support/sqlite.js';

test('what fails is told as it is, and leaves no transaction', () => {
  const db = databaseInMemory();
  const version = new ReadSnapshot(db);
  const fail = () => {
    throw new Error('as it is');
  };
  expect(() => version.run(fail)).toThrow('as it is');
  expect(db.isTransaction).toBe(false);
});

test('what SQLite has ended a transaction for is told as it is, too', () => {
  const db = databaseInMemory();
  const version = new ReadSnapshot(db);
  // As it does by itself where it cannot read.
  const fail = () => {
    db.exec('ROLLBACK');
    throw new Error('disk I/O error');
  };
  expect(() => version.run(fail)).toThrow('disk I/O error');
  expect(version.run(() => db.isTransaction)).toBe(true);
  expect(db.isTransaction).toBe(false);
});

test('what is read within what is read together is of the same moment', () => {
  const db = databaseInMemory();
  const version = new ReadSnapshot(db);
  const [outer, inner] = version.run((one) => [one, version.run((other) => other)]);
  expect(inner).toBe(outer);
});
