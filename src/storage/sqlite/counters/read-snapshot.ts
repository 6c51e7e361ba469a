import type { StatementSyncInstance } from '@photostructure/sqlite';
import type { Connection } from '../connection.js';

/**
 * SQLite's own change counter (`PRAGMA data_version`) for a connection that only reads: it is another one as soon as any
 * other connection of any process has committed. What was read before and is kept is as good as new while it is the same.
 */
export class ReadSnapshot {
  readonly #db: Connection;
  readonly #read: StatementSyncInstance;
  readonly #begin: StatementSyncInstance;
  readonly #commit: StatementSyncInstance;
  #held: number | undefined;

  constructor(db: Connection) {
    this.#db = db;
    this.#read = db.prepare('PRAGMA data_version');
    this.#read.setReturnArrays(true);
    this.#begin = db.prepare('BEGIN');
    this.#commit = db.prepare('COMMIT');
  }

  /** All that `work` reads, and what it finds kept under the version that it is given, is as of one moment. */
  run<T>(work: (version: number) => T): T {
    if (this.#held !== undefined) return work(this.#held);
    this.#begin.run();
    try {
      // The first read of a transaction: it opens the snapshot that all others see.
      this.#held = this.#read.get()[0] as number;
      return work(this.#held);
    } finally {
      this.#held = undefined;
      // SQLite has ended it by itself after some errors (input/output), of which one is on its way then.
      if (this.#db.isTransaction) this.#commit.run();
    }
  }
}
