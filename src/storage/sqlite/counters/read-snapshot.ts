import { nextTick } from 'node:process';
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
    try {
      return work(this.#open());
    } finally {
      this.#close();
    }
  }

  /** As `run`, for work that takes several turns of the event loop. No other work may use the connection meanwhile. */
  async runInTurns<T>(work: () => Promise<T>): Promise<T> {
    this.#open();
    try {
      return await work();
    } finally {
      this.#close();
    }
  }

  /**
   * Opens a snapshot for all reads that follow before the event loop goes on: of requests that continue together, each opens
   * none of its own. It is as new as theirs would be, because until then the process learns of no commit.
   */
  hold(): void {
    if (this.#version !== undefined) return;
    this.#open();
    // The tick comes after all promises that are settled or will be until then.
    queueMicrotask(() => nextTick(() => this.#close()));
  }

  #open(): number {
    // Unlike `run`, this builds no result.
    this.#begin.get();
    // The first read of a transaction opens its snapshot.
    const version = this.#readVersion.get()?.[0];
    if (version === undefined) throw new Error('PRAGMA data_version returned no row');
    this.#version = version;
    return version;
  }

  #close(): void {
    this.#version = undefined;
    // SQLite ends the transaction by itself after some errors (input/output), and when the connection is closed.
    if (this.#db.isOpen && this.#db.isTransaction) this.#commit.get();
  }
}
