import { Database } from '../../../src/storage/postgres/connection/database.js';
import { parsePostgresUrl } from '../../../src/storage/postgres/connection/location.js';
import type { Migration } from '../../../src/storage/postgres/migrations/index.js';
import { migrate } from '../../../src/storage/postgres/migrations/migrate.js';

/** Migrates a database as a version of the program would that has these migrations. */
export async function migrateWith(url: string, migrations: readonly Migration[]): Promise<void> {
  const location = parsePostgresUrl(url);
  if (!location.ok) throw new Error('this URL is valid');
  const database = new Database(location.value, { connectionsMax: 2, timeoutMs: 60_000 });
  await database
    .session((session) => migrate(session, location.value, true, migrations))
    .finally(() => database.close());
}
