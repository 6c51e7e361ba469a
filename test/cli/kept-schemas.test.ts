/** Databases of every earlier schema version (`scripts/keep-schema.ts`) are upgraded without losing anything. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { SHARDED_TABLES } from '../../src/storage/postgres/migrations/distribute.js';
import { NEWEST_VERSION } from '../../src/storage/postgres/migrations/index.js';
import { MIGRATIONS } from '../../src/storage/sqlite/migrations/index.js';
import { recount, recountCallers } from '../laws/events.js';
import { Session } from '../support/browser/dashboard-user.js';
import { startServer } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';
import { succeed } from '../support/cli/cli-place.js';
import { keptQueries, keptQueriesFile } from '../support/kept-queries.js';
import { programOn } from '../support/postgres/schema-nodes.js';
import { askedFor, isCitus, newSchemaIn, onDatabase, schemaOf } from '../support/storage/store.js';
import { temporaryFolder } from '../support/temporary.js';
import { isDeep } from '../support/volume.js';

const folder = new URL('../samples/schemas/', import.meta.url);
const countsFile = new URL('counts.csv', folder);
const ofCounts = ['--format', 'counts', '--source', 'old'];

/** What cannot be read from a saved database. */
interface Made {
  readonly keys: { readonly admin: string; readonly recording: string; readonly revoked: string };
  /** The owner's account, since there are accounts. */
  readonly person?: { readonly name: string; readonly email: string; readonly password: string };
}

const kept = (name: string): Buffer => gunzipSync(readFileSync(new URL(`${name}.gz`, folder)));

/** Names that distributed tables had in older versions. */
const oldTables = { counter: 'project_id', type_counter: 'project_id' };

/** Restores a dump in a schema of its own and, if the database is a Citus cluster, distributes it as the program did then. */
async function restoreIn(databaseUrl: string, version: number): Promise<string> {
  const url = newSchemaIn(databaseUrl);
  const schema = schemaOf(url);
  const dump = kept(`postgres-${version}.sql`).toString();
  await onDatabase(databaseUrl, (client) => client.query(dump.replaceAll(/\bcaller_stats\b/g, schema)));
  if (!(await isCitus(databaseUrl))) return url;
  await onDatabase(databaseUrl, async (client) => {
    for (const [table, column] of Object.entries({ ...SHARDED_TABLES, ...oldTables })) {
      const beside = table === 'project' ? 'none' : `${schema}.project`;
      await client.query(
        `SELECT create_distributed_table(relation, $2, colocate_with => $3)
         FROM to_regclass($1) AS relation WHERE relation IS NOT NULL`,
        [`${schema}.${table}`, column, beside],
      );
    }
    await client.query(
      `SELECT create_distributed_function(oid, 'asked_project', colocate_with => $2) FROM pg_proc
       WHERE pronamespace = to_regnamespace($1) AND proname IN ('record', 'import_counts')`,
      [schema, `${schema}.query`],
    );
  });
  return url;
}

interface KeptStore {
  /** How the names of its files begin. */
  readonly files: string;
  readonly newest: number;
  readonly restore: (version: number) => Promise<string>;
}

const onPostgres = (databaseUrl: string): KeptStore => ({
  files: 'postgres',
  newest: NEWEST_VERSION,
  restore: (version: number) => restoreIn(databaseUrl, version),
});

/** Restores a saved database of each store and returns its URL. */
const stores: Readonly<Record<string, KeptStore>> = {
  sqlite: {
    files: 'sqlite',
    newest: MIGRATIONS.length,
    restore: async (version) => {
      const file = join(await temporaryFolder(), 'kept.db');
      writeFileSync(file, kept(`sqlite-${version}.db`));
      return `sqlite:${file}`;
    },
  },
  postgres: onPostgres(inject('postgresServers').at(-1)?.url ?? ''),
  ...(askedFor === undefined ? {} : { CALLER_STATS_TEST_DATABASE_URL: onPostgres(askedFor) }),
};

/** The quick run upgrades only some versions: upgrading the oldest runs every migration. A database is named to try all. */
const cases = Object.entries(stores).flatMap(([store, { newest, ...rest }]) =>
  Array.from({ length: newest }, (_, at) => ({ store, version: at + 1, ...rest })).filter(
    ({ version }) => isDeep || askedFor !== undefined || [1, 5, newest].includes(version),
  ),
);

