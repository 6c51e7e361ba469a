/** Backups, for the stores that make them themselves. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CallerStatsError } from '../domain/errors.js';
import { isSameStore, locationOf } from './open.js';
import type { Contents, Restored } from './sqlite/files/backup.js';

export type { Contents, Restored };

interface Replacing {
  /** Whether what is there may be replaced. */
  readonly replace: boolean;
}

/**
 * Writes everything that is in the store to `target`, as of one moment, while others record and read. The target is whole
 * or not there. `not_found` where there is no store, `already_exists` where there is such a file, `invalid` for a store
 * that is no file, `unavailable` where it cannot be read or written.
 */
export async function backUpStore(url: string, target: string, { replace }: Replacing): Promise<Contents> {
  const file = fileOf(url, 'pg_dump makes backups of it');
  if (!existsSync(file)) throw new CallerStatsError('not_found', `There is no database ${file}.`);
  await requireOther(url, target);
  const { backUpFile } = await import('./sqlite/files/backup.js');
  return backUpFile(file, resolve(target), replace);
}

/**
 * Puts a backup in the place of the store. With `replace`, what was there is kept beside it, under a name that ends with
 * the time. Errors as of `backUpStore`; `unavailable` as well while the store is open anywhere.
 */
export async function restoreStore(
  backup: string,
  url: string,
  { replace, nowMs }: Replacing & { readonly nowMs: number },
): Promise<Restored> {
  const file = fileOf(url, 'pg_restore restores it');
  if (!existsSync(backup)) throw new CallerStatsError('not_found', `There is no file ${resolve(backup)}.`);
  await requireOther(url, backup);
  const { restoreFile } = await import('./sqlite/files/backup.js');
  return restoreFile(resolve(backup), file, replace, nowMs);
}

function fileOf(url: string, otherwise: string): string {
  const location = locationOf(url);
  if (location.kind === 'sqlite') return resolve(location.file);
  throw new CallerStatsError('invalid', `${location.name} is a database of PostgreSQL: ${otherwise}.`);
}

async function requireOther(url: string, file: string): Promise<void> {
  if (!(await isSameStore(url, `sqlite:${resolve(file)}`))) return;
  throw new CallerStatsError('invalid', `${resolve(file)} is the database itself; name another file.`);
}
