import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

/** Opens a database file, waiting for locks of servers, runs `work` and closes it. */
export function withFile<T>(file: string, work: (db: DatabaseSyncInstance) => T): T {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    return work(db);
  } finally {
    db.close();
  }
}
