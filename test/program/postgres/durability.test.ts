/** What the store's connections are set to, whatever the database, the user or the URL say. */
import { randomBytes } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { newUser } from '../../support/postgres/postgres-user.js';
import { poolerFor } from '../../support/postgres/transaction-pooler.js';
import {
  by,
  keyOf,
  newDatabase,
  newSchemaIn,
  onDatabase,
  openForTest,
  projectOf,
  schemaOf,
} from '../../support/storage/store.js';

/** A schema that need not be dropped, for its database is. */
const newSchemaOf = (url: string): string => `${url}?schema=test_${randomBytes(8).toString('hex')}`;

/** From now on every change notes the settings of the connection that it is made on. */
async function noteSettings(url: string): Promise<void> {
  const schema = schemaOf(url);
  await onDatabase(url, async (client) => {
    await client.query(`
      CREATE TABLE ${schema}.noted (durable text, isolation text, timeout text, name text);
      GRANT ALL ON ${schema}.noted TO PUBLIC;
      CREATE FUNCTION ${schema}.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO ${schema}.noted VALUES (current_setting('synchronous_commit'),
          current_setting('transaction_isolation'), current_setting('statement_timeout'),
          current_setting('application_name'));
        RETURN NULL;
      END $$`);
    for (const table of [
      'query',
      'caller_type_counter',
      'caller_counter',
      'project',
      'api_key',
      'organization',
    ]) {
      await client.query(`CREATE TRIGGER note AFTER INSERT OR UPDATE ON ${schema}.${table}
        EXECUTE FUNCTION ${schema}.note()`);
    }
  });
}

async function noted(url: string): Promise<{ changes: number; settings: object[] }> {
  const { rows } = await onDatabase(url, (client) =>
    client.query(`SELECT durable, isolation, timeout, name, count(*)::integer AS changes
      FROM ${schemaOf(url)}.noted GROUP BY 1, 2, 3, 4`),
  );
  return {
    changes: rows.reduce((sum, { changes }) => sum + Number(changes), 0),
    settings: rows.map(({ changes: _, ...settings }) => settings),
  };
}

/** Makes every kind of change there is, on as many connections as the store has. */
async function changeAll(store: Store): Promise<void> {
  await store.directory.createOrganization({ id: 'other', name: 'Other', createdAt: 0 }, by);
  const ids = Array.from({ length: 12 }, (_, at) => `p${at}`);
  await Promise.all(ids.map((id) => store.directory.createProject(projectOf(id), by)));
  await Promise.all(ids.map((id) => store.counts.record(id, [{ id: 'a', caller: 'web', occurredAt: 0 }])));
  await store.directory.createKey(keyOf('k'), by);
  await store.directory.touchKey('k', 5);
  await store.directory.changeKey('default', 'k', 'revoke', { ...by, at: 6 });
}

const expected = { durable: 'on', isolation: 'read committed', timeout: '5s', name: 'caller-stats' };

