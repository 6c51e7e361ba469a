/** Opening a file for writing: migrations, backups, and files that are rejected unchanged. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { CallerStatsError } from '../../../../src/domain/errors.js';
import { MIGRATIONS, NEWEST_VERSION } from '../../../../src/storage/sqlite/migrations/index.js';
import {
  type BackupOptions,
  openMigrated,
  prepareVersionCheck,
} from '../../../../src/storage/sqlite/migrations/migrate.js';
import { withFile } from '../../../support/storage/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';

const newFile = async (): Promise<string> => join(await temporaryFolder(), 'store.db');

/** The migrations of a later program. */
const LATER = [
  ...MIGRATIONS,
  'ALTER TABLE project ADD COLUMN next TEXT',
  'CREATE TABLE next (x TEXT) STRICT',
];
const LATER_VERSION = NEWEST_VERSION + 2;

/** A file as this program leaves it, which is old for a later one. */
async function oldFile(): Promise<string> {
  const file = await newFile();
  openMigrated(file).close();
  return file;
}

const copyOf = (file: string): string => `${file}.version-${NEWEST_VERSION}`;

const versionOf = (file: string): unknown =>
  withFile(file, (db) => db.prepare('PRAGMA user_version').get()['user_version']);

function refusalOf(file: string, backup: BackupOptions = {}): CallerStatsError {
  try {
    openMigrated(file, LATER, backup).close();
  } catch (error) {
    return error as CallerStatsError;
  }
  throw new Error(`${file} was opened`);
}

test('a file that is not a database is rejected and unchanged', async () => {
  const file = await newFile();
  writeFileSync(file, 'nothing of a database'.repeat(100));
  const refusal = refusalOf(file);
  expect(refusal).toBeInstanceOf(CallerStatsError);
  expect(refusal).toMatchObject({ code: 'unavailable', cause: expect.any(Error) });
  expect(refusal.message).toMatch(/ is not a database, or is damaged; name another, or restore a backup\.$/);
  expect(readFileSync(file, 'utf8')).toBe('nothing of a database'.repeat(100));
});

test('an old file is migrated, after a backup unless disabled', async () => {
  const file = await oldFile();
  const kept: string[] = [];
  openMigrated(file, LATER, { onBackup: (copy) => kept.push(copy) }).close();
  expect([versionOf(file), kept]).toEqual([LATER_VERSION, [copyOf(file)]]);
  expect(versionOf(copyOf(file))).toBe(NEWEST_VERSION);

  const [silent, forgotten] = [await oldFile(), await oldFile()];
  openMigrated(silent, LATER).close();
  openMigrated(forgotten, LATER, { keepOld: false }).close();
  expect([versionOf(silent), versionOf(forgotten)]).toEqual([LATER_VERSION, LATER_VERSION]);
  expect([existsSync(copyOf(silent)), existsSync(copyOf(forgotten))]).toEqual([true, false]);
});

test('without a backup the file is unchanged, and the error says what to do', async () => {
  const file = await oldFile();
  mkdirSync(copyOf(file));
  const refusal = refusalOf(file);
  expect(refusal).toBeInstanceOf(CallerStatsError);
  expect(refusal.message).toContain(
    `${file} was not upgraded from schema version ${NEWEST_VERSION}, for lack of a backup: `,
  );
  expect(refusal.message).toMatch(/ Make room, or make a backup elsewhere and run .+ migrate --no-backup\.$/);
  expect(refusal.cause).toMatchObject({ code: 'EISDIR' });
  expect(versionOf(file)).toBe(NEWEST_VERSION);
});

test('a migration that fails leaves the file unchanged, and can be repeated', async () => {
  const file = await oldFile();
  const stateOf = (): unknown =>
    withFile(file, (db) => [db.prepare('SELECT sql FROM sqlite_schema').all(), versionOf(file)]);
  const before = stateOf();
  expect(() => openMigrated(file, [...LATER, 'CREATE TABLE member (x)'])).toThrow(/member already exists/);
  expect(stateOf()).toEqual(before);
  openMigrated(file, LATER).close();
  expect(versionOf(file)).toBe(LATER_VERSION);
});

test('an unrelated error is passed on', async () => {
  const file = await oldFile();
  const broken = new Error('the callback for the copy failed');
  const onBackup = (): never => {
    throw broken;
  };
  expect(refusalOf(file, { onBackup })).toBe(broken);
  expect(versionOf(file)).toBe(NEWEST_VERSION);
});

test('an up-to-date file can be opened while another process writes to it', async () => {
  const file = await newFile();
  openMigrated(file).close();
  const writer = new DatabaseSync(file);
  writer.exec('BEGIN IMMEDIATE');
  openMigrated(file).close();
  writer.exec('ROLLBACK');
  writer.close();
});

test('a schema that another version has changed is unavailable', async () => {
  const file = await newFile();
  const db = openMigrated(file);
  expect(() => prepareVersionCheck(db)()).not.toThrow();
  db.exec('PRAGMA user_version = 1');
  let refusal: unknown;
  try {
    prepareVersionCheck(db)();
  } catch (error) {
    refusal = error;
  }
  db.close();
  expect(refusal).toMatchObject({ code: 'unavailable' });
  expect((refusal as Error).message).toContain(
    `version 1 now, made by another caller-stats; this one works with ${NEWEST_VERSION}`,
  );
});
