import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

/** Runs `work` on the bare file, which it opens and closes. */
export function withFile<T>(file: string, work: (db: DatabaseSyncInstance) => T): T {
  const db = new DatabaseSync(file);
  try {
    return work(db);
  } finally {
    db.close();
  }
}
