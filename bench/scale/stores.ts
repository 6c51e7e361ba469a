/** Databases of a size in both stores, and what each store does differently. */
import { rmSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import type { PostgresServer } from '../../test/support/postgres/postgres-server.js';
import { makeEvents, YEAR } from '../support/events.js';
import { createDatabase, using, vacuum } from '../support/postgres.js';
import { Database } from '../support/service.js';
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
    };
  };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

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
    };
  };
}
