import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { CallerStatsError } from '../../../../src/domain/errors.js';
import { writeAtomically, writeSnapshot } from '../../../../src/storage/sqlite/files/snapshot.js';
import { openMigrated } from '../../../../src/storage/sqlite/migrations/migrate.js';
import { whenOver } from '../../../support/cleanup.js';
import { diskCalls } from '../../../support/storage/disk-calls.js';
import { recordInto } from '../../../support/storage/sqlite.js';
import { temporaryFolder } from '../../../support/temporary.js';

/** Makes a small database. */
function makeDatabase(file: string): void {
  const db = new DatabaseSync(file);
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1)');
  db.close();
}

async function place() {
  const folder = await temporaryFolder();
  const target = `${folder}/target`;
  writeFileSync(target, 'as it was');
  return { folder, target };
}

/** Undefined if it does not exist any more. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Returns what `writeAtomically` throws, and expects the target and its folder to be unchanged. */
async function refusalOf(write: (draft: string) => void): Promise<unknown> {
  const { folder, target } = await place();
  let thrown: unknown;
  try {
    writeAtomically(target, write, () => {
      throw new Error('nothing is to make room for what failed');
    });
  } catch (error) {
    thrown = error;
  }
  expect(readFileSync(target, 'utf8')).toBe('as it was');
  expect(readdirSync(folder)).toEqual(['target']);
  return thrown;
}

const failing = (error: Error) => () => {
  throw error;
};

test('a missing folder is created for its owner only; failing to is unavailable', async () => {
  const { folder, target } = await place();
  writeAtomically(`${folder}/new/deeper/target`, makeDatabase);
  expect(readdirSync(`${folder}/new/deeper`)).toEqual(['target']);
  expect(statSync(`${folder}/new/deeper`).mode & 0o777).toBe(0o700);
  expect(() => writeAtomically(`${target}/target`, makeDatabase)).toThrow(
    expect.objectContaining({
      code: 'unavailable',
      message: `${target}/target was not written: the folder ${target} cannot be made, or not be written to.`,
      cause: expect.objectContaining({ code: 'EEXIST' }),
    }),
  );
});

test('a failed write is unavailable, with its reason', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
  const locked = Object.assign(new Error('busy'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
  const damaged = Object.assign(new Error('malformed'), { code: 'ERR_SQLITE_ERROR', errcode: 11 });
  const other = Object.assign(new Error('EIO: v1.2'), { code: 'EIO' });
  for (const [cause, message] of [
    [full, /target was not written: the disk is full\.$/],
    [locked, /target was not written: The database cannot be used now: another process is writing to it\.$/],
    [damaged, /target was not written: the database is damaged; see caller-stats verify\.$/],
    [other, /target was not written: EIO: v1\.2\.$/],
  ] as const) {
    const refusal = await refusalOf(failing(cause));
    expect(refusal).toBeInstanceOf(CallerStatsError);
    expect(refusal).toMatchObject({ code: 'unavailable', message: expect.stringMatching(message), cause });
  }
});

test('a domain error is passed on', async () => {
  const refusal = new CallerStatsError('not_found', 'There is none.');
  expect(await refusalOf(failing(refusal))).toBe(refusal);
});

test('a damaged or missing file does not replace the target', async () => {
  const refusal = await refusalOf((draft) => {
    const db = new DatabaseSync(draft);
    db.exec('CREATE TABLE t (x CHECK (x > 0))');
    db.exec('PRAGMA ignore_check_constraints = ON; INSERT INTO t VALUES (-1)');
    db.close();
  });
  expect(refusal).toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/it is damaged \(.*CHECK/),
  });
  expect(await refusalOf((draft) => writeFileSync(draft, 'no database'.repeat(100)))).toMatchObject({
    code: 'unavailable',
  });
});

test('a folder that disappears is unavailable', async () => {
  expect(await refusalOf((draft) => rmSync(dirname(draft), { recursive: true }))).toBeInstanceOf(
    CallerStatsError,
  );
});

test('the file is written to a private folder next to the target, and replaces it atomically', async () => {
  const { folder, target } = await place();
  const steps: string[] = [];
  writeAtomically(
    target,
    (draft) => {
      expect(dirname(dirname(draft))).toBe(folder);
      expect(basename(dirname(draft))).toMatch(/^\.caller-stats-./);
      expect(statSync(dirname(draft)).mode & 0o777).toBe(0o700);
      makeDatabase(draft);
      chmodSync(draft, 0o644);
      steps.push(readFileSync(target, 'utf8'));
    },
    () => steps.push(`cleared: ${readFileSync(target, 'utf8')}`),
  );
  expect(steps).toEqual(['as it was', 'cleared: as it was']);
  expect(readdirSync(folder)).toEqual(['target']);
  expect(statSync(target).mode & 0o777).toBe(0o600);
  const db = new DatabaseSync(target);
  whenOver(() => db.close());
  expect(db.prepare('SELECT x FROM t').all()).toEqual([{ x: 1 }]);
});

test('a snapshot has all commits, and leaves no folder behind', async () => {
  const folder = await temporaryFolder();
  const db = openMigrated(`${folder}/store.db`);
  recordInto(db, 'docs', [{ id: 'a', caller: 'web', occurredAt: 0 }]);
  db.close();
  const copy = `${folder}/copy.db`;
  writeSnapshot(`${folder}/store.db`, copy);
  // Its name in the folder is on disk, too, and where the machine tells it: the folder is not open any more.
  const open = '/proc/self/fd';
  const links = existsSync(open) ? readdirSync(open).map((name) => linkOf(`${open}/${name}`)) : [];
  expect(links).not.toContain(folder);
  const copied = new DatabaseSync(copy);
  whenOver(() => copied.close());
  expect(copied.prepare('SELECT id FROM query').all()).toEqual([{ id: 'a' }]);
});

test('a file and its name are on disk before anything depends on them', async () => {
  const { folder, target } = await place();
  const calls = diskCalls(() =>
    writeAtomically(target, makeDatabase, () => renameSync(target, `${target}-log`)),
  );
  expect(calls).toEqual([
    'sync database',
    'renameSync target target-log',
    `sync ${basename(folder)}`,
    'renameSync database target',
    `sync ${basename(folder)}`,
    'rmSync draft',
  ]);
});
