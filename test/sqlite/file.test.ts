/** What only the SQLite store promises: about its file, its durability, and its writer. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openReader } from '../../src/storage/sqlite/connection.js';
import { MIGRATIONS } from '../../src/storage/sqlite/migrations/index.js';
import { openMigrated } from '../../src/storage/sqlite/migrations/migrate.js';
import { openSqliteStore } from '../../src/storage/sqlite/store.js';
import { withFile } from '../support/sqlite-file.js';
import { by, projectOf, retainAll } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

async function storeFile(): Promise<string> {
  const file = join(await temporaryFolder(), 'data', 'store.db');
  const store = await openSqliteStore(file);
  await store.createProject(projectOf('p'), by);
  await store.record('p', [
    { id: 'a', caller: 'web', occurredAt: 1_767_225_600_000 },
    { id: 'b', caller: 'slack', occurredAt: -1 },
  ]);
  await store.close();
  return file;
}

describe('the file', () => {
  test('of a newer version is refused and unchanged', async () => {
    const file = await storeFile();
    withFile(file, (db) => db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`));
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

  test('that is no database is refused and left as it was', async () => {
    const file = join(await temporaryFolder(), 'letter.txt');
    writeFileSync(file, 'Dear reader, this is not a database. '.repeat(100));
    await expect(openSqliteStore(file)).rejects.toThrow(/not a database/);
    expect(readFileSync(file, 'utf8')).toMatch(/^Dear reader/);
  });

  test('in a folder that cannot be made is refused', async () => {
    const folder = await temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    await expect(openSqliteStore(join(folder, 'file', 'store.db'))).rejects.toMatchObject({
      code: 'unavailable',
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

describe('migrations', () => {
  test('run in one transaction: one that fails leaves the version before it', async () => {
    const file = join(await temporaryFolder(), 'store.db');
    const one = 'CREATE TABLE one (x)';
    const two = 'CREATE TABLE two (x)';
    openMigrated(file, [one]).close();
    expect(() => openMigrated(file, [one, two, 'CREATE TABLE oops ('])).toThrow();
    const before = withFile(file, (db) => [
      db
        .prepare('SELECT name FROM sqlite_schema')
        .all()
        .map((row) => row.name),
      db.prepare('PRAGMA user_version').get().user_version,
    ]);
    expect(before).toEqual([['one'], 1]);
    openMigrated(file, [one, two]).close();
    expect(withFile(file, (db) => db.prepare('PRAGMA user_version').get())).toMatchObject({
      user_version: 2,
    });
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
  test.each([
    [
      'a counter that was changed',
      'UPDATE type_counter SET web = web + 2 WHERE level = 0 AND web = 1',
      1,
      { web: 3 },
      { web: 1 },
    ],
    [
      'a counter that was removed',
      'DELETE FROM type_counter WHERE level = 3 AND other = 1',
      1,
      { other: 0 },
      { other: 1 },
    ],
    [
      'a counter that was made up',
      'INSERT INTO type_counter VALUES (1, 2, 77, 0, 5, 0)',
      1,
      { api: 5 },
      { api: 0 },
    ],
    ['a query that was removed', "DELETE FROM query WHERE id = 'a'", 6, { web: 1 }, { web: 0 }],
    [
      'a query that was moved',
      "UPDATE query SET occurred_at = 5 WHERE id = 'b'",
      24,
      { other: 1 },
      { other: 0 },
    ],
    [
      "a caller's counter that was changed",
      'UPDATE caller_counter SET queries = queries + 2 WHERE level = 5',
      1,
      { other: 3 },
      { other: 1 },
    ],
    [
      "a caller's counter that was removed",
      'DELETE FROM caller_counter WHERE level = 0',
      1,
      { other: 0 },
      { other: 1 },
    ],
    [
      "a caller's counter that was made up",
      'INSERT INTO caller_counter VALUES (1, 2, 77, 2, 5)',
      1,
      { other: 5 },
      { other: 0 },
    ],
  ])('finds %s', async (_what, change, differencesTotal, counted, recounted) => {
    const file = await storeFile();
    withFile(file, (db) => db.exec(change));
    const store = await openSqliteStore(file);
    const found = await store.verify();
    expect(found).toMatchObject({ differencesTotal, damage: [] });
    expect(found.differences[0]).toMatchObject({ projectId: 'p', counted, recounted });
    await store.close();
  });

  test.each([
    ['a counter of a time that has rows', 'level = 0 AND bucket = 3456000000', 0],
    ['a wider counter of a time without rows', 'level = 3 AND bucket = 8', 3],
    ['a day of a time without rows', 'level = 4 AND bucket = 1', 4],
    ['a counter that holds both', 'level = 5 AND bucket = 1', 5],
  ])('finds, where old rows are gone, %s', async (_what, where, level) => {
    const file = join(await temporaryFolder(), 'data', 'store.db');
    const store = await openSqliteStore(file);
    onTestFinished(() => store.close());
    await store.createProject(projectOf('p', { retentionDays: 1 }), by);
    const dayMs = 86_400_000;
    const days = [0, 1, 31, 32, 33, 40];
    await store.record(
      'p',
      days.flatMap((day) =>
        ['web', 'slack'].map((caller) => ({ id: `${day} ${caller}`, caller, occurredAt: day * dayMs })),
      ),
    );
    await retainAll(store, 41 * dayMs);
    expect(await store.verify()).toMatchObject({ queries: 2, differencesTotal: 0 });
    withFile(file, (db) => db.exec(`UPDATE type_counter SET web = web + 1 WHERE ${where}`));
    const found = await store.verify();
    expect(found.differencesTotal).toBeGreaterThan(0);
    expect(found.differences.map((one) => one.level)).toContain(level);
    withFile(file, (db) => db.exec(`UPDATE type_counter SET web = web - 1 WHERE ${where}`));
    expect(await store.verify()).toMatchObject({ differencesTotal: 0 });
    // At the narrowest level only what the callers' counters say as well can be told.
    withFile(file, (db) =>
      db.exec('UPDATE type_counter SET other = other + 1 WHERE level = 0 AND bucket = 0'),
    );
    expect((await store.verify()).differences[0]).toMatchObject({
      level: 0,
      bucket: 0,
      counted: { other: 2 },
    });
  });

  test('lists a bounded number of differences, and counts them all', async () => {
    const file = await storeFile();
    withFile(file, (db) => {
      db.exec(
        'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO type_counter SELECT 1, 0, i, 1, 0, 0 FROM n',
      );
    });
    const store = await openSqliteStore(file);
    const found = await store.verify();
    expect([found.differences.length, found.differencesTotal]).toEqual([1000, 1500]);
    await store.close();
  });

  test.each(['type_counter', 'caller_counter', 'query', 'project'])(
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
      const found = await store.verify();
      expect(found.damage).not.toEqual([]);
      expect(found).toMatchObject({ queries: 0, differencesTotal: 0 });
      await store.close();
    },
  );
});
