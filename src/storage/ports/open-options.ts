import type { CommitObserver } from './store-stats.js';

/** How to open a store. */
export interface OpenOptions {
  /** Throws `not_found` if there is no store, instead of creating one. */
  readonly mustExist?: boolean;
  /**
   * Opens a PostgreSQL store even if its server is unavailable or has another schema version. Its methods throw
   * `unavailable` until that changes.
   */
  readonly allowUnavailable?: boolean;
  /** Uses less memory, because a server may run beside it, and writes less often what most commits change. SQLite only. */
  readonly forImport?: boolean | undefined;
  /** Connections to a database server, for reads and writes together, at least 2. */
  readonly connectionsMax?: number;
  /** Deadline of each read and write on a database server, in milliseconds. */
  readonly timeoutMs?: number;
  readonly commits?: CommitObserver | undefined;
  /** Called with the file name of the backup that is made before a SQLite file is migrated. */
  readonly onBackup?: ((copy: string) => void) | undefined;
}
