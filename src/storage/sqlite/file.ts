import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CallerStatsError } from '../../domain/errors.js';

/**
 * Makes an empty file, in its folder. Others on the machine have no business with the counts or the hashes of keys.
 * Leaves alone what is there.
 */
export async function makePrivately(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    // SQLite takes an empty file for a new database, and gives its log the same mode.
    await (await open(file, 'wx', 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new CallerStatsError('unavailable', `${file} cannot be made.`, { cause: error });
  }
}

/** Of the file and its log, in bytes; undefined where it is gone. */
export async function sizeOf(file: string): Promise<number | undefined> {
  const [whole, log = 0] = await Promise.all([bytesOf(file), bytesOf(`${file}-wal`)]);
  return whole === undefined ? undefined : whole + log;
}

async function bytesOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch {
    return undefined;
  }
}
