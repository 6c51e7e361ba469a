/** Databases of a size in both stores, and what each store does differently. */
import { mkdirSync, rmSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import { MIGRATIONS as POSTGRES_MIGRATIONS } from '../../src/storage/postgres/migrations/index.js';
import { MIGRATIONS as SQLITE_MIGRATIONS } from '../../src/storage/sqlite/migrations/index.js';
import { APPLICATION_ID } from '../../src/storage/sqlite/migrations/migrate.js';
import type { PostgresServer } from '../../test/support/postgres/postgres-server.js';
import { makeEvents, YEAR } from '../support/events.js';
import { createDatabase, using, vacuum } from '../support/postgres.js';
import { Database, projectId } from '../support/service.js';
import type { Workspace } from '../support/workspace.js';

/** A database with a number of queries in one project. */
export interface Scaled {
  readonly queries: number;
  readonly database: Database;
  readonly importSeconds: number;
  readonly bytes: () => number | Promise<number>;
  /** Whether retention has removed all rows that it should. */
  readonly isRetained: () => boolean | Promise<boolean>;
  /** Backs it up, and restores it for `work`. Returns the seconds of each. */
  readonly backUp: (work: Work) => Promise<{ readonly backup: number; readonly restore: number }>;
  /** Copies its queries and counters into an old schema for `work`. */
  readonly withOld: (work: Work) => Promise<void>;
}

type Work = (database: Database) => Promise<void>;
type Say = (line: string) => void;

/** A single import is limited to half an hour (`Workspace.run`). */
const importedMax = 10_000_000;

async function fill(database: Database, queries: number, say: Say): Promise<number> {
  const parts = Math.ceil(queries / importedMax);
  const partMs = (YEAR.to - YEAR.from) / parts;
  let seconds = 0;
  for (let part = 0; part < parts; part++) {
    const [from, to] = [YEAR.from + part * partMs, YEAR.from + (part + 1) * partMs];
    const lines = Math.floor((queries * (part + 1)) / parts) - Math.floor((queries * part) / parts);
    seconds += await database.importEvents(makeEvents(lines, part + 1, { from, to }), lines);
    say(`imported ${lines} queries, part ${part + 1} of ${parts}`);
  }
  return seconds;
}

/** The first schema has the same rows and the same counters by type. The third begins to count by caller. */
export function sqliteStore(workspace: Workspace, say: Say): (queries: number) => Promise<Scaled> {
  return async (queries) => {
    const database = await Database.create(workspace, `sqlite-${queries}`);
    const importSeconds = await fill(database, queries, say);
    const inFolder = (name: string) => workspace.path(`${name}-${queries}`);
    return {
      queries,
      database,
      importSeconds,
      bytes: () => database.sizeBytes(),
      isRetained: () => {
        const db = new DatabaseSync(database.file, { readOnly: true });
        const { done } = db
          .prepare(
            'SELECT rows_from IS NOT NULL AND swept_to IS NULL AS done FROM project WHERE retention_days > 0',
          )
          .get();
        db.close();
        return done === 1;
      },
      backUp: async (work) => {
        const file = inFolder('backup');
        const backup = await secondsOf(() => database.command('backup', file));
        const restored = Database.at(workspace, `sqlite:${inFolder('restored')}/caller-stats.db`);
        const restore = await secondsOf(() => restored.command('restore', file));
        rmSync(file);
        await work(restored);
        rmSync(restored.folder, { recursive: true });
        return { backup, restore };
      },
      withOld: async (work) => {
        const old = Database.at(workspace, `sqlite:${inFolder('old')}/caller-stats.db`);
        mkdirSync(old.folder);
        old.change((db) =>
          db.exec(`
            ${SQLITE_MIGRATIONS[0]}
            PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1;
            PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
            ATTACH '${database.file}' AS made;
            INSERT INTO project SELECT number, id, organization_id, name, created_at FROM made.project;
            INSERT OR IGNORE INTO caller SELECT number, name FROM made.caller;
            INSERT INTO query SELECT project, id, occurred_at, caller FROM made.query;
            INSERT INTO counter SELECT project, level, bucket, web, api, other FROM made.type_counter;
          `),
        );
        await work(old);
        rmSync(old.folder, { recursive: true });
      },
    };
  };
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

/** The newest schema in which every query was in all counters; the next one builds indexes of all rows. */
const oldVersion = 15;

export function postgresStore(
  workspace: Workspace,
  server: PostgresServer,
  say: Say,
): (queries: number) => Promise<Scaled> {
  return async (queries) => {
    const name = `scale_${queries}`;
    const url = await createDatabase(server, name);
    const database = await Database.create(workspace, name, url);
    const importSeconds = await fill(database, queries, say);
    await vacuum(url);
    const ask = <Row extends object>(text: string) =>
      using(url, async (client) => (await client.query<Row>(text)).rows[0]);
    return {
      queries,
      database,
      importSeconds,
      bytes: async () =>
        Number((await ask<{ bytes: string }>(`SELECT pg_database_size('${name}') AS bytes`))?.bytes),
      isRetained: async () =>
        (
          await ask<{ done: boolean }>(
            'SELECT rows_from IS NOT NULL AND swept_id IS NULL AS done FROM caller_stats.project',
          )
        )?.done === true,
      backUp: async (work) => {
        const file = workspace.path(`${name}.dump`);
        const copy = await createDatabase(server, `${name}_restored`);
        const dump = ['--format=custom', '--compress=1', '--file', file, url];
        const { seconds: backup } = await workspace.run('pg_dump', dump);
        const { seconds: restore } = await workspace.run('pg_restore', [
          '--no-owner',
          '--dbname',
          copy,
          file,
        ]);
        rmSync(file);
        await work(Database.at(workspace, copy));
        await using(server.url(), (client) => client.query(`DROP DATABASE ${name}_restored WITH (FORCE)`));
        return { backup, restore };
      },
      withOld: async (work) => {
        await using(url, async (client) => {
          // Some migrations lock tables, which needs a transaction.
          await client.query('BEGIN; CREATE SCHEMA old');
          for (const statement of POSTGRES_MIGRATIONS.slice(0, oldVersion).flatMap((sql) => sql('old')))
            await client.query(statement);
          await client.query(`INSERT INTO old.schema_version (version) VALUES (${oldVersion})`);
          await client.query(
            `INSERT INTO old.project (id, organization_id, name, created_at) VALUES ('${projectId}', 'default', 'Bench', 0)`,
          );
          await client.query(
            `INSERT INTO old.query (occurred_at, project_id, id, caller)
             SELECT occurred_at, project_id, id, caller FROM caller_stats.query`,
          );
          for (const [level, ms] of BUCKET_WIDTHS_MS.entries())
            await client.query(
              `INSERT INTO old.type_counter (project_id, level, bucket, web, api, other)
               SELECT project_id, ${level}, occurred_at / ${ms}, count(*) FILTER (WHERE caller = 'web'),
                 count(*) FILTER (WHERE caller = 'api'), count(*) FILTER (WHERE caller NOT IN ('web', 'api'))
               FROM old.query GROUP BY 1, 3 ORDER BY 1, 3`,
            );
          for (const [level, ms] of BUCKET_WIDTHS_MS.entries())
            await client.query(
              `INSERT INTO old.caller_counter (project_id, level, bucket, caller, queries)
               SELECT project_id, ${level}, occurred_at / ${ms}, caller, count(*) FROM old.query
               WHERE caller NOT IN ('web', 'api') GROUP BY 1, 3, 4 ORDER BY 1, 3, 4`,
            );
          await client.query('COMMIT');
        });
        await work(Database.at(workspace, `${url}?schema=old`));
        await using(url, (client) => client.query('DROP SCHEMA old CASCADE'));
      },
    };
  };
}
