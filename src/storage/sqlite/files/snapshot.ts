/** Consistent copies of a database file that is in use. */
import { chmodSync, chownSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CallerStatsError } from '../../../domain/errors.js';
import { flush, flushFolder, makeFolder } from '../../../shared/flush.js';
import { type Connection, openConnection } from '../connection.js';
import { isDamage, storeError } from '../errors.js';
import { prepareArrays } from '../statements.js';

/**
 * Writes a copy to `target`, atomically replacing an existing file. Others can read and write meanwhile;
 * their commits are not in the copy. It has no free space, and so no deleted data. Throws `unavailable` if it cannot be written.
 */
export function writeSnapshot(file: string, target: string, access?: Access): void {
  const write = (draft: string): void => {
    using(openConnection(file), (db) => db.prepare('VACUUM INTO ?').run(draft));
  };
  writeAtomically(target, write, undefined, access);
}

/** Who may read a file. It belongs to the user of this process, unless that is root and names another. */
export interface Access {
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/**
 * Creates a database file with `write`, checks it, makes it durable, runs `clear`, and moves it to `target`. Only its owner
 * can read the file and the folders that are created, unless `access` says otherwise. Throws `unavailable` if any step fails.
 */
export function writeAtomically(
  target: string,
  write: (draft: string) => void,
  clear: () => void = () => {},
  access: Access = { mode: 0o600 },
): void {
  const folder = makeDraftFolder(target);
  try {
    const draft = join(folder, 'database');
    write(draft);
    chmodSync(draft, access.mode);
    const isRoot = statSync(draft).uid === 0;
    if (isRoot && access.owner !== undefined) chownSync(draft, access.owner.uid, access.owner.gid);
    requireSound(draft);
    flush(draft);
    clear();
    // What was cleared must not come back beside the new file if the power fails.
    flushFolder(dirname(target));
    renameSync(draft, target);
    flushFolder(dirname(target));
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
    makeFolder(folder);
    return mkdtempSync(join(folder, '.caller-stats-'));
  } catch (cause) {
    const problem = `the folder ${folder} cannot be made, or not be written to`;
    throw new CallerStatsError('unavailable', `${target} was not written: ${problem}.`, { cause });
  }
}

/** Closes the connection after `work`. */
export function using<T>(db: Connection, work: (db: Connection) => T): T {
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Reads the whole file, and throws if it is damaged. */
function requireSound(file: string): void {
  const problem = using(
    openConnection(file),
    (db) => prepareArrays<readonly [string]>(db, 'PRAGMA quick_check(1)').get()?.[0],
  );
  if (problem !== 'ok') throw new Error(`it is damaged (${problem})`);
}

function reason(error: unknown): string {
  if (isDamage(error)) return 'the database is damaged; see caller-stats verify';
  const known = storeError(error);
  if (known instanceof CallerStatsError) return known.message.replace(/\.$/, '');
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'the disk is full' : (error as Error).message;
}
