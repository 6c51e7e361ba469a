/** Databases of every released schema version (`scripts/keep-schema.ts`) are upgraded without losing anything. */
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { restoreStore } from '../../../src/storage/backup.js';
import { NEWEST_VERSION } from '../../../src/storage/postgres/migrations/index.js';
import { recount, recountCallers } from '../../laws/events.js';
import { Session } from '../../support/browser/dashboard-user.js';
import { startServer } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { succeed } from '../../support/cli/cli-place.js';
import { keptQueries, keptQueriesFile } from '../../support/kept-queries.js';
import { programOn } from '../../support/postgres/schema-nodes.js';
import { keptBytes, keptFile, keptSchemaIn, keptVersions } from '../../support/storage/kept-schemas.js';
import { askedFor } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';
import { isDeep } from '../../support/volume.js';

const countsFile = fileURLToPath(new URL('../../samples/schemas/counts.csv', import.meta.url));
const ofCounts = ['--format', 'counts', '--source', 'old'];

/** What cannot be read from a saved database. */
interface Made {
  readonly keys: { readonly admin: string; readonly recording: string; readonly revoked: string };
  /** The owner's account. */
  readonly person: { readonly name: string; readonly email: string; readonly password: string };
}

/** Restores a saved database of each store and returns its URL. */
const stores: Record<string, (version: number) => Promise<string>> = {
  sqlite: async (version) => `sqlite:${await keptFile(version)}`,
  postgres: (version) => keptSchemaIn(inject('postgresServers').at(-1)?.url ?? '', version),
};
if (askedFor !== undefined) {
  const url = askedFor;
  stores['CALLER_STATS_TEST_DATABASE_URL'] = (version) => keptSchemaIn(url, version);
}

/** The quick run upgrades only the oldest, which runs every migration, and opens the newest. */
const versions = keptVersions.filter(
  (version) => isDeep || askedFor !== undefined || [keptVersions[0], NEWEST_VERSION].includes(version),
);

const cases = Object.entries(stores).flatMap(([store, restore]) =>
  versions.map((version) => ({ store, version, restore })),
);

test.each(versions)('a file of schema version %i is restored as it is', async (version) => {
  const file = `${await temporaryFolder()}/restored.db`;
  const options = { replace: false, nowMs: 0 };
  expect(await restoreStore(await keptFile(version), `sqlite:${file}`, options)).toMatchObject({
    projects: 2,
  });
});

describe.each(cases)('a $store database of schema version $version', ({ store, version, restore }) => {
  test('is opened with all its queries, keys, members and accounts', async () => {
    const files = store === 'sqlite' ? 'sqlite' : 'postgres';
    const made = JSON.parse(keptBytes(`${files}-${version}.json`).toString()) as Made;
    const url = await restore(version);
    const program = programOn(url);
    const ask = async (...args: string[]): Promise<unknown> =>
      JSON.parse((await succeed(program.run([...args, '--json']))).stdout);
    expect(await ask('migrate')).toMatchObject({ version: NEWEST_VERSION });

    const { stdout: verdict } = await succeed(program.run(['verify']));
    expect(verdict).toMatch(
      new RegExp(`^${keptQueries.length} queries and 42 in imported counts, in 2 projects: every counter is`),
    );
    expect(await ask('import', countsFile, '--project', 'help', ...ofCounts)).toMatchObject({
      recorded: 0,
      duplicates: 3,
    });
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

    expect(await ask('member', 'list')).toContainEqual(
      expect.objectContaining({ email: 'grace@example.org', role: 'editor' }),
    );
    expect(await ask('organization', 'list')).toMatchObject([{ id: 'default' }, { id: 'rival' }]);
    expect(await ask('audit')).toContainEqual(expect.objectContaining({ action: 'key.revoke' }));
    expect(await ask('project', 'list')).toMatchObject([
      { id: 'docs', otlpQuery: 'default;http.route=/ask', otlpId: 'span' },
      { id: 'help', timeZone: 'Europe/Berlin', retentionDays: 400, otlpQuery: null, otlpId: null },
    ]);

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
    const session = await Session.signIn(server, made.person);
    expect(await session.status('GET', '/api/session')).toBe(200);
    expect(await server.stop()).toMatchObject({ status: 0 });
  });
});
