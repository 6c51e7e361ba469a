/** Folders with a database, and the program run in them. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sampleFile } from '../sample.js';
import { withFile } from '../storage/sqlite-file.js';
import { templateFolder } from '../templates.js';
import {
  type CliOptions,
  type FirstRun,
  firstRunOf,
  hostServer,
  type Outcome,
  type RunOptions,
  runCli,
  type Server,
  type ServerOptions,
  type ServerProcess,
  spawnCli,
  startServer,
} from './cli.js';

/** The only project of `placeWithProject` and `placeWithSample`. */
export const project = 'docs';

/** A folder with a database. Commands run in this folder, with this database. */
export interface Place {
  readonly folder: string;
  readonly database: string;
  readonly env: Readonly<Record<string, string>>;
  readonly path: (name: string) => string;
  /** Runs a command inside the test's process. */
  readonly run: (args: readonly string[], options?: CliOptions) => Promise<Outcome>;
  /** Runs a command as a process of its own. */
  readonly spawn: (args: readonly string[], options?: RunOptions) => Promise<Outcome>;
  /** Starts a server inside the test's process. */
  readonly serve: (args?: readonly string[], options?: CliOptions) => Promise<Server>;
  /** Starts a server as a process of its own. */
  readonly spawnServer: (args?: readonly string[], options?: ServerOptions) => Promise<ServerProcess>;
}

/** An empty folder, without a database. */
export async function emptyPlace(): Promise<Place> {
  return placeIn(await newFolder());
}

/** The database has one project, `docs`, without queries. */
export function placeWithProject(): Promise<Place> {
  return placeFrom('project', async ({ spawn }) => {
    await succeed(spawn(['project', 'create', 'Docs', '--id', project]));
  });
}

/** The database has the sample's events in its project `docs`. */
export function placeWithSample(): Promise<Place> {
  return placeFrom('sample', async ({ spawn }) => {
    await succeed(spawn(['project', 'create', 'Docs', '--id', project]));
    await succeed(spawn(['import', sampleFile, '--project', project]));
  });
}

/** The database as the first start with `--demo` leaves it, and what that start printed of keys. */
export async function placeWithDemo(): Promise<Place & { readonly firstRun: FirstRun }> {
  const place = await placeFrom('demo', async ({ spawnServer, path }) => {
    const server = await spawnServer(['--demo']);
    await server.stop();
    await writeFile(path('stdout'), server.stdout);
  });
  const stdout = await readFile(place.path('stdout'), 'utf8');
  await rm(place.path('stdout'));
  return { ...place, firstRun: firstRunOf({ stdout }) };
}

/** A new place with a copy of everything in another one, whose database nothing may have open. */
export async function copyOf({ folder }: Pick<Place, 'folder'>): Promise<Place> {
  const copy = await newFolder();
  await cp(folder, copy, { recursive: true });
  return placeIn(copy);
}

/**
 * The same of a place whose database this process has open: commands within it leave that to the garbage collection, which
 * may remove the log during a copy of the files.
 */
export async function copyOfOpen({ folder, database }: Place): Promise<Place> {
  const copy = placeIn(await newFolder());
  const files = ['', '-wal', '-shm'].map((suffix) => `${database}${suffix}`);
  await cp(folder, copy.folder, { recursive: true, filter: (path) => !files.includes(path) });
  withFile(database, (db) => db.prepare('VACUUM INTO ?').run(copy.database));
  return copy;
}

/** Creates a key and returns it. */
export async function makeKey(place: Place, type: 'admin' | 'reading' | 'recording'): Promise<string> {
  const bound = type === 'admin' ? [] : ['--project', project];
  const made = await succeed(
    place.run(['key', 'create', '--name', `A ${type} key`, '--type', type, ...bound]),
  );
  return made.stdout.trim();
}

/** Waits for a run, which must end with status 0. */
export async function succeed(run: Promise<Outcome>): Promise<Outcome> {
  const outcome = await run;
  expect(outcome).toMatchObject({ status: 0 });
  return outcome;
}

/** Waits for a run, which must end with this status and print only errors. Returns these. */
export async function refusal(run: Promise<Outcome>, status: 1 | 2): Promise<string> {
  const outcome = await run;
  expect(outcome).toMatchObject({ status, stdout: '' });
  return outcome.stderr;
}

/** Changes the database without the program. */
export function alter(place: Pick<Place, 'database'>, sql: string): void {
  withFile(place.database, (db) => db.exec(sql));
}

/** The first row of a statement's result, read without the program. */
export function firstRow(place: Pick<Place, 'database'>, sql: string): Record<string, unknown> {
  return withFile(place.database, (db) => db.prepare(sql).get() as Record<string, unknown>);
}

/** The number of queries on disk, after checking that the widest counters have the same number. */
export function recordedIn(place: Pick<Place, 'database'>): number {
  const row = firstRow(
    place,
    `SELECT (SELECT count(*) FROM query) AS queries,
       (SELECT coalesce(sum(web + api + other), 0) FROM query_counter
        WHERE level = (SELECT max(level) FROM query_counter)) AS counted`,
  );
  expect(row['counted']).toBe(row['queries']);
  return Number(row['queries']);
}

/** Contains all places of a test file, which concurrent tests share. */
let root: Promise<string> | undefined;

/** Removes all places of a test file. `setup/places-setup.ts` calls it after each. */
export async function removePlaces(): Promise<void> {
  if (root !== undefined) await rm(await root, { recursive: true });
  root = undefined;
}

async function newFolder(): Promise<string> {
  root ??= mkdtemp(join(tmpdir(), 'caller-stats-cli-'));
  return mkdtemp(join(await root, 'place-'));
}

/** A copy of a place that is prepared once in a run, by processes: when they have ended, no file is open. */
async function placeFrom(template: string, prepare: (place: Place) => Promise<unknown>): Promise<Place> {
  const folder = await templateFolder(template, async (draft) => void (await prepare(placeIn(draft))));
  return copyOf({ folder });
}

function placeIn(folder: string): Place {
  const database = join(folder, 'caller-stats.db');
  const env = { DATABASE_URL: `sqlite:${database}` };
  const optionsWith = (options: ServerOptions = {}) => ({
    cwd: folder,
    ...options,
    env: { ...env, ...options.env },
  });
  return {
    folder,
    database,
    env,
    path: (name) => join(folder, name),
    run: (args, options) => runCli(args, optionsWith(options)),
    spawn: (args, options) => spawnCli(args, optionsWith(options)),
    serve: (args, options) => hostServer(args, optionsWith(options)),
    spawnServer: (args, options) => startServer(args, optionsWith(options)),
  };
}
