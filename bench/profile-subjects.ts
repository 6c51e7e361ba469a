/** The profiled benchmarks: each misses a target of `results.md` or barely meets it. */
import { exportTimes } from './overload.js';
import { bytesOnDisk, bytesWritten, memory } from './profile-facts.js';
import { seriesPaths } from './series.js';
import { makeEvents, writeNdjson } from './support/events.js';
import { load } from './support/load.js';
import { type Bounds, makeRanges, toQueryString } from './support/ranges.js';
import { Database, projectId } from './support/service.js';
import { programArguments, type Server, type Workspace } from './support/workspace.js';

export interface Subject {
  readonly what: string;
  /**
   * Runs it with these Node options. Returns the start of the measurement, in milliseconds after the start of the
   * process.
   */
  readonly run?: (workspace: Workspace, nodeOptions: readonly string[]) => Promise<number>;
  /** Measures something other than processor time. */
  readonly facts?: (workspace: Workspace) => Promise<readonly string[]>;
  /** Two sentences: why it is slow, and what would be needed to meet the target. */
  readonly wouldTake: string;
}

const events = 100_000;
const imported = 500_000;
const seconds = 6;
const warmUpSeconds = 2;
const singleConnections = 64;

/** A server under load after warming up. */
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

function recording({ url }: Server, key: string, time: number, workspace: Workspace): Promise<unknown> {
  const args = [...programArguments('recording-load'), url, key, `${singleConnections}`, `${time}`];
  return workspace.run(process.execPath, args);
}

const reading = (paths: readonly string[]) =>
  served((server, key, time) => load(server, paths, { authorization: `Bearer ${key}` }, time));

function exportPaths(bounds: Bounds): string[] {
  const path = `/v1/analytics/${projectId}/assistant/caller-stats`;
  return makeRanges(bounds).map((range) => `${path}?${toQueryString(range, bounds)}`);
}

export const SUBJECTS: Readonly<Record<string, Subject>> = {
  'export, whole days': {
    what: 'Caller stats over HTTP, with bounds of whole days.',
    run: reading(exportPaths('day')),
    wouldTake:
      'The target is met: an answer takes 12.4 µs of processor time where the bare server with the same ' +
      'headers takes 11.1, and the SQLite snapshot that shows whether anything was recorded is most of the ' +
      'rest. The seven security headers take 1.5 of both: a bare server without them takes 9.6.',
  },
  'export, milliseconds': {
    what: 'Caller stats over HTTP, with bounds in milliseconds.',
    run: reading(exportPaths('ms')),
    wouldTake:
      'The target is met but for ten connections and ten million queries: each end of the range needs two or ' +
      'three more look-ups in the cached rollups of its day, which has 27,000 queries then. Smaller rollups, ' +
      'which the processor could keep closer, might meet it; that was not tried.',
  },
  'single queries': {
    what: `Recording one query per request over ${singleConnections} connections, each acknowledged on disk.`,
    run: served(recording),
    wouldTake:
      'A recording takes 46 µs of the main thread, 20 of the writer and 34 of the load generator, all in many ' +
      'small parts, and as these three share two cores, the writer waits for one of them as long as it works. ' +
      'A path around the framework would save 5 µs; one message for all recordings of a commit gained 2 to ' +
      '5 %, and other sizes of portions and commits nothing: commits of at most 12 cost a third more.',
  },
  'export beside recording': {
    what: `100 exports per second while ${singleConnections} connections record as many single queries as they can.`,
    run: served((...load) => {
      const [server, key, time] = load;
      return Promise.all([recording(...load), exportTimes(server, key, time)]);
    }),
    wouldTake:
      'An export waits for the recordings before it, at most one portion of 16 at a time, and takes 0.5 ms ' +
      'instead of 0.16 ms in the median. A separate process for exports would not wait, which `--workers` ' +
      'provides if there are enough cores.',
  },
  'random ids': {
    what: 'Bytes written when recording arrays of 1,000 queries, with ids in time order and with random ids.',
    facts: bytesWritten,
    wouldTake:
      'Each random id is in another page, so each row writes a page of 4,096 bytes to the log and later to ' +
      'the file; there is no target for this. Writing less needs new ids that are stored apart and merged ' +
      'in order (an LSM tree), with several places to search for each duplicate; ids in time order (UUIDv7) ' +
      'avoid the cost.',
  },
  series: {
    what: 'Series of 365 local days, requested again while nothing is recorded.',
    run: reading(seriesPaths().series),
    wouldTake:
      'The target is met, because the text is kept until anything is committed: what remains is a request ' +
      'of the framework and sending 42,000 bytes. Just after a recording, a third of a series is JSON, and ' +
      'the rest finding the edges of its buckets in the time zone, counting them and formatting their times.',
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
    wouldTake:
      'The writer thread is always busy: it inserts rows and counters, each batch durable before it is ' +
      'reported, while `.import` inserts only rows in one transaction; the import would have to leave out ' +
      'the counters and count again at the end, and parse on more threads. Lines in random order write most ' +
      'pages again in each commit of 30,000; larger ones would write less, and exceed the target for memory ' +
      'further, because the objects of a batch outlive the collections of young objects and wait for a full ' +
      'one.',
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
    wouldTake:
      'The target is met with the certificates of this machine, which take 35 ms of both sides: Node itself ' +
      'takes a quarter, reading and compiling the bundle a third, and the rest is preparing routes and the ' +
      'database while a second thread starts. A snapshot of the started program would avoid it, but Node ' +
      'cannot take one of programs with native modules and threads.',
  },
  memory: {
    what: "The server's memory, from Node's diagnostic report.",
    facts: memory,
    wouldTake:
      'The targets are met; under load V8 lets the spaces for young objects of two threads grow by 36 MB. ' +
      'Smaller spaces saved 8 MB for a twentieth of the arrays per second, or nothing, because more objects ' +
      'grew old.',
  },
  'bytes on disk': {
    what: 'The size of each table in the file, including keys and free space, from `dbstat`.',
    facts: bytesOnDisk,
    wouldTake:
      'With fewer than 1e7 queries a year, most queries have a ten-second counter of their own beside that ' +
      'of their millisecond and those of their callers. Leaving out counters that equal the next narrower ' +
      'one would make each count search both levels.',
  },
  'two processes': {
    what: 'Exports from `serve --workers 2`: see “workers” in [results.md](results.md), which has a separate row for the load generator.',
    wouldTake:
      'A response takes about the same processor time in both, for the processes share nothing and do not ' +
      'wait for each other. Beside two of them the load generator takes 0.94 of one of the two cores, so it is ' +
      'the limit on this machine.',
  },
};
