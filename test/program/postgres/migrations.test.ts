/** Handles that meet at an empty database. */
import { randomBytes } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { Database } from '../../../src/storage/postgres/connection/database.js';
import { parsePostgresUrl } from '../../../src/storage/postgres/connection/location.js';
import { NEWEST_VERSION } from '../../../src/storage/postgres/migrations/index.js';
import { whenOver } from '../../support/cleanup.js';
import {
  by,
  newSchemaIn,
  onDatabase,
  openForTest,
  projectOf,
  schemaOf,
} from '../../support/storage/store.js';

const opened = (url: string) => openForTest(url, { connectionsMax: 2, timeoutMs: 60_000 });

describe.each(inject('postgresServers').map(({ version, url }) => [version, url] as const))(
  'on PostgreSQL %s',
  (_version, databaseUrl) => {
    test('a migration cannot run several statements in one text, which Citus would repeat for each of them', async () => {
      const location = parsePostgresUrl(databaseUrl);
      if (!location.ok) throw new Error('this URL is valid');
      const database = new Database(location.value, { connectionsMax: 2, timeoutMs: 60_000 });
      whenOver(() => database.close());
      await expect(database.session(async (session) => session.run('SELECT 1; SELECT 2'))).rejects.toThrow(
        'cannot insert multiple commands',
      );
    });

    test('twenty stores that open an empty database concurrently create one schema', async () => {
      const url = newSchemaIn(databaseUrl);
      const stores = await Promise.all(Array.from({ length: 20 }, () => opened(url)));
      const { rows } = await onDatabase(url, (client) =>
        client.query(`SELECT version FROM ${schemaOf(url)}.schema_version`),
      );
      expect(rows).toEqual([{ version: NEWEST_VERSION }]);
      await stores[0]?.directory.createProject(projectOf('docs'), by);
      const query = { id: randomBytes(8).toString('hex'), caller: 'web', occurredAt: 0 };
      const results = await Promise.all(stores.map((store) => store.counts.record('docs', [query])));
      expect(results.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(1);
      expect(await stores[19]?.counts.count('docs', ALL_TIME)).toMatchObject({ total: 1 });
    });

    test('schemas in one database are independent', async () => {
      const urls = Array.from({ length: 5 }, () => newSchemaIn(databaseUrl));
      const stores = await Promise.all([...urls, ...urls].map(opened));
      for (const [at, store] of stores.slice(0, 5).entries()) {
        await store.directory.createProject(projectOf(`docs-${at}`), by);
        expect(await stores[at + 5]?.directory.listProjects('default')).toEqual([projectOf(`docs-${at}`)]);
      }
    });

    test('uses an existing empty schema', async () => {
      const url = newSchemaIn(databaseUrl);
      await onDatabase(url, (client) => client.query(`CREATE SCHEMA ${schemaOf(url)}`));
      const store = await opened(url);
      expect(await store.directory.listOrganizations()).toHaveLength(1);
    });
  },
);
