/** What only the SQLite store promises: about its file, its durability, and its writer. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { STORE_PARTS } from '../../../src/storage/ports/store-stats.js';
import { openReader } from '../../../src/storage/sqlite/connection.js';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { openMigrated } from '../../../src/storage/sqlite/migrations/migrate.js';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { whenOver } from '../../support/cleanup.js';
import { withFile } from '../../support/storage/sqlite-file.js';
import { by, projectOf } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';

async function storeFile(): Promise<string> {
  const file = join(await temporaryFolder(), 'data', 'store.db');
  const store = await openSqliteStore(file);
  await store.directory.createProject(projectOf('p'), by);
  await store.counts.record('p', [
    { id: 'a', caller: 'web', occurredAt: 1_767_225_600_000 },
    { id: 'b', caller: 'slack', occurredAt: -1 },
  ]);
  await store.close();
  return file;
}

describe('the file', () => {
  test('of a newer version is refused and unchanged', async () => {
    const file = await storeFile();
    withFile(file, (db) => db.exec(`PRAGMA user_version = ${NEWEST_VERSION + 1}`));
    // Now, because the closed store keeps the file open until its statements are collected.
    withFile(file, (db) => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    const before = readFileSync(file);
    await expect(openSqliteStore(file)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/schema version \d+, made by a newer caller-stats/),
    });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('of another program is refused and keeps its tables', async () => {
    const file = join(await temporaryFolder(), 'other.db');
    withFile(file, (db) => db.exec('CREATE TABLE theirs (x); PRAGMA user_version = 1'));
    await expect(openSqliteStore(file)).rejects.toMatchObject({
      message: expect.stringMatching(/another program/),
    });
    expect(withFile(file, (db) => db.prepare('SELECT name FROM sqlite_schema').all())).toMatchObject([
      { name: 'theirs' },
    ]);
  });

  test('that was removed while it was open fails every check', async () => {
    const file = await storeFile();
    const store = await openSqliteStore(file);
    whenOver(() => store.close());
    await store.maintenance.check();
    rmSync(file);
    for (const part of [undefined, ...STORE_PARTS])
      await expect(store.maintenance.check(part)).rejects.toMatchObject({
        ...{ code: 'unavailable', message: expect.stringMatching(/was deleted or replaced/) },
      });
  });

  test('is for its owner only', async () => {
    const file = await storeFile();
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test('has an empty log after closing', async () => {
    const file = await storeFile();
    const log = `${file}-wal`;
    expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
  });
});

describe('the connections', () => {
  test('make every commit durable, and readers cannot write', async () => {
    const file = await storeFile();
    const writer = openMigrated(file);
    expect(writer.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
    expect(writer.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    const reader = openReader(file);
    expect(() => reader.exec('DELETE FROM query')).toThrow(/readonly/);
    reader.close();
    writer.close();
  });
});

describe('verification', () => {
  test.each(['query_counter', 'caller_counter', 'query', 'project'])(
    'finds damage in a page of %s and recounts nothing',
    async (table) => {
      const file = await storeFile();
      const { rootpage } = withFile(file, (db) =>
        db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table),
      );
      const store = await openSqliteStore(file);
      const bytes = readFileSync(file);
      bytes.fill(0x5a, (rootpage - 1) * 4096, (rootpage - 1) * 4096 + 12);
      writeFileSync(file, bytes);
      const found = await store.maintenance.verify();
      expect(found.damage).not.toEqual([]);
      expect(found).toMatchObject({ queries: 0, differencesTotal: 0 });
      await store.close();
    },
  );
});
