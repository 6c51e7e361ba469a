/** Schemas of an older version, and what the newest one keeps to by itself. */
import { describe, expect, inject, test } from 'vitest';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/project.js';
import { MIGRATIONS, NEWEST_VERSION } from '../../src/storage/postgres/migrations/index.js';
import { eventually } from '../support/postgres/nodes.js';
import {
  expectUpToDate,
  firstVersionKeyColumns,
  firstVersionKeys,
  firstVersionKeyValues,
  firstVersionProjects,
  firstVersionQueries,
} from '../support/storage/first-version.js';
import { by, newSchemaIn, onDatabase, openForTest, projectOf, schemaOf } from '../support/storage/store.js';

const opened = (url: string) => openForTest(url, { connectionsMax: 2, timeoutMs: 60_000 });

/** What brings a schema to `version` from the one before it. */
const migrationText = (version: number, schema: string) => MIGRATIONS[version - 1]?.(schema).join(';') ?? '';

/** The URL of a schema as the first version left it. */
async function firstVersionSchema(databaseUrl: string): Promise<string> {
  const url = newSchemaIn(databaseUrl);
  const schema = schemaOf(url);
  await onDatabase(url, async (client) => {
    await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(migrationText(1, schema));
    await client.query(`INSERT INTO ${schema}.schema_version (version) VALUES (1)`);
    await client.query(`INSERT INTO ${schema}.organization VALUES ('rival', 'Rival', 500)`);
    for (const { id, organizationId, name, createdAt } of firstVersionProjects) {
      const values = [id, organizationId, name, createdAt];
      await client.query(`INSERT INTO ${schema}.project VALUES ($1, $2, $3, $4)`, values);
    }
    for (const key of firstVersionKeys) {
      const values = firstVersionKeyValues(key);
      const places = values.map((_, at) => `$${at + 1}`).join(', ');
      await client.query(
        `INSERT INTO ${schema}.api_key (${firstVersionKeyColumns}) VALUES (${places})`,
        values,
      );
    }
    const recorded = await client.query(`SELECT ${schema}.record('docs', $1, $2, $3) AS duplicates`, [
      firstVersionQueries.map(({ id }) => Buffer.from(id)),
      firstVersionQueries.map(({ occurredAt }) => occurredAt),
      firstVersionQueries.map(({ caller }) => caller),
    ]);
    expect(recorded.rows).toEqual([{ duplicates: [] }]);
  });
  return url;
}

function stateOf(url: string) {
  const schema = schemaOf(url);
  return onDatabase(url, async (client) => {
    const version = await client.query(`SELECT version FROM ${schema}.schema_version`);
    const relations = await client.query(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = to_regnamespace($1)
       UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace($1) ORDER BY 1`,
      [schema],
    );
    const keys = await client.query(`SELECT * FROM ${schema}.api_key ORDER BY id`);
    return { version: version.rows[0]?.version, relations: relations.rows, keys: keys.rows };
  });
}

describe.each(inject('postgresServers').map(({ version, url }) => [version, url] as const))(
  'on PostgreSQL %s',
  (_version, databaseUrl) => {
    test('migrates a schema of the first version with all its data', async () => {
      const url = await firstVersionSchema(databaseUrl);
      expect(await stateOf(url)).toMatchObject({ version: 1 });
      await expectUpToDate(await opened(url));
      expect(await stateOf(url)).toMatchObject({ version: NEWEST_VERSION });
    });

    test('migrates it once when many stores open it concurrently', async () => {
      const url = await firstVersionSchema(databaseUrl);
      const stores = await Promise.all(Array.from({ length: 10 }, () => opened(url)));
      for (const store of stores) expect(await store.listKeys('rival')).toHaveLength(1);
      const [store] = stores;
      if (store !== undefined) await expectUpToDate(store);
    });

    test('leaves it unchanged if a migration fails, and can migrate it later', async () => {
      const url = await firstVersionSchema(databaseUrl);
      // Comes in the way behind the changes of the keys.
      await onDatabase(url, (client) => client.query(`CREATE TABLE ${schemaOf(url)}.member (x integer)`));
      const before = await stateOf(url);
      expect(before).toMatchObject({ version: 1 });
      await expect(opened(url)).rejects.toThrow();
      expect(await stateOf(url)).toEqual(before);
      await onDatabase(url, (client) => client.query(`DROP TABLE ${schemaOf(url)}.member`));
      await expectUpToDate(await opened(url));
    });

    test.each([3, 16])('to %i fails a waiting recording, which is not half counted', async (version) => {
      const url = await firstVersionSchema(databaseUrl);
      const schema = schemaOf(url);
      const late = `SELECT ${schema}.record('docs', '{"\\\\x00ff"}', '{5}', '{slack}')`;
      await onDatabase(url, (client) =>
        client.query(`${Array.from({ length: version - 2 }, (_, at) => migrationText(at + 2, schema)).join(';')};
        UPDATE ${schema}.schema_version SET version = ${version - 1}`),
      );
      await onDatabase(url, async (migrating) => {
        await onDatabase(url, async (used) => {
          // One connection has the statements of the function planned already, the other has not.
          await used.query(late);
          await migrating.query(`BEGIN; ${migrationText(version, schema)};
            UPDATE ${schema}.schema_version SET version = ${version}`);
          const recordings = Promise.allSettled([
            used.query(late.replace('00ff', '01ff')),
            onDatabase(url, (fresh) => fresh.query(late.replace('00ff', '02ff'))),
          ]);
          await eventually(() =>
            onDatabase(url, async (client) => {
              const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1";
              return (await client.query(waiting, [`SELECT ${schema}.record%`])).rowCount === 2
                ? true
                : undefined;
            }),
          );
          await migrating.query('COMMIT');
          expect(await recordings).toMatchObject([
            { status: 'rejected', reason: { code: '42P01' } },
            { status: 'rejected', reason: { code: '42P01' } },
          ]);
        });
      });
      const store = await opened(url);
      expect(await store.verify()).toMatchObject({ queries: 7, differencesTotal: 0 });
      const { callers } = await store.countCallers('docs', { from: 5, to: 6 });
      expect(callers).toEqual([{ caller: 'slack', type: 'other', count: 1 }]);
    });

    test('the database refuses changes of audit log entries', async () => {
      const url = newSchemaIn(databaseUrl);
      const store = await opened(url);
      await store.createProject(projectOf('p'), by);
      const before = await store.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 10 });
      for (const change of ["actor = 'nobody'", 'at = at', "organization_id = 'other'"]) {
        const made = onDatabase(url, (client) => client.query(`UPDATE ${schemaOf(url)}.audit SET ${change}`));
        await expect(made, change).rejects.toThrow(/the audit log is never changed/);
      }
      expect(before).toHaveLength(1);
      expect(await store.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 10 })).toEqual(before);
    });
  },
);
