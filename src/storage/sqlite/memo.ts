import type { StatementSyncInstance } from '@photostructure/sqlite';
import type { Connection } from './connection.js';

/** Answers kept at once; then all are dropped. More than there are keys and projects in use. */
const entriesMax = 10_000;

/**
 * Keeps answers of a reading connection for as long as nobody has committed anything. SQLite's own change counter
 * (`PRAGMA data_version`) says so, for every other connection of every process, and this one only reads: an answer is
 * never older than the last commit.
 */
export class Memo<T> {
  readonly #version: StatementSyncInstance;
  readonly #answers = new Map<string, T | undefined>();
  #seen: unknown;

  constructor(db: Connection) {
    this.#version = db.prepare('PRAGMA data_version');
    this.#version.setReturnArrays(true);
  }

  /** The answer kept for `name`, or what `read` gives. Nothing is kept like anything else, and takes the same time. */
  get(name: string, read: () => T | undefined): T | undefined {
    const [version] = this.#version.get();
    if (version !== this.#seen || this.#answers.size >= entriesMax) {
      this.#answers.clear();
      this.#seen = version;
    }
    if (this.#answers.has(name)) return this.#answers.get(name);
    const answer = read();
    this.#answers.set(name, answer);
    return answer;
  }
}
