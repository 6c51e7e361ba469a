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
  readonly #answers = new Map<string, T>();
  #seen: unknown;

  constructor(db: Connection) {
    this.#version = db.prepare('PRAGMA data_version');
    this.#version.setReturnArrays(true);
  }

  /** The answer kept for `name`, or what `read` gives. Undefined is not kept: there is no end of names for nothing. */
  get(name: string, read: () => T | undefined): T | undefined {
    const [version] = this.#version.get();
    if (version !== this.#seen || this.#answers.size >= entriesMax) {
      this.#answers.clear();
      this.#seen = version;
    }
    const kept = this.#answers.get(name);
    if (kept !== undefined) return kept;
    const answer = read();
    if (answer !== undefined) this.#answers.set(name, answer);
    return answer;
  }
}
