import type { Connection } from '../connection.js';
import { type Prepared, prepare, prepareArrays } from '../statements.js';

/**
 * Read transactions with SQLite's change counter (`PRAGMA data_version`), which changes whenever another connection of any
 * process commits. While it is the same, cached data is as good as new.
 */
export class ReadSnapshot {
  readonly #db: Connection;
  readonly #readVersion: Prepared<readonly [number]>;
  readonly #begin: Prepared<unknown>;
  readonly #commit: Prepared<unknown>;
  #version: number | undefined;

  constructor(db: Connection) {
    this.#db = db;
    this.#readVersion = prepareArrays(db, 'PRAGMA data_version');
    this.#begin = prepare(db, 'BEGIN');
    this.#commit = prepare(db, 'COMMIT');
  }

  /** Runs `work` on one snapshot of the database, with the version of that snapshot. */
  run<T>(work: (version: number) => T): T {
    if (this.#version !== undefined) return work(this.#version);
    // Unlike `run`, this builds no result.
    this.#begin.get();
    try {
      // The first read of a transaction opens its snapshot.
      const version = this.#readVersion.get()?.[0];
      if (version === undefined) throw new Error('PRAGMA data_version returned no row');
      this.#version = version;
      return work(version);
    } finally {
      this.#version = undefined;
      // SQLite ends the transaction by itself after some errors (input/output).
      if (this.#db.isTransaction) this.#commit.get();
    }
  }
}
