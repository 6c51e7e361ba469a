/**
 * Looks passwords up in a file of breached ones, in the form in which Have I Been Pwned publishes them: a line for each
 * password with its SHA-1 in hexadecimal, maybe followed by ":" and a count, sorted. The file has tens of gigabytes, so the
 * search reads few lines of it, and nothing is kept in memory. SHA-1 protects nothing here: it is the form of the file.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { regularStatsOf } from '../../storage/files.js';

const hashDigits = 40;
/** Longer than any line. */
const lineBytesMax = 128;

const LINE = /^([0-9A-F]{40})(:\d+)?\r?$/i;

interface Line {
  readonly start: number;
  /** The start of the next line. */
  readonly end: number;
  readonly hash: string;
}

export class BreachedPasswords {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Throws if the file cannot be read or does not begin with lines of this form in their order. */
  async check(): Promise<void> {
    regularStatsOf(this.#file);
    await this.#read(async (file, size) => {
      const first = await readLine(file, 0, size);
      const second = first && (await readLine(file, first.end, size));
      if (first === undefined) throw new Error('it is empty');
      if (second !== undefined && second.hash <= first.hash)
        throw new Error('its lines are not sorted by hash');
    });
  }

  async has(password: string): Promise<boolean> {
    const wanted = createHash('sha1').update(password).digest('hex').toUpperCase();
    return this.#read(async (file, size) => {
      // Lines that start before `low` have smaller hashes, those that start from `high` on larger ones.
      let [low, high] = [0, size];
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const line = await readLine(file, middle, size);
        if (line?.hash === wanted) return true;
        if (line === undefined || line.hash > wanted) high = middle;
        else low = line.end;
      }
      return false;
    });
  }

  async #read<T>(work: (file: FileHandle, size: number) => Promise<T>): Promise<T> {
    const file = await open(this.#file);
    try {
      return await work(file, (await file.stat()).size);
    } finally {
      await file.close();
    }
  }
}

/** The first line that starts at this position or after it; undefined if none does. */
async function readLine(file: FileHandle, position: number, size: number): Promise<Line | undefined> {
  // A line starts at the position if the byte before it ends one.
  const from = Math.max(position - 1, 0);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2 * lineBytesMax), 0, 2 * lineBytesMax, from);
  const text = buffer.toString('latin1', 0, bytesRead);
  const start = position === 0 ? 0 : text.indexOf('\n') + 1;
  if (start === 0 && position > 0) return fail(from, size, bytesRead);
  const newline = text.indexOf('\n', start);
  const line = text.slice(start, newline === -1 ? undefined : newline);
  if (line === '' && from + start >= size) return undefined;
  const hash = LINE.exec(line)?.[1];
  if (hash === undefined) throw new Error(`it has no SHA-1 of ${hashDigits} digits at byte ${from + start}`);
  return { start: from + start, end: from + start + line.length + 1, hash: hash.toUpperCase() };
}

/** No line ends after the position: only the last line may have no end. */
function fail(from: number, size: number, bytesRead: number): undefined {
  if (from + bytesRead < size) throw new Error(`it has a line that is too long at byte ${from}`);
  return undefined;
}
