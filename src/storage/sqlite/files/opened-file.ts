import { statSync, unwatchFile, watchFile } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CallerStatsError } from '../../../domain/errors.js';
import { secondMs } from '../../../domain/time/duration.js';
import { createPrivate } from '../../../shared/create-private.js';
import { flushFolder, makeFolder } from '../../../shared/flush.js';

const checkIntervalMs = secondMs;

/** Detects that an open database file was deleted or replaced. */
export class OpenedFile {
  readonly name: string;
  readonly #identity: string | undefined;
  #isThere = true;

  constructor(name: string) {
    this.name = name;
    this.#identity = identityOf(name);
    watchFile(name, { interval: checkIntervalMs }, this.#check);
  }

  /** Throws `unavailable` if the file was deleted or replaced: what is written to it now is lost when the process ends. */
  requireThere(): void {
    this.#check();
    this.requireThereLately();
  }

  /** The same as of the last check, about a second ago. For frequent operations. */
  requireThereLately(): void {
    if (this.#isThere) return;
    throw new CallerStatsError(
      'unavailable',
      `${this.name} was deleted or replaced while it was open; end the server, see that the right file is there, and start it again.`,
    );
  }

  close(): void {
    unwatchFile(this.name, this.#check);
  }

  readonly #check = (): void => {
    this.#isThere = identityOf(this.name) === this.#identity;
  };
}

/** The same for all names of a file, and different for each file. Undefined if there is no such file. */
function identityOf(name: string): string | undefined {
  try {
    const { dev, ino } = statSync(name);
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Creates an empty file that only its owner can read, unless it exists; see `createPrivate`. Throws `unavailable` if only its log exists, because
 * that would be lost.
 */
export async function makePrivately(file: string): Promise<void> {
  // Checked first: another process that is creating the database creates the log after the file.
  const logBytes = (await bytesOf(`${file}-wal`)) ?? 0;
  if (logBytes > 0 && (await bytesOf(file)) === undefined) {
    throw new CallerStatsError(
      'unavailable',
      `${file} is gone, but its log ${file}-wal is there; put the file back, restore a backup, or move the log away.`,
    );
  }
  try {
    makeFolder(dirname(file));
    // SQLite treats an empty file as a new database, and gives its log the same mode.
    await (await createPrivate(file)).close();
    // Before there is a log, so that a power failure cannot leave a log without its file.
    flushFolder(dirname(file));
  } catch (error) {
    // A link to a file that is not there exists, too; opened without `x`, it makes the file.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      if ((await bytesOf(file)) === undefined) await (await open(file, 'a', 0o600)).close();
      return;
    }
    throw new CallerStatsError('unavailable', `${file} cannot be made.`, { cause: error });
  }
}

/** Size of the file and its log, in bytes. Undefined if the file does not exist. */
export async function sizeOf(file: string): Promise<number | undefined> {
  const [whole, log = 0] = await Promise.all([bytesOf(file), bytesOf(`${file}-wal`)]);
  return whole === undefined ? undefined : whole + log;
}

async function bytesOf(file: string): Promise<number | undefined> {
  const stats = await stat(file).catch(() => undefined);
  return stats?.size;
}
