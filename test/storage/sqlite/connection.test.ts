import { expect, test } from 'vitest';
import {
  inTransaction,
  openConnection,
  openReader,
  setUpImport,
  setUpWriter,
} from '../../../src/storage/sqlite/connection.js';
import { whenOver } from '../../support/cleanup.js';
import { databaseInMemory } from '../../support/storage/sqlite.js';
import { temporaryFolder } from '../../support/temporary.js';

test('connections wait five seconds for others and have the configured cache size', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  const writer = openConnection(file);
  whenOver(() => writer.close());
  const pragma = (db: typeof writer, name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get())[0];
  setUpWriter(writer);
  expect(pragma(writer, 'busy_timeout')).toBe(5_000);
  expect(pragma(writer, 'foreign_keys')).toBe(1);
  expect(pragma(writer, 'journal_size_limit')).toBe(104_857_600);
  expect(pragma(writer, 'wal_autocheckpoint')).toBe(20_000);
  setUpImport(writer);
  expect(pragma(writer, 'wal_autocheckpoint')).toBe(40_000);
  expect(pragma(writer, 'cache_size')).toBe(-16_384);
  expect(pragma(databaseInMemory(), 'temp_store')).toBe(2);
  const reader = openReader(file);
  whenOver(() => reader.close());
  expect(pragma(reader, 'busy_timeout')).toBe(5_000);
  expect(pragma(reader, 'temp_store')).toBe(1);
});

test('rolls back a failed transaction and throws its error', () => {
  const db = databaseInMemory();
  const error = new Error('no');
  for (const before of ['', 'ROLLBACK']) {
    const work = () => {
      db.exec(`INSERT INTO caller (name) VALUES ('slack'); ${before}`);
      throw error;
    };
    expect(() => inTransaction(db, work)).toThrow(error);
    expect(db.isTransaction).toBe(false);
    expect(db.prepare('SELECT count(*) AS n FROM caller').get()).toEqual({ n: 2 });
  }
  expect(inTransaction(db, () => 5)).toBe(5);
});
