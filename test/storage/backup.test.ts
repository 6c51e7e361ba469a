import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { backUpStore, restoreStore } from '../../src/storage/backup.js';
import { openConnection } from '../../src/storage/sqlite/connection.js';
import { NEWEST_VERSION } from '../../src/storage/sqlite/migrations/index.js';
import { openMigrated } from '../../src/storage/sqlite/migrations/migrate.js';
import { whenOver } from '../support/cleanup.js';
import { recordInto } from '../support/storage/sqlite.js';
import { temporaryFolder } from '../support/temporary.js';

const nowMs = Date.parse('2026-06-15T12:34:56.789Z');

/** Makes a database of so many queries in two projects. The driver may have its first file open for longer. */
async function makeStore(file: string, queries: number): Promise<void> {
  const first = `${await temporaryFolder()}/first.db`;
  const db = openMigrated(first);
  recordInto(
    db,
    'docs',
    Array.from({ length: queries }, (_, at) => ({ id: `${at}`, caller: 'web', occurredAt: at })),
  );
  recordInto(db, 'empty', []);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  copyFileSync(first, file);
}

function queriesIn(file: string): number {
  const db = openConnection(file);
  whenOver(() => db.close());
  return Number(db.prepare('SELECT count(*) AS n FROM query').get().n);
}

/** A database of three queries, and names for others. */
async function place() {
  const folder = await temporaryFolder();
  const file = `${folder}/store.db`;
  await makeStore(file, 3);
  return { folder, file, url: `sqlite:${file}`, copy: `${folder}/copy.db` };
}

const back = (url: string, target: string, replace = false) => backUpStore(url, target, { replace });
const restore = (backup: string, url: string, replace = false) =>
  restoreStore(backup, url, { replace, nowMs });

