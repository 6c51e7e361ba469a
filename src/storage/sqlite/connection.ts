import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

export type Connection = DatabaseSyncInstance;

/** Milliseconds to wait for another process that is writing before giving up. */
const busyTimeoutMs = 5_000;
/** 80 MB of log before it is folded into the file: fewer, larger checkpoints. */
const walCheckpointPages = 20_000;
const journalBytesMax = 100 * 1024 * 1024;

/** Opens a connection that can write, and changes nothing of the file yet: see `setUpWriter`. */
export function openConnection(file: string): Connection {
  return new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
}

/**
 * Makes every commit of a connection be on disk when it returns, and overwrites what is deleted with zeros: always,
 * because pages that are split leave copies behind. Changes the file's header, so only for a file of ours.
 */
export function setUpWriter(db: Connection): void {
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA wal_autocheckpoint = ${walCheckpointPages};
    PRAGMA journal_size_limit = ${journalBytesMax};
    PRAGMA cache_size = -131072;
  `);
}

/** Keeps so many megabytes (2^20 bytes) of the file in memory. */
export function setCacheSize(db: Connection, megabytes: number): void {
  db.exec(`PRAGMA cache_size = -${megabytes * 1024}`);
}

/** For the small sorts of recording; those of a migration are as large as the tables, and belong on disk. */
export function keepTemporariesInMemory(db: Connection): void {
  db.exec('PRAGMA temp_store = MEMORY');
}

/**
 * Folds the log into the file and empties it, so that what was deleted is not in there either. Where another connection
 * is reading just now it is left for later, for nobody is to wait for that.
 */
export function emptyLog(db: Connection): void {
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // What was committed is on disk, whatever becomes of the log now; the next checkpoint says what is wrong.
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

/** Runs `work` in a transaction that takes the write lock at once, so that it cannot fail half-way for want of it. */
export function inTransaction<T>(db: Connection, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

function rollBack(db: Connection): void {
  // SQLite has rolled back by itself after some errors (disk full, input/output).
  if (db.isTransaction) db.exec('ROLLBACK');
}
