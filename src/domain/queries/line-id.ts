/** Ids for what has none: lines of a log, by what is in them and not by where they stand. */
import { createHash, createHmac } from 'node:crypto';
import { identicalLinesKept } from '../limits.js';

const newline = '\n';

/**
 * The ids of one file's lines, in order. A line has the same id whatever stands around it, so a file that is read again, or
 * overlaps another, gives the same ids. Of lines that are the same, the first has one id, the second another, and so on.
 *
 * An id is a UUID of version 8 (RFC 9562, section 5.8): 122 bits of the line's SHA-256, or with a key of its HMAC. Without
 * the key nobody can find out, by trying, what line an id was made of.
 */
export class LineIds {
  readonly #key: Uint8Array | undefined;
  /** How often each line was seen, oldest first. Bounded: lines that are the same stand close together, by their time. */
  readonly #seen = new Map<string, number>();

  constructor(key?: Uint8Array) {
    this.#key = key;
  }

  /** `line` is without its end. */
  next(line: Uint8Array): string {
    const first = this.#idOf(line);
    const times = (this.#seen.get(first) ?? 0) + 1;
    this.#seen.delete(first);
    this.#seen.set(first, times);
    if (this.#seen.size > identicalLinesKept) this.#forgetOldest();
    // No line has a line end in it, so this is no other line's id.
    return times === 1 ? first : this.#idOf(line, `${newline}${times}`);
  }

  #idOf(line: Uint8Array, times = ''): string {
    const hash = this.#key === undefined ? createHash('sha256') : createHmac('sha256', this.#key);
    const bytes = hash.update(line).update(times).digest().subarray(0, 16);
    bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
    bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  #forgetOldest(): void {
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined) this.#seen.delete(oldest);
  }
}
