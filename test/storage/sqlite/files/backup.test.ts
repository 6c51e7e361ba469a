/** What becomes of a database that a backup takes the place of; what else backups promise is tested in `test/storage/backup.test.ts`. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { backUpFile, restoreFile } from '../../../../src/storage/sqlite/files/backup.js';
import { openMigrated } from '../../../../src/storage/sqlite/migrations/migrate.js';
import { whenOver } from '../../../support/cleanup.js';
import { diskCalls } from '../../../support/storage/disk-calls.js';
import { recordInto } from '../../../support/storage/sqlite.js';
import { temporaryFolder } from '../../../support/temporary.js';

/** What the name of a database ends with that was replaced at the time 0. */
const replaced = '.replaced-19700101T000000.000Z';

/** A database of one query, which nobody has open, and its backup. */
async function place() {
  const folder = await temporaryFolder();
  const [file, copy] = [`${folder}/store.db`, `${folder}/copy.db`];
  // The driver may have a file that was written open for longer than its connection.
  const first = `${await temporaryFolder()}/first.db`;
  const db = openMigrated(first);
  recordInto(db, 'docs', [{ id: 'a', caller: 'web', occurredAt: 0 }]);
  db.close();
  for (const target of [file, copy]) backUpFile(first, target, false);
  return { folder, file, restore: () => restoreFile(copy, file, true, 0) };
}

test('does not replace a database in use that has no log', async () => {
  const { folder, file, restore } = await place();
  const user = new DatabaseSync(file);
  whenOver(() => user.close());
  user.exec('BEGIN EXCLUSIVE');
  const before = readdirSync(folder);
  expect(restore).toThrow(/store\.db is in use: stop its server/);
  expect(readdirSync(folder)).toEqual(before);
});

test('does not leave the log of a damaged database beside its replacement', async () => {
  const { folder, file, restore } = await place();
  // SQLite removes both with the last connection; here somebody still has the file open, and does nothing.
  const user = new DatabaseSync(file);
  whenOver(() => user.close());
  user.exec('PRAGMA journal_mode = WAL; UPDATE project SET name = id; PRAGMA wal_checkpoint(TRUNCATE)');
  writeFileSync(file, 'no database at all '.repeat(1000));
  expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'store.db', 'store.db-shm', 'store.db-wal']);
  expect(restore()).toMatchObject({ queries: 1, kept: `${file}${replaced}` });
  expect(readFileSync(`${file}${replaced}`, 'utf8')).toMatch(/^no database at all/);
  expect(readdirSync(folder).toSorted()).toEqual([
    'copy.db',
    ...['', replaced, `${replaced}-wal`].map((end) => `store.db${end}`),
  ]);
});

test('does not apply the log of a database that has gone, and keeps it', async () => {
  const { folder, file, restore } = await place();
  const user = new DatabaseSync(file);
  whenOver(() => user.close());
  user.exec("PRAGMA journal_mode = WAL; UPDATE project SET name = 'of the log'");
  rmSync(file);
  expect(restore()).toMatchObject({ queries: 1, kept: `${file}${replaced}-wal` });
  expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'store.db', `store.db${replaced}-wal`]);
  const restored = new DatabaseSync(file);
  whenOver(() => restored.close());
  expect(restored.prepare('SELECT name FROM project').get()).not.toEqual({ name: 'of the log' });
});

test('the replaced database has its second name on disk before it loses the first', async () => {
  const { folder, restore } = await place();
  const sync = `sync ${basename(folder)}`;
  const calls = diskCalls(restore).filter((call) => !call.endsWith('draft'));
  expect(calls).toEqual([
    'copyFileSync copy.db database',
    'sync database',
    `linkSync store.db store.db${replaced}`,
    sync,
    sync,
    'renameSync database store.db',
    sync,
  ]);
});

test('the log of a damaged database is on disk under its second name before the first goes', async () => {
  const { folder, file, restore } = await place();
  const user = new DatabaseSync(file);
  whenOver(() => user.close());
  user.exec('PRAGMA journal_mode = WAL; UPDATE project SET name = id; PRAGMA wal_checkpoint(TRUNCATE)');
  writeFileSync(file, 'no database at all '.repeat(1000));
  const calls = diskCalls(restore);
  const of = (call: string): number => calls.indexOf(call);
  const [copied, synced] = [
    of(`copyFileSync store.db-wal store.db${replaced}-wal`),
    of(`sync store.db${replaced}-wal`),
  ];
  const [named, gone] = [of(`sync ${basename(folder)}`), of('rmSync store.db-wal')];
  expect([copied, synced, named, gone]).toEqual([copied, synced, named, gone].toSorted((a, b) => a - b));
  expect(copied).toBeGreaterThanOrEqual(0);
});
