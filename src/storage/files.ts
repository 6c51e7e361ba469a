/** Files that this user may not be allowed to look at, because the service has another one. */
import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CallerStatsError } from '../domain/errors.js';

/** Undefined if there is no such file. Throws `unavailable` if this user may not look whether there is one. */
export function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    const message = `${file} cannot be looked for: ${adviceFor(cause)}.`;
    throw new CallerStatsError('unavailable', message, { cause });
  }
}

/**
 * As `statsOf`. Throws `invalid` for a folder, a pipe or a device: a pipe keeps its reader waiting, a device may never end, and a new
 * file in its place would remove it.
 */
export function regularStatsOf(file: string): Stats | undefined {
  const stats = statsOf(file);
  if (stats === undefined || stats.isFile()) return stats;
  throw new CallerStatsError('invalid', `${resolve(file)} is not a file.`);
}

/** What to do about a file of a service that cannot be read. */
export function adviceFor(cause: unknown): string {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException;
  if (code === 'EACCES') return 'run the command with sudo, or as the user of the service';
  return code === 'EISDIR' ? 'it is a folder' : code;
}
