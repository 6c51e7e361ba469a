import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

export type Connection = DatabaseSyncInstance;

/** How long to wait for another process that is writing. */
const busyTimeoutMs = 5_000;
const shortReadsMs = 100;
/** Checkpoints every 80 MB of log: fewer and larger ones than by default. */
const walCheckpointPages = 20_000;
const journalBytesMax = 100 * 1024 * 1024;
/**
 * Pages that SQLite keeps for the server's writer. What it does not keep the operating system does: with 128 MB, random ids into
 * ten million were recorded no faster.
 */
const writerCacheKilobytes = 4 * 1024;

/** Opens a connection that can write. Changes nothing in the file; see `setUpWriter`. */
export function openConnection(file: string): Connection {
  return new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
}

/**
 * Makes each commit durable when it returns, and overwrites deleted data with zeros: always, because split pages leave copies
 * behind. Changes the file header, so only for our own files.
 */
export function setUpWriter(db: Connection): void {
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA wal_autocheckpoint = ${walCheckpointPages};
    PRAGMA journal_size_limit = ${journalBytesMax};
    PRAGMA cache_size = -${writerCacheKilobytes};
  `);
}

/**
 * Makes a writer that is set up one for an import, whose transactions change more pages. In a file in no order, each commit
 * changes most pages again, so checkpoints are half as many.
 */
export function setUpImport(db: Connection): void {
  db.exec(`PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = ${2 * walCheckpointPages}`);
}

/**
 * Moves the log into the file and empties it, so that deleted data is not in it either. Waits for short reads only: returns false
 * if a reader of an older snapshot or another writer prevents it.
 */
export function emptyLog(db: Connection): boolean {
  db.exec(`PRAGMA busy_timeout = ${shortReadsMs}`);
  try {
    return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
  } catch {
    // Commits are durable anyway, and the next checkpoint reports the problem.
    return false;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }
}

/** Opens a connection that can only read. It never waits for the writer. */
export function openReader(file: string): Connection {
  const db = new DatabaseSync(file, { timeout: busyTimeoutMs });
  db.exec(`
    PRAGMA query_only = ON;
    PRAGMA cache_size = -65536;
    PRAGMA temp_store = FILE;
  `);
  return db;
}

/**
 * Opens a connection that changes nothing in the database. A log that a killed process left is not moved into the file; where
 * there is none, an empty one may stay.
 */
export function openUnchanged(file: string): Connection {
  return new DatabaseSync(file, { timeout: busyTimeoutMs, readOnly: true });
}

export function openInMemory(): Connection {
  return new DatabaseSync(':memory:');
}

/** Runs `work` in a transaction that takes the write lock first, so that it cannot fail half-way without it. */
export function inTransaction<T>(db: Connection, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite rolls back by itself after some errors (disk full, input/output).
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** The same for asynchronous `work`, which must await nothing but statements of `db`. */
export function inAsyncTransaction<T>(db: Connection, work: () => Promise<T>): Promise<T> {
  return runBetween(db, 'BEGIN IMMEDIATE', work, 'COMMIT', 'ROLLBACK');
}

/** Runs `work` in the open transaction, and undoes it alone if it fails. */
export function inSavepoint<T>(db: Connection, work: () => Promise<T>): Promise<T> {
  return runBetween(db, 'SAVEPOINT work', work, 'RELEASE work', 'ROLLBACK TO work; RELEASE work');
}

async function runBetween<T>(
  db: Connection,
  begin: string,
  work: () => Promise<T>,
  commit: string,
  undo: string,
): Promise<T> {
  db.exec(begin);
  try {
    const result = await work();
    db.exec(commit);
    return result;
  } catch (error) {
    // SQLite rolls back by itself after some errors (disk full, input/output).
    if (db.isTransaction) db.exec(undo);
    throw error;
  }
}
