/** What is profiled: each misses an aim of `results.md`, or meets it by little. */
import { seriesPaths } from './series.js';
import { makeEvents, writeNdjson } from './support/events.js';
import { load } from './support/load.js';
import { type Bounds, rangesOf, toQueryString } from './support/ranges.js';
import { Database, projectId } from './support/service.js';
import { programOf, type Server, type Workspace } from './support/workspace.js';

export interface Subject {
  readonly what: string;
  /** Runs it with these options of Node's; gives from when on, in milliseconds after the process was started, it counts. */
  readonly run: (workspace: Workspace, nodeOptions: readonly string[]) => Promise<number>;
}

const events = 100_000;
const imported = 500_000;
const seconds = 6;
const warmUpSeconds = 2;
const singleConnections = 64;

/** A server under a load, once it is warm. */
function served(
  put: (server: Server, key: string, seconds: number, workspace: Workspace) => Promise<unknown>,
) {
  return async (workspace: Workspace, nodeOptions: readonly string[]): Promise<number> => {
    const database = await madeDatabase(workspace, events);
    const key = await database.createAdminKey();
    const startedAt = performance.now();
    const server = await database.serveWith(nodeOptions);
    await put(server, key, warmUpSeconds, workspace);
    const fromMs = performance.now() - startedAt;
    await put(server, key, seconds, workspace);
    await workspace.finish(server);
    return fromMs;
  };
}

async function madeDatabase(workspace: Workspace, lines: number): Promise<Database> {
  const database = await Database.create(workspace, 'profile');
  await database.importEvents(makeEvents(lines, 1), lines);
  return database;
}

const reading = (paths: readonly string[]) =>
  served((server, key, time) => load(server, paths, { authorization: `Bearer ${key}` }, time));

function exportPaths(bounds: Bounds): string[] {
  const path = `/v1/analytics/${projectId}/assistant/caller-stats`;
  return rangesOf(bounds).map((range) => `${path}?${toQueryString(range, bounds)}`);
}

export const SUBJECTS: Readonly<Record<string, Subject>> = {
  'export, whole days': {
    what: 'Answers of caller stats with bounds of whole days over HTTP.',
    run: reading(exportPaths('day')),
  },
  'export, milliseconds': {
    what: 'Answers of caller stats with bounds between milliseconds over HTTP.',
    run: reading(exportPaths('ms')),
  },
  'single queries': {
    what: `Recording one query a request over ${singleConnections} connections, each acknowledged on disk.`,
    run: served((server, key, time, workspace) =>
      workspace.run(process.execPath, [
        ...programOf('recording-load'),
        server.url,
        key,
        `${singleConnections}`,
        `${time}`,
      ]),
    ),
  },
  series: {
    what: 'Series of 365 local days, asked for again while nothing is recorded.',
    run: reading(seriesPaths().series),
  },
  start: {
    what: '`caller-stats serve`, from its start until it is ready.',
    run: async (workspace, nodeOptions) => {
      const database = await madeDatabase(workspace, events);
      const server = await database.serveWith(nodeOptions);
      await (await fetch(`${server.url}/readyz`)).arrayBuffer();
      await workspace.finish(server);
      return 0;
    },
  },
  import: {
    what: `\`caller-stats import\` of ${imported.toLocaleString('en-US')} lines of NDJSON.`,
    run: async (workspace, nodeOptions) => {
      const database = await Database.create(workspace, 'profile');
      const file = workspace.path('profile.ndjson');
      await writeNdjson(file, makeEvents(imported, 1));
      await database.importWith(nodeOptions, file);
      return 0;
    },
  },
};