/** The OpenTelemetry settings of the project `docs`. */
function rulesOf(version: number): object {
  return version >= 10
    ? { otlpQuery: 'default;http.route=/ask', otlpId: 'span' }
    : { otlpQuery: null, otlpId: null };
}

describe.each(cases)('a $store database of schema version $version', ({ store, files, version, restore }) => {
  test('is upgraded with all its queries, keys, members and accounts', async () => {
    const made = JSON.parse(kept(`${files}-${version}.json`).toString()) as Made;
    const url = await restore(version);
    const program = programOn(url);
    const ask = async (...args: string[]): Promise<unknown> =>
      JSON.parse((await succeed(program.run([...args, '--json']))).stdout);
    expect(await ask('migrate')).toMatchObject({ version: stores[store]?.newest });

    const { stdout: verdict } = await succeed(program.run(['verify']));
    const imported = version >= 9 ? ' and 42 in imported counts,' : '';
    expect(verdict).toMatch(
      new RegExp(`^${keptQueries.length} queries${imported} in 2 projects: every counter is`),
    );
    expect(await ask('import', countsFile.pathname, '--project', 'help', ...ofCounts)).toMatchObject(
      version >= 9 ? { recorded: 0, duplicates: 3 } : { recorded: 3, duplicates: 0 },
    );
    expect(await ask('stats', 'help')).toEqual({ web: 30, api: 0, other: 12, total: 42 });
    expect(await ask('stats', 'docs')).toEqual(recount(keptQueries, ALL_TIME));
    expect(await ask('stats', 'docs', '--callers')).toEqual(recountCallers(keptQueries, ALL_TIME));
    const { buckets } = (await ask('stats', 'docs', '--interval', 'month')) as {
      buckets: { start: string; end: string }[];
    };
    expect(buckets.length).toBeGreaterThan(12);
    for (const { start, end, ...counts } of buckets) {
      expect(counts).toEqual(recount(keptQueries, { from: Date.parse(start), to: Date.parse(end) }));
    }
    const again = await succeed(program.run(['import', keptQueriesFile, '--project', 'docs', '--json']));
    expect(JSON.parse(again.stdout)).toMatchObject({ recorded: 0, duplicates: keptQueries.length });

    if (version >= 2) {
      expect(await ask('member', 'list')).toContainEqual(
        expect.objectContaining({ email: 'grace@example.org', role: 'editor' }),
      );
      expect(await ask('organization', 'list')).toMatchObject([{ id: 'default' }, { id: 'rival' }]);
      expect(await ask('audit')).toContainEqual(expect.objectContaining({ action: 'key.revoke' }));
    }
    if (version >= 5) {
      expect(await ask('project', 'list')).toContainEqual(
        expect.objectContaining({ id: 'help', timeZone: 'Europe/Berlin', retentionDays: 400, otlpId: null }),
      );
    }
    expect(await ask('project', 'list')).toMatchObject([rulesOf(version), { otlpQuery: null }]);

    // The quick run starts a server on the oldest and the newest version.
    if (!isDeep && version !== 1 && version !== stores[store]?.newest) return;
    // A process of its own, because its accounts have passwords of the real cost.
    const server = await startServer([], { env: { DATABASE_URL: url } });
    const all = recount(keptQueries, ALL_TIME);
    expect(await clientOf(server, 'docs', made.keys.revoked).count()).toMatchObject({ status: 401 });
    expect(await clientOf(server, 'docs', made.keys.recording).count()).toMatchObject({ status: 401 });
    expect(await clientOf(server, 'docs', made.keys.admin).count()).toEqual({ status: 200, body: all });
    const more = [
      { id: keptQueries[0]?.id, caller: 'web' },
      { id: 'after the upgrade', caller: 'web' },
    ];
    expect(await clientOf(server, 'docs', made.keys.recording).record(more)).toEqual({
      status: 200,
      body: { recorded: 1, duplicates: 1 },
    });
    expect(await clientOf(server, 'docs', made.keys.admin).count()).toEqual({
      status: 200,
      body: { ...all, web: all.web + 1, total: all.total + 1 },
    });
    expect(made.person === undefined).toBe(version < 5);
    if (made.person !== undefined) {
      const session = await Session.signIn(server, made.person);
      expect(await session.status('GET', '/api/session')).toBe(200);
    }
    expect(await server.stop()).toMatchObject({ status: 0 });
  });
});
