/** A copy of a database file as of one moment, made while others read and write it. */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CallerStatsError } from '../../../domain/errors.js';
import { type Connection, openConnection } from '../connection.js';
import { isDamage, storeError } from '../errors.js';

/**
 * Writes the copy, replacing what is there, in one step: `target` is the whole copy, checked and on disk, or as it was
 * before. Nobody waits for it; what is committed meanwhile is not in it. There is no free space in the copy, so
 * nothing of what was deleted. `unavailable` where it cannot be written, and why.
 */
export function writeSnapshot(file: string, target: string): void {
  placeWhole(target, (draft) => {
    using(openConnection(file), (db) => db.prepare('VACUUM INTO ?').run(draft));
  });
}

/**
 * Has `write` make a database file, and puts it in the place of `target` once it is checked and on disk, after `clear`
 * made room for it. It is made in a folder beside the target that is its owner's alone, and is so itself; and so is the
 * target's folder where it is not there yet.
 * `unavailable` where anything of that fails.
 */
export function placeWhole(
  target: string,
  write: (draft: string) => void,
  clear: () => void = () => {},
): void {
  const folder = makeDraftFolder(target);
  try {
    const draft = join(folder, 'database');
    write(draft);
    chmodSync(draft, 0o600);
    requireSound(draft);
    flush(draft);
    clear();
    renameSync(draft, target);
    flush(dirname(target));
  } catch (error) {
    if (error instanceof CallerStatsError) throw error;
    throw new CallerStatsError('unavailable', `${target} was not written: ${reason(error)}.`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeDraftFolder(target: string): string {
  const folder = dirname(target);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return mkdtempSync(join(folder, '.caller-stats-'));
  } catch (cause) {
    const problem = `the folder ${folder} cannot be made, or not be written to`;
    throw new CallerStatsError('unavailable', `${target} was not written: ${problem}.`, { cause });
  }
}

/** Works with a connection, and closes it whatever happens. */
export function using<T>(db: Connection, work: (db: Connection) => T): T {
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** `unavailable` where a file has pages that cannot be right. Reads all of it. */
function requireSound(file: string): void {
  const found = using(openConnection(file), (db) => db.prepare('PRAGMA quick_check(1)').all());
  const [problem] = found.map((row) => String(row['quick_check']));
  if (problem !== 'ok') throw new Error(`it is damaged (${problem})`);
}

function reason(error: unknown): string {
  if (isDamage(error)) return 'the database is damaged; see caller-stats verify';
  const known = storeError(error);
  if (known instanceof CallerStatsError) return known.message.replace(/\.$/, '');
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'the disk is full' : (error as Error).message;
}

/** What was written to a file, or the names in a folder, is on disk when this returns. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
