/** Databases of every released schema version in `test/samples/schemas` (see `scripts/keep-schema.ts`). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { SHARDED_TABLES } from '../../../src/storage/postgres/migrations/distribute.js';
import { OLDEST_VERSION } from '../../../src/storage/sql/oldest-version.js';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { temporaryFolder } from '../temporary.js';
import { isCitus, newSchemaIn, onDatabase, schemaOf } from './store.js';

/** All versions that this program opens. */
export const keptVersions: readonly number[] = Array.from(
  { length: NEWEST_VERSION - OLDEST_VERSION + 1 },
  (_, at) => OLDEST_VERSION + at,
);

/** The oldest version, if this program upgrades it. Its upgrade runs every migration. */
export const upgradedVersions: readonly number[] = keptVersions.slice(0, -1).slice(0, 1);

export function keptBytes(name: string): Buffer {
  return gunzipSync(readFileSync(new URL(`../../samples/schemas/${name}.gz`, import.meta.url)));
}

/** Writes the SQLite database of a version into a file. */
export function writeKept(file: string, version: number): void {
  writeFileSync(file, keptBytes(`sqlite-${version}.db`));
}

export async function keptFile(version: number): Promise<string> {
  const file = join(await temporaryFolder(), 'kept.db');
  writeKept(file, version);
  return file;
}

/**
 * Restores the PostgreSQL schema of a version and returns its URL. On a Citus cluster, it is distributed as programs of that
 * version did.
 */
export async function keptSchemaIn(databaseUrl: string, version: number): Promise<string> {
  const url = newSchemaIn(databaseUrl);
  const schema = schemaOf(url);
  const dump = keptBytes(`postgres-${version}.sql`).toString();
  await onDatabase(databaseUrl, (client) =>
    client.query(dump.replaceAll(/\bcaller_stats(?=\.)|(?<=SCHEMA )caller_stats\b/g, schema)),
  );
  if (!(await isCitus(databaseUrl))) return url;
  await onDatabase(databaseUrl, async (client) => {
    for (const [table, column] of Object.entries(SHARDED_TABLES)) {
      const beside = table === 'project' ? 'none' : `${schema}.project`;
      await client.query(
        `SELECT create_distributed_table(relation, $2, colocate_with => $3)
         FROM to_regclass($1) AS relation WHERE relation IS NOT NULL`,
        [`${schema}.${table}`, column, beside],
      );
    }
    const audit = `${schema}.audit`;
    await client.query('SELECT citus_add_local_table_to_metadata($1::regclass)', [audit]);
    await client.query(
      `SELECT setval(pg_get_serial_sequence($1, 'number'), number)
       FROM (SELECT max(number) AS number FROM ${audit}) AS last WHERE number IS NOT NULL`,
      [audit],
    );
    await client.query(
      `SELECT create_distributed_function(oid, 'asked_project', colocate_with => $2) FROM pg_proc
       WHERE pronamespace = to_regnamespace($1) AND proname IN ('record', 'import_counts')`,
      [schema, `${schema}.query`],
    );
  });
  return url;
}
