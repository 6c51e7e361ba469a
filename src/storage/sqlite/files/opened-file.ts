import { statSync, unwatchFile, watchFile } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CallerStatsError } from '../../../domain/errors.js';

/** Milliseconds between two looks at a file. */
const lookMs = 1_000;

/** A database that is open, by its name and by itself. To be closed with it. */
export class OpenedFile {
  readonly name: string;
  readonly #itself: string | undefined;
  #isThere = true;

  constructor(name: string) {
    this.name = name;
    this.#itself = itself(name);
    watchFile(name, { interval: lookMs }, this.#look);
  }

  /**
   * Looks, and throws `unavailable` where the file was deleted or another has its name: whoever has it open still reads and
   * writes it, but nobody else sees it, and it is gone when they end.
   */
  requireThere(): void {
    this.#look();
    this.requireSeen();
  }

  /** The same as of the last look, which is hardly more than a second old: for what is done too often to look each time. */
  requireSeen(): void {
    if (this.#isThere) return;
    throw new CallerStatsError(
      'unavailable',
      `${this.name} was deleted or replaced while it was open; end the server, see that the right file is there, and start it again.`,
    );
  }

  close(): void {
    unwatchFile(this.name, this.#look);
  }

  readonly #look = (): void => {
    this.#isThere = itself(this.name) === this.#itself;
  };
}

/** The same for all names of a file, and for no other file; undefined where none can be found. */
function itself(name: string): string | undefined {
  try {
    const { dev, ino } = statSync(name);
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Makes an empty file, in its folder. Others on the machine have no business with the counts or the hashes of keys.
 * Leaves alone what is there. `unavailable` where a log is there alone: it would be lost, and may have what is nowhere else.
 */
export async function makePrivately(file: string): Promise<void> {
  // Looked at first: whoever else makes the database now makes its log after it.
  const logBytes = (await bytesOf(`${file}-wal`)) ?? 0;
  if (logBytes > 0 && (await bytesOf(file)) === undefined) {
    throw new CallerStatsError(
      'unavailable',
      `${file} is gone, but its log ${file}-wal is there; put the file back, restore a backup, or move the log away.`,
    );
  }
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
