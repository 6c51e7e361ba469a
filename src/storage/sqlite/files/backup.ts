/** Backup and restore of a SQLite file. */
import { copyFileSync, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CallerStatsError } from '../../../domain/errors.js';
import { flush, flushFolder } from '../../../shared/flush.js';
import { type Connection, openConnection } from '../connection.js';
import { isDamage, storeError } from '../errors.js';
import { NEWEST_VERSION } from '../migrations/index.js';
import { versionOf } from '../migrations/migrate.js';
import { requireExactSchema } from '../migrations/schema.js';
import { countRows } from '../statements.js';
import { type Access, using, writeAtomically, writeSnapshot } from './snapshot.js';

export interface Contents {
  readonly bytes: number;
  readonly projects: number;
  /** Recorded queries, without those that retention has removed. */
  readonly queries: number;
}

export interface Restored extends Contents {
  /** The new name of the replaced database, or of its log if only that existed; null if neither existed. */
  readonly kept: string | null;
}

export interface Compacted {
  /** The size of the file before and after. */
  readonly bytesBefore: number;
  readonly bytes: number;
}

/** See `compactStore`. */
export function compactFile(file: string): Compacted {
  const free = using(openConnection(file), (db) => {
    // In one connection, because a closed one keeps its locks until its statements are collected.
    requireOursIn(db, file);
    // Without a log, a process that is killed leaves a journal, which undoes everything.
    leaveLog(db, file, 'compact');
    const bytesBefore = statSync(file).size;
    try {
      db.exec('VACUUM');
    } catch (error) {
      throw storeError(error);
    }
    return { bytesBefore };
  });
  return { ...free, bytes: statSync(file).size };
}

/** See `backUpStore`. */
export function backUpFile(file: string, target: string, replace: boolean): Contents {
  requireOurs(file);
  if (!replace && existsSync(target)) throw isThere(target);
  if (hasLog(target)) {
    throw new CallerStatsError(
      'invalid',
      `${target} has a log beside it, so it is a database and not a backup; name another file.`,
    );
  }
  writeSnapshot(file, target);
  return readContents(target);
}

/** See `restoreStore`. */
export function restoreFile(backup: string, file: string, replace: boolean, nowMs: number): Restored {
  if (hasLog(backup)) {
    throw new CallerStatsError(
      'invalid',
      `${backup} has a log beside it, so it is a database that was in use and not a backup; make one of it with caller-stats backup.`,
    );
  }
  requireOurs(backup);
  const isReplaced = existsSync(file);
  if (isReplaced && !replace) throw isThere(file);
  const aside = `${file}.replaced-${new Date(nowMs).toISOString().replaceAll(/[-:]/g, '')}`;
  let kept: string | null = null;
  writeAtomically(
    file,
    (draft) => copyFileSync(backup, draft),
    () => {
      if (isReplaced) keep(file, aside);
      const logs = moveLogs(file, aside);
      kept = isReplaced ? aside : (logs[0] ?? null);
    },
    accessOf(file),
  );
  return { ...readContents(file), kept };
}

/**
 * Root restores for the user of the service, who owns the database that is replaced, or else its folder. Whoever is not root
 * owns what he writes.
 */
function accessOf(file: string): Access {
  const replaced = statSync(file, { throwIfNoEntry: false });
  const owner = replaced ?? statSync(dirname(file), { throwIfNoEntry: false });
  const mode = replaced === undefined ? 0o600 : replaced.mode & 0o777;
  return owner === undefined ? { mode } : { mode, owner };
}

function hasLog(file: string): boolean {
  return sizeOrNone(`${file}-wal`) > 0;
}

function sizeOrNone(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

/** Throws unless the file is ours, of a version that this program can migrate, and has its exact schema. Does not change it. */
function requireOurs(file: string): void {
  using(openConnection(file), (db) => requireOursIn(db, file));
}

function requireOursIn(db: Connection, file: string): void {
  try {
    const version = versionOf(db, file, NEWEST_VERSION);
    if (version > 0) {
      requireExactSchema(db, file, version);
      return;
    }
  } catch (error) {
    if (!isDamage(error)) throw storeError(error);
    throw new CallerStatsError('invalid', `${file} is not a database, or is damaged.`, { cause: error });
  }
  throw new CallerStatsError('invalid', `${file} is empty: nothing was ever in it.`);
}

function isThere(file: string): CallerStatsError {
  return new CallerStatsError('already_exists', `${file} is there already; --replace replaces it.`);
}

/**
 * Gives a file a second name, and moves its log into it. The log of a damaged file may have queries that are nowhere else, and
 * opening such a file removes it. So it is copied first.
 */
function keep(file: string, kept: string): void {
  const log = `${file}-wal`;
  const keptLog = `${kept}-wal`;
  if (existsSync(log)) copyFileSync(log, keptLog);
  try {
    if (mergeLog(file)) rmSync(keptLog, { force: true });
    else if (existsSync(keptLog)) flush(keptLog);
  } catch (error) {
    rmSync(keptLog, { force: true });
    throw error;
  }
  linkSync(file, kept);
  flushFolder(dirname(file));
  rmSync(log, { force: true });
}

/** Moves old logs aside, because SQLite would apply them to the restored file. Returns their new names. */
function moveLogs(file: string, aside: string): string[] {
  const logs: string[] = [];
  for (const end of ['-wal', '-journal', '-shm']) {
    if (end === '-shm' || sizeOrNone(file + end) === 0) rmSync(file + end, { force: true });
    else {
      renameSync(file + end, aside + end);
      logs.push(aside + end);
    }
  }
  return logs;
}

/** Moves the log into the file, which requires that no one else has it open. False if the file is damaged. */
function mergeLog(file: string): boolean {
  try {
    using(openConnection(file), (db) => leaveLog(db, file, 'restore'));
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

/** Moves the log into the file, and works without one. `unavailable`, with what to do again, while someone else has it open. */
function leaveLog(db: Connection, file: string, again: string): void {
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE');
  } catch (error) {
    if (isDamage(error)) throw error;
    const message = `${file} is in use: stop its server, and ${again} again.`;
    throw new CallerStatsError('unavailable', message, { cause: error });
  }
}

function readContents(file: string): Contents {
  return using(openConnection(file), (db) => {
    const bytes = statSync(file).size;
    return { bytes, projects: countRows(db, 'project'), queries: countRows(db, 'query') };
  });
}
