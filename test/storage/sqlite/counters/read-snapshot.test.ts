import { expect, test } from 'vitest';
import { ReadSnapshot } from '../../../../src/storage/sqlite/counters/read-snapshot.js';
import { databaseInMemory } from '../../../support/storage/sqlite.js';

test('an error is passed on, and ends the transaction', () => {
  const db = databaseInMemory();
  const snapshot = new ReadSnapshot(db);
  const fail = () => {
    throw new Error('as it is');
  };
  expect(() => snapshot.run(fail)).toThrow('as it is');
  expect(db.isTransaction).toBe(false);
});

test('an error after which SQLite ended the transaction is passed on', () => {
  const db = databaseInMemory();
  const snapshot = new ReadSnapshot(db);
  // As SQLite does after a read error.
  const fail = () => {
    db.exec('ROLLBACK');
    throw new Error('disk I/O error');
  };
  expect(() => snapshot.run(fail)).toThrow('disk I/O error');
  expect(snapshot.run(() => db.isTransaction)).toBe(true);
  expect(db.isTransaction).toBe(false);
});

test('nested reads have the same snapshot', () => {
  const db = databaseInMemory();
  const snapshot = new ReadSnapshot(db);
  const [outer, inner] = snapshot.run((one) => [one, snapshot.run((other) => other)]);
  expect(inner).toBe(outer);
});
