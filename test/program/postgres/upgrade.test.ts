/** Schemas of another version, and what the newest one keeps to by itself. */
import type { Client } from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import { migrateStore } from '../../../src/storage/open.js';
import {
  MIGRATIONS,
  type Migration,
  NEWEST_VERSION,
} from '../../../src/storage/postgres/migrations/index.js';
import { OLDEST_VERSION } from '../../../src/storage/sql/oldest-version.js';
import { recount } from '../../laws/events.js';
import { keptQueries } from '../../support/kept-queries.js';
import { migrateWith } from '../../support/postgres/migrate-with.js';
import { keptSchemaIn } from '../../support/storage/kept-schemas.js';
import {
  by,
  newSchemaIn,
  onDatabase,
  openForTest,
  projectOf,
  schemaOf,
} from '../../support/storage/store.js';

const opened = (url: string) => openForTest(url, { connectionsMax: 2, timeoutMs: 60_000 });

/** Everything that the catalog says of a schema, but for its name. */
const catalogQueries = [
  `SELECT table_name, column_name, ordinal_position, column_default, is_nullable, data_type, collation_name, is_identity
   FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, 3`,
  `SELECT relname, relkind, reloptions FROM pg_class WHERE relnamespace = to_regnamespace($1) ORDER BY 1`,
  `SELECT conrelid::regclass::text AS relation, conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
   WHERE connamespace = to_regnamespace($1) ORDER BY 1, 2`,
  'SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = $1 ORDER BY 1',
  `SELECT pg_get_functiondef(oid) AS definition FROM pg_proc WHERE pronamespace = to_regnamespace($1) ORDER BY 1`,
  `SELECT pg_get_triggerdef(pg_trigger.oid) AS definition FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
   WHERE relnamespace = to_regnamespace($1) AND NOT tgisinternal ORDER BY 1`,
];

function catalogOf(url: string): Promise<unknown[]> {
  const schema = schemaOf(url);
  const ask = async (client: Client) => {
    const answers: unknown[] = [await client.query(`SELECT version FROM ${schema}.schema_version`)];
    for (const text of catalogQueries) answers.push(await client.query(text, [schema]));
    return (answers as { rows: unknown[] }[]).map(({ rows }) => rows);
  };
  return onDatabase(url, async (client) =>
    JSON.parse(JSON.stringify(await ask(client)).replaceAll(schema, 'a_schema')),
  );
}

describe.each(inject('postgresServers').map(({ version, url }) => [version, url] as const))(
  'on PostgreSQL %s',
  (_version, databaseUrl) => {
    test('a schema that was never released is refused with what upgrades it, and unchanged', async () => {
      const url = await keptSchemaIn(databaseUrl, OLDEST_VERSION);
      await onDatabase(url, (client) =>
        client.query(`UPDATE ${schemaOf(url)}.schema_version SET version = ${OLDEST_VERSION - 1}`),
      );
      const before = await catalogOf(url);
      const refused = {
        code: 'unavailable',
        message: expect.stringMatching(
          /^The database .* has schema version \d+, which was never released; .* Open it with commit [0-9a-f]{40} /,
        ),
      };
      await expect(migrateStore(url, { distribute: false })).rejects.toMatchObject(refused);
      await expect(opened(url).then((store) => store.directory.listOrganizations())).rejects.toMatchObject(
        refused,
      );
      expect(await catalogOf(url)).toEqual(before);
    });

    test('a schema of the oldest version gets the same catalog as a new one, with all its queries', async () => {
      const [url, newUrl] = [await keptSchemaIn(databaseUrl, OLDEST_VERSION), newSchemaIn(databaseUrl)];
      const store = await opened(url);
      expect(await store.counts.count('docs', ALL_TIME)).toEqual(recount(keptQueries, ALL_TIME));
      await opened(newUrl);
      expect(await catalogOf(url)).toEqual(await catalogOf(newUrl));
    });

    test('a schema is upgraded once when many stores open it concurrently', async () => {
      const url = await keptSchemaIn(databaseUrl, OLDEST_VERSION);
      const stores = await Promise.all(Array.from({ length: 10 }, () => opened(url)));
      for (const store of stores) expect(await store.directory.listOrganizations()).toHaveLength(2);
      expect(await stores[0]?.maintenance.verify()).toMatchObject({
        queries: keptQueries.length,
        differencesTotal: 0,
      });
    });

    test('a schema is unchanged if a migration fails, and can be migrated later', async () => {
      const url = await keptSchemaIn(databaseUrl, OLDEST_VERSION);
      await opened(url);
      const before = await catalogOf(url);
      const next: Migration = (schema) => [
        `ALTER TABLE ${schema}.project ADD COLUMN next text`,
        `CREATE TABLE ${schema}.next (x integer)`,
      ];
      const broken: Migration = (schema) => [...next(schema), `CREATE TABLE ${schema}.member (x integer)`];
      await expect(migrateWith(url, [...MIGRATIONS, broken])).rejects.toThrow();
      expect(await catalogOf(url)).toEqual(before);
      await migrateWith(url, [...MIGRATIONS, next]);
      const [version, columns] = await catalogOf(url);
      expect(version).toEqual([{ version: NEWEST_VERSION + 1 }]);
      expect(columns).toContainEqual(expect.objectContaining({ table_name: 'project', column_name: 'next' }));
    });

    test('the database refuses changes of audit log entries', async () => {
      const url = newSchemaIn(databaseUrl);
      const store = await opened(url);
      await store.directory.createProject(projectOf('p'), by);
      const before = await store.directory.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 10 });
      for (const change of ["actor = 'nobody'", 'at = at', "organization_id = 'other'"]) {
        const made = onDatabase(url, (client) => client.query(`UPDATE ${schemaOf(url)}.audit SET ${change}`));
        await expect(made, change).rejects.toThrow(/the audit log is never changed/);
      }
      expect(before).toHaveLength(1);
      expect(await store.directory.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 10 })).toEqual(before);
    });
  },
);
