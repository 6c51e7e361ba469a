/** Backups of one SQLite file, and the way back. */
import { copyFileSync, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { CallerStatsError } from '../../../domain/errors.js';
import { openConnection } from '../connection.js';
import { isDamage } from '../errors.js';
import { NEWEST_VERSION } from '../migrations/index.js';
import { versionOf } from '../migrations/migrate.js';
import { placeWhole, using, writeSnapshot } from './snapshot.js';

/** What a backup has in it. */
export interface Contents {
  /** Size of the file. */
  readonly bytes: number;
  readonly projects: number;
  /** Recorded queries. Those that retention removed are counted in the database, but not here. */
  readonly queries: number;
}

/** What a restore did. */
export interface Restored extends Contents {
  /** Where the database that was there before is now, or where it was gone, its log; null where there was neither. */
  readonly kept: string | null;
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
  return contentsOf(target);
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
  placeWhole(
    file,
    (draft) => copyFileSync(backup, draft),
    () => {
      if (isReplaced) keep(file, aside);
      const logs = moveLogs(file, aside);
      kept = isReplaced ? aside : (logs[0] ?? null);
    },
  );
  return { ...contentsOf(file), kept };
}

/** An empty log is none. */
function hasLog(file: string): boolean {
  return sizeOrNone(`${file}-wal`) > 0;
}

function sizeOrNone(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

/** Any version that this program can bring up to date. Anything else is refused, untouched. */
function requireOurs(file: string): void {
  try {
    if (using(openConnection(file), (db) => versionOf(db, file, NEWEST_VERSION)) > 0) return;
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new CallerStatsError('invalid', `${file} is not a database, or is damaged.`, { cause: error });
  }
  throw new CallerStatsError('invalid', `${file} is empty: nothing was ever in it.`);
}

function isThere(file: string): CallerStatsError {
  return new CallerStatsError('already_exists', `${file} is there already; --replace replaces it.`);
}

/**
 * Gives a file another name beside its own. Its log is folded into it; that of a damaged one, which may have queries that
 * are nowhere else, is kept beside it, because opening such a file removes its log.
 */
function keep(file: string, kept: string): void {
  const log = `${file}-wal`;
  const keptLog = `${kept}-wal`;
  if (existsSync(log)) copyFileSync(log, keptLog);
  try {
    if (isFolded(file)) rmSync(keptLog, { force: true });
  } catch (error) {
    rmSync(keptLog, { force: true });
    throw error;
  }
  linkSync(file, kept);
  rmSync(log, { force: true });
}

/**
 * Moves aside what a database leaves beside its file, for SQLite would take it for that of the next file there, and damage
 * that with it. Gives the names of what was moved.
 */
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

/** Folds the log into the file, for which a connection must be alone; false where the file is damaged. */
function isFolded(file: string): boolean {
  try {
    using(openConnection(file), (db) => db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE'));
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw new CallerStatsError('unavailable', `${file} is in use: stop its server, and restore again.`, {
      cause: error,
    });
  }
}

function contentsOf(file: string): Contents {
  return using(openConnection(file), (db) => {
    const count = (table: string): number => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get().n);
    return { bytes: statSync(file).size, projects: count('project'), queries: count('query') };
  });
}
