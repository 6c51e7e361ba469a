/** Folders with a database in them for the program to work on. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import {
  type CliOptions,
  type Outcome,
  type RunOptions,
  runCli,
  type Server,
  spawnCli,
  startServer,
} from './cli.js';
import { sampleFile } from './sample.js';
import { withFile } from './sqlite-file.js';

/** The one project of a prepared place. */
export const project = 'docs';

/** A folder of the test's own, its database, and the program run with both. */
export interface Place {
  readonly folder: string;
  readonly database: string;
  readonly env: Readonly<Record<string, string>>;
  readonly path: (name: string) => string;
  /** Runs a command inside the test's process, in the folder. */
  readonly run: (args: readonly string[], options?: CliOptions) => Promise<Outcome>;
  /** Runs a command as a process of its own, in the folder. */
  readonly spawn: (args: readonly string[], options?: RunOptions) => Promise<Outcome>;
  readonly serve: (args?: readonly string[], options?: RunOptions) => Promise<Server>;
}

/** Nothing is there yet, not even the database. */
export async function emptyPlace(): Promise<Place> {
  return placeIn(await newFolder());
}

/** The database has one project, `docs`, and nothing in it. */
export function placeWithProject(): Promise<Place> {
  return copyOf('project', async (place) => {
    await succeed(place.run(['project', 'create', 'Docs', '--id', project]));
  });
}

/** The database has the sample's events in its project `docs`. */
export function placeWithSample(): Promise<Place> {
  return copyOf('sample', async (place) => {
    await succeed(place.run(['project', 'create', 'Docs', '--id', project]));
    await succeed(place.run(['import', sampleFile, '--project', project]));
  });
}

/** Makes a key with the program and gives it. */
export async function makeKey(place: Place, type: 'admin' | 'recording'): Promise<string> {
  const bound = type === 'recording' ? ['--project', project] : [];
  const made = await succeed(
    place.run(['key', 'create', '--name', `A ${type} key`, '--type', type, ...bound]),
  );
  return made.stdout.trim();
}

/** Waits for a run that must end well. */
export async function succeed(run: Promise<Outcome>): Promise<Outcome> {
  const outcome = await run;
  expect(outcome).toMatchObject({ status: 0 });
  return outcome;
}

/** Changes the database by hand, past the program. */
export function alter(place: Pick<Place, 'database'>, sql: string): void {
  withFile(place.database, (db) => db.exec(sql));
}

/** The first row of what a statement gives on the database, read past the program. */
export function firstRow(place: Pick<Place, 'database'>, sql: string): Record<string, unknown> {
  return withFile(place.database, (db) => db.prepare(sql).get() as Record<string, unknown>);
}

/** How many queries are on disk, and how many the widest counters say: one number where the two agree. */
export function recordedIn(place: Pick<Place, 'database'>): number {
  const row = firstRow(
    place,
    `SELECT (SELECT count(*) FROM query) AS queries,
       (SELECT coalesce(sum(web + api + other), 0) FROM type_counter
        WHERE level = (SELECT max(level) FROM type_counter)) AS counted`,
  );
  expect(row['counted']).toBe(row['queries']);
  return Number(row['queries']);
}

/** Holds all places of a test file: of tests that run side by side, none knows when it ends. */
let root: Promise<string> | undefined;

/** Prepared once for each test file, then copied. */
const templates = new Map<string, Promise<Place>>();

afterAll(async () => {
  if (root !== undefined) await rm(await root, { recursive: true });
  root = undefined;
  templates.clear();
});

async function newFolder(): Promise<string> {
  root ??= mkdtemp(join(tmpdir(), 'caller-stats-cli-'));
  return mkdtemp(join(await root, 'place-'));
}

/** A copy of what `prepare` makes, once in each test file, of an empty place. */
export async function copyOf(name: string, prepare: (place: Place) => Promise<unknown>): Promise<Place> {
  // Processes end with everything closed, so the copies are whole.
  const make = async () => {
    const place = await emptyPlace();
    await prepare({ ...place, run: place.spawn });
    return place;
  };
  const template = templates.get(name) ?? make();
  templates.set(name, template);
  const folder = await newFolder();
  await cp((await template).folder, folder, { recursive: true });
  return placeIn(folder);
}

function placeIn(folder: string): Place {
  const database = join(folder, 'caller-stats.db');
  const env = { DATABASE_URL: `sqlite:${database}` };
  const optionsWith = (options: RunOptions = {}) => ({
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
    serve: (args, options) => startServer(args, optionsWith(options)),
  };
}