/** Neither makes anything, nor changes it. */
async function expectRefused(folder: string, what: () => Promise<unknown>, code: string, message: RegExp) {
  const state = () =>
    readdirSync(folder)
      .filter((name) => statSync(`${folder}/${name}`).isFile() && !/-(wal|shm)$/.test(name))
      .map((name) => [name, readFileSync(`${folder}/${name}`).toString('base64')]);
  const before = state();
  await expect(what()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(state()).toEqual(before);
}

test('rejects a backup of anything but a database', async () => {
  const { folder, file, url, copy } = await place();
  writeFileSync(`${folder}/letter`, 'Dear reader, '.repeat(100));
  writeFileSync(`${folder}/nothing`, '');
  symlinkSync(file, `${folder}/link`);
  const other = new DatabaseSync(`${folder}/other`);
  other.exec('CREATE TABLE t (x)');
  other.close();
  const refused = (from: string, to: string, code: string, message: RegExp) =>
    expectRefused(folder, () => back(from, to), code, message);
  await refused(
    'postgres://u:hunter2@host/db',
    copy,
    'invalid',
    /^host.*is a database of PostgreSQL: pg_dump/,
  );
  await refused('nonsense', copy, 'invalid', /is not a database URL/);
  await refused(`sqlite:${folder}/none`, copy, 'not_found', /no database .*none/);
  await refused(url, file, 'invalid', /store\.db is the database itself/);
  await refused(url, `${folder}/link`, 'invalid', /link is the database itself/);
  await refused(`sqlite:${folder}/letter`, copy, 'invalid', /letter is not a database, or is damaged/);
  await refused(`sqlite:${folder}/nothing`, copy, 'invalid', /nothing is empty/);
  await refused(`sqlite:${folder}/other`, copy, 'unavailable', /other is a database of another program/);
  writeFileSync(copy, 'something');
  await refused(url, copy, 'already_exists', /copy\.db is there already/);
});

test('a backup is complete and reports its contents', async () => {
  const { file, url, copy } = await place();
  const contents = await back(url, copy);
  expect(contents).toEqual({ bytes: statSync(copy).size, projects: 2, queries: 3 });
  expect(queriesIn(copy)).toBe(3);
  const db = openMigrated(file);
  db.exec(`INSERT INTO query VALUES (1, 'more', 0, 0, NULL)`);
  db.close();
  expect(await back(url, copy, true)).toMatchObject({ queries: 4 });
});

test('rejects restoring anything but a backup', async () => {
  const { folder, url, copy } = await place();
  await back(url, copy);
  writeFileSync(`${folder}/letter`, 'Dear reader, '.repeat(100));
  writeFileSync(`${folder}/nothing`, '');
  writeFileSync(`${folder}/used`, readFileSync(copy));
  writeFileSync(`${folder}/used-wal`, 'a log');
  const refused = (from: string, to: string, code: string, message: RegExp, replace = true) =>
    expectRefused(folder, () => restore(from, to, replace), code, message);
  await refused(copy, 'postgres://host/db', 'invalid', /is a database of PostgreSQL: pg_restore/);
  await refused(`${folder}/none`, url, 'not_found', /no file .*none/);
  await refused(url.slice('sqlite:'.length), url, 'invalid', /store\.db is the database itself/);
  await refused(copy, url, 'already_exists', /store\.db is there already/, false);
  await refused(`${folder}/letter`, url, 'invalid', /letter is not a database, or is damaged/);
  await refused(`${folder}/nothing`, url, 'invalid', /nothing is empty/);
  await refused(`${folder}/used`, url, 'invalid', /used has a log beside it/);
  await expect(restore(`${folder}/letter`, url, true)).rejects.toMatchObject({ cause: expect.any(Error) });
  const newer = new DatabaseSync(copy);
  newer.exec(`PRAGMA user_version = ${NEWEST_VERSION + 1}`);
  newer.close();
  await refused(copy, url, 'unavailable', /made by a newer caller-stats/);
});

test('does not replace a database in use', async () => {
  const { folder, file, url, copy } = await place();
  await back(url, copy);
  const user = openMigrated(file);
  whenOver(() => user.close());
  user.exec('BEGIN; SELECT count(*) FROM query');
  await expectRefused(folder, () => restore(copy, url, true), 'unavailable', /store\.db is in use/);
  await expect(restore(copy, url, true)).rejects.toMatchObject({ cause: expect.any(Error) });
  expect(readdirSync(folder).filter((name) => name.includes('replaced'))).toEqual([]);
});

test('restores a backup into a new private folder', async () => {
  const { folder, url, copy } = await place();
  await back(url, copy);
  // An empty log is none.
  writeFileSync(`${copy}-wal`, '');
  const file = `${folder}/new/er/store.db`;
  expect(await restore(copy, `sqlite:${file}`)).toEqual({
    bytes: statSync(copy).size,
    projects: 2,
    queries: 3,
    kept: null,
  });
  expect(statSync(`${folder}/new/er`).mode & 0o777).toBe(0o700);
  expect(queriesIn(file)).toBe(3);
});

test('gives what it restores the owner and the mode of what it replaces, or the owner of its folder', async () => {
  const { folder, file, url, copy } = await place();
  await makeStore(copy, 5);
  // Only root can give a file to others.
  const owner = process.getuid?.() === 0 ? { uid: 1234, gid: 1235 } : statSync(file);
  const accessOf = ({ uid, gid, mode }: Stats) => ({ uid, gid, mode: mode & 0o777 });
  chownSync(file, owner.uid, owner.gid);
  chmodSync(file, 0o640);
  await restore(copy, url, true);
  expect(accessOf(statSync(file))).toEqual({ uid: owner.uid, gid: owner.gid, mode: 0o640 });
  mkdirSync(`${folder}/of-the-service`);
  chownSync(`${folder}/of-the-service`, owner.uid, owner.gid);
  await restore(copy, `sqlite:${folder}/of-the-service/new.db`);
  expect(accessOf(statSync(`${folder}/of-the-service/new.db`))).toEqual({
    uid: owner.uid,
    gid: owner.gid,
    mode: 0o600,
  });
});

test('renames the replaced database with the time in its name', async () => {
  const { folder, file, url } = await place();
  await makeStore(`${folder}/newer.db`, 5);
  const kept = `${file}.replaced-20260615T123456.789Z`;
  expect(await restore(`${folder}/newer.db`, url, true)).toMatchObject({ queries: 5, kept });
  expect(queriesIn(file)).toBe(5);
  expect(queriesIn(kept)).toBe(3);
});

test('moves the log of the replaced database into it', async () => {
  const { folder, file, url, copy } = await place();
  await back(url, copy);
  // As a process leaves them that is killed.
  const user = openMigrated(file);
  user.exec("UPDATE project SET name = 'In the log'");
  copyFileSync(file, `${folder}/killed.db`);
  copyFileSync(`${file}-wal`, `${folder}/killed.db-wal`);
  user.close();
  const { kept } = await restore(copy, `sqlite:${folder}/killed.db`, true);
  expect(existsSync(`${kept}-wal`)).toBe(false);
  const whole = openConnection(`${kept}`);
  whenOver(() => whole.close());
  expect(whole.prepare('SELECT DISTINCT name FROM project').get()).toEqual({ name: 'In the log' });
});

test('moves aside the log of a missing database and restores only the backup', async () => {
  const { folder, url, copy } = await place();
  await back(url, copy);
  // More than fits beside the pages of the backup: SQLite would read these into it.
  const user = openMigrated(`${folder}/used.db`);
  recordInto(
    user,
    'docs',
    Array.from({ length: 2_000 }, (_, at) => ({ id: `later ${at}`, caller: 'web', occurredAt: at })),
  );
  const lost = `${folder}/lost.db`;
  for (const end of ['-wal', '-shm']) copyFileSync(`${folder}/used.db${end}`, lost + end);
  user.close();
  const log = readFileSync(`${lost}-wal`);
  const kept = `${lost}.replaced-20260615T123456.789Z-wal`;
  expect(await restore(copy, `sqlite:${lost}`)).toMatchObject({ queries: 3, kept });
  expect(readFileSync(kept).equals(log)).toBe(true);
  expect(existsSync(`${lost}-wal`)).toBe(false);
  expect(
    readdirSync(folder)
      .filter((name) => name.startsWith('lost.db'))
      .toSorted(),
  ).toEqual(['lost.db', 'lost.db.replaced-20260615T123456.789Z-wal']);
  expect(readFileSync(lost).equals(readFileSync(copy))).toBe(true);
  const restored = openConnection(lost);
  whenOver(() => restored.close());
  expect(restored.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
});

test('removes empty logs of a missing database and moves aside its journal', async () => {
  const { folder, url, copy } = await place();
  await back(url, copy);
  const file = `${folder}/lost.db`;
  for (const end of ['-wal', '-shm', '-journal']) writeFileSync(file + end, '');
  expect(await restore(copy, `sqlite:${file}`)).toMatchObject({ kept: null });
  writeFileSync(`${folder}/other.db-journal`, 'its journal');
  const { kept } = await restore(copy, `sqlite:${folder}/other.db`);
  expect(kept).toMatch(/other\.db\.replaced-[^/]+Z-journal$/);
  expect(readFileSync(`${kept}`, 'utf8')).toBe('its journal');
  expect(readdirSync(folder).filter((name) => /^(lost|other)\.db-/.test(name))).toEqual([]);
});

test('a backup never replaces a database that has a log', async () => {
  const { folder, url } = await place();
  await makeStore(`${folder}/other.db`, 1);
  writeFileSync(`${folder}/other.db-wal`, 'its log');
  writeFileSync(`${folder}/gone.db-wal`, 'its log');
  const log = /has a log beside it, so it is a database/;
  await expectRefused(folder, () => back(url, `${folder}/other.db`, true), 'invalid', log);
  await expectRefused(folder, () => back(url, `${folder}/gone.db`), 'invalid', log);
});

test('can replace a damaged database and keeps its log', async () => {
  const { folder, url, copy } = await place();
  await back(url, copy);
  const file = `${folder}/broken.db`;
  writeFileSync(file, 'no database '.repeat(1000));
  writeFileSync(`${file}-wal`, 'its log');
  const { kept } = await restore(copy, `sqlite:${file}`, true);
  expect(readFileSync(`${kept}`, 'utf8')).toMatch(/^no database/);
  expect(readFileSync(`${kept}-wal`, 'utf8')).toBe('its log');
  expect(existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0).toBe(false);
  expect(queriesIn(file)).toBe(3);
});
