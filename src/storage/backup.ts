/** Backup and restore, for stores that do it themselves. */
import { resolve } from 'node:path';
import { CallerStatsError } from '../domain/errors.js';
import { regularStatsOf } from './files.js';
import { isSameStore, locationOf } from './open.js';
import type { Compacted, Contents, Restored } from './sqlite/files/backup.js';

export type { Compacted, Contents, Restored };

/**
 * Writes a snapshot of the store to `target`, atomically, while others record and read. `replace` is whether an existing
 * target may be replaced. Throws `not_found` if there is no store, `already_exists` if there is such a file, `invalid` for PostgreSQL, `unavailable` if it cannot be read or written.
 */
export async function backUpStore(
  url: string,
  target: string,
  { replace }: { readonly replace: boolean },
): Promise<Contents> {
  const file = requireExisting(url, 'pg_dump makes backups of it');
  regularStatsOf(resolve(target));
  await requireOther(url, target);
  const { backUpFile } = await import('./sqlite/files/backup.js');
  return backUpFile(file, resolve(target), replace);
}

/**
 * Replaces the store with a backup. With `replace`, the old store is renamed, with the time in its name. Throws the same
 * errors as `backUpStore`, and `unavailable` while any process has the store open.
 */
export async function restoreStore(
  backup: string,
  url: string,
  { replace, nowMs }: { readonly replace: boolean; readonly nowMs: number },
): Promise<Restored> {
  const file = requireFile(url, 'pg_restore restores it');
  if (regularStatsOf(resolve(backup)) === undefined)
    throw new CallerStatsError('not_found', `There is no file ${resolve(backup)}.`);
  regularStatsOf(file);
  await requireOther(url, backup);
  const { restoreFile } = await import('./sqlite/files/backup.js');
  return restoreFile(resolve(backup), file, replace, nowMs);
}

/**
 * Gives free space of the file back to the disk. Throws `not_found` if there is no store, `invalid` for PostgreSQL, and `unavailable`
 * while any process has the store open, or if the disk has no room for a second copy; then nothing has changed.
 */
export async function compactStore(url: string): Promise<Compacted> {
  const otherwise = 'it uses free space again by itself, and VACUUM FULL gives it back to the disk';
  const file = requireExisting(url, otherwise);
  const { compactFile } = await import('./sqlite/files/backup.js');
  return compactFile(file);
}

function requireExisting(url: string, otherwise: string): string {
  const file = requireFile(url, otherwise);
  if (regularStatsOf(file) !== undefined) return file;
  throw new CallerStatsError('not_found', `There is no database ${file}.`);
}

function requireFile(url: string, otherwise: string): string {
  const location = locationOf(url);
  if (location.kind === 'sqlite') return resolve(location.file);
  throw new CallerStatsError('invalid', `${location.name} is a database of PostgreSQL: ${otherwise}.`);
}

async function requireOther(url: string, file: string): Promise<void> {
  if (!(await isSameStore(url, `sqlite:${resolve(file)}`))) return;
  throw new CallerStatsError('invalid', `${resolve(file)} is the database itself; name another file.`);
}