describe.each(inject('postgresServers').map(({ version, url }) => [version, url] as const))(
  'on PostgreSQL %s every change is durable, read committed and has a deadline',
  (_version, serverUrl) => {
    const weak = {
      synchronous_commit: 'off',
      default_transaction_isolation: 'serializable',
      statement_timeout: '0',
    };

    test('although the database has other defaults', async () => {
      const url = newSchemaOf(await newDatabase(serverUrl, weak));
      const store = await openForTest(url);
      await noteSettings(url);
      await changeAll(store);
      const { changes, settings } = await noted(url);
      expect(settings).toEqual([expected]);
      expect(changes).toBeGreaterThan(30);
    });

    test('although the user has other defaults, and counts stay exact', async () => {
      const url = newSchemaIn(serverUrl);
      const user = await newUser(serverUrl, 'secret', 'SUPERUSER');
      await onDatabase(serverUrl, async (client) => {
        for (const [name, value] of Object.entries(weak))
          await client.query(`ALTER ROLE ${user.name} SET ${name} = '${value}'`);
      });
      const stores = await Promise.all([openForTest(user.url(url)), openForTest(user.url(url))]);
      await noteSettings(url);
      await stores[0]?.directory.createProject(projectOf('docs'), by);
      const batches = Array.from({ length: 40 }, (_, batch) =>
        Array.from({ length: 20 }, (_one, at) => ({
          // Half of each batch is in the next one as well.
          id: `q${batch * 10 + at}`,
          caller: 'web',
          occurredAt: at,
        })),
      );
      const results = await Promise.all(
        batches.map((batch, at) =>
          stores[at % 2]?.counts.record('docs', at % 4 < 2 ? batch : batch.toReversed()),
        ),
      );
      const recorded = results.reduce((sum, result) => sum + (result?.recorded ?? 0), 0);
      expect(recorded).toBe(410);
      expect(await stores[0]?.counts.count('docs', ALL_TIME)).toMatchObject({ web: 410, total: 410 });
      expect(await stores[1]?.maintenance.verify()).toMatchObject({ queries: 410, differencesTotal: 0 });
      expect((await noted(url)).settings).toEqual([expected]);
    });

    test('although a pooler gives each transaction another connection, and nothing is left on any', async () => {
      const direct = newSchemaOf(await newDatabase(serverUrl, weak));
      const url = await poolerFor(direct);
      const store = await openForTest(url);
      await noteSettings(direct);
      await changeAll(store);
      expect((await noted(direct)).settings).toEqual([expected]);
      expect(await store.counts.count('p0', ALL_TIME)).toMatchObject({ web: 1, total: 1 });
      expect(await store.maintenance.verify()).toMatchObject({ queries: 12, differencesTotal: 0 });
      const left = await onDatabase(url, async (client) => {
        const seen = new Map<number, object>();
        for (let looks = 0; looks < 40; looks++) {
          const { rows } = await client.query<{ pid: number }>(`SELECT pg_backend_pid() AS pid,
            current_setting('synchronous_commit') AS synchronous_commit,
            current_setting('default_transaction_isolation') AS default_transaction_isolation,
            current_setting('statement_timeout') AS statement_timeout,
            (SELECT count(*)::integer FROM pg_prepared_statements) AS prepared`);
          for (const { pid, ...settings } of rows) seen.set(pid, settings);
        }
        return [...seen.values()];
      });
      expect(left.length).toBeGreaterThan(3);
      expect(left).toEqual(left.map(() => ({ ...weak, prepared: 0 })));
    });

    test('although the URL has other options', async () => {
      const url = newSchemaIn(serverUrl);
      const options = '-c synchronous_commit=off -c default_transaction_isolation=serializable';
      const store = await openForTest(`${url}&options=${options}&application_name=another`, {
        timeoutMs: 7000,
      });
      await noteSettings(url);
      await changeAll(store);
      expect((await noted(url)).settings).toEqual([{ ...expected, timeout: '7s', name: 'another' }]);
    });
  },
);

test.each(['local', 'remote_write', 'remote_apply'])(
  'keeps the setting %s, which concerns standby servers',
  async (durable) => {
    const serverUrl = inject('postgresServers').at(-1)?.url ?? '';
    const url = newSchemaOf(await newDatabase(serverUrl, { synchronous_commit: durable }));
    const store = await openForTest(url);
    await noteSettings(url);
    await changeAll(store);
    expect((await noted(url)).settings).toEqual([{ ...expected, durable }]);
  },
);

test.each(inject('postgresServers'))(
  'recording itself requests a durable commit behind a pooler or cluster: $version',
  async ({ url }) => {
    const schemaUrl = newSchemaIn(url);
    const schema = schemaOf(schemaUrl);
    const store = await openForTest(schemaUrl);
    await store.directory.createProject(projectOf('p'), by);
    const calls = [
      `record_one('p', '\\x01', 1, 'web', 20000, 'copy')`,
      `record('p', '{"\\\\x01"}', '{1}', '{web}', '{20000}', '{copy}', '{1}')`,
    ];
    const settings = [
      ['off', 'on'],
      ['local', 'local'],
      ['remote_apply', 'remote_apply'],
    ];
    for (const [call, told, kept] of calls.flatMap((one) => settings.map((setting) => [one, ...setting]))) {
      const during = await onDatabase(url, async (client) => {
        await client.query(`SET synchronous_commit = ${told}`);
        await client.query('BEGIN');
        await client.query(`SELECT ${schema}.${call}`);
        const { rows } = await client.query('SHOW synchronous_commit');
        await client.query('ROLLBACK');
        return rows[0].synchronous_commit;
      });
      expect(during).toBe(kept);
    }
  },
);
