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
  /** A written analysis: why it is slow, and what would be needed to meet the target. */
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
      'Most of the time that a bare server does not need goes into `ReadSnapshot.run`, which opens a SQLite ' +
      "snapshot once per turn of the event loop and reads SQLite's change counter. The rest is the hash of the key, " +
      'the parameters, two look-ups, headers and JSON, a few percent each. Sending (`writev`) takes nearly half of ' +
      'the time, as on the bare server. For a ratio of 0.75 all our own work would have to fit into a third of the ' +
      'time of a bare response; it takes half to four fifths. To meet the target, the server would have to learn of ' +
      'commits without asking SQLite, which would miss commits of other processes and return wrong counts, or ' +
      'parse, count and send outside of JavaScript.',
  },
  'export, milliseconds': {
    what: 'Caller stats over HTTP, with bounds in milliseconds.',
    run: reading(exportPaths('ms')),
    wouldTake:
      'The target is met by wall-clock time; by processor time it is met or missed by one or two hundredths, ' +
      'depending on the machine. Compared with whole days, each end of the range needs two or three more look-ups ' +
      'in the cached rollups of its day, and the bounds are parsed to the millisecond. Otherwise the same as above ' +
      'applies.',
  },
  'single queries': {
    what: `Recording one query per request over ${singleConnections} connections, each acknowledged on disk.`,
    run: served(recording),
    wouldTake:
      'The writer thread waits for the disk four fifths of its time, so the main thread is the limit. A third of ' +
      'its time is sockets, HTTP and the framework; the echo server has no framework. The garbage collector, the ' +
      'message to the writer thread (`postMessage`), and reading key and project again after each commit take a ' +
      'tenth each. To meet the target, recordings would need what exports have: handling before the framework, in ' +
      'batches per turn of the event loop. That would be a second code path for recording, which a test like ' +
      '`direct-export-law.test.ts` would have to compare with the first one byte by byte.',
  },
  'export beside recording': {
    what: `100 exports per second while ${singleConnections} connections record as many single queries as they can.`,
    run: served((...load) => {
      const [server, key, time] = load;
      return Promise.all([recording(...load), exportTimes(server, key, time)]);
    }),
    wouldTake:
      'The p99 meets its target. The median is about three times that of an idle server, depending on the machine: ' +
      '1.5 milliseconds instead of 0.4. The main thread is busy with recordings four fifths of the time, and an ' +
      'export waits for those before it; its own work takes almost no time. To meet the target, a separate process ' +
      'would have to answer exports, which `--workers` provides if there are enough cores.',
  },
  'random ids': {
    what: 'Bytes written when recording arrays of 1,000 queries, with ids in time order and with random ids.',
    facts: bytesWritten,
    wouldTake:
      'Each random id is stored in a different page, so each row writes a page of 4,096 bytes to the log, and later ' +
      'to the file. To meet the target, new ids would have to be stored separately and merged in order (an LSM ' +
      'tree), and each duplicate check would have to search several places from then on. Ids in time order (UUIDv7) ' +
      'avoid the cost, and the documentation recommends them.',
  },
  series: {
    what: 'Series of 365 local days, requested again while nothing is recorded.',
    run: reading(seriesPaths().series),
    wouldTake:
      'The target is met by wall-clock time and missed by processor time. The remaining work is 365 buckets of 110 ' +
      'bytes: writing them as JSON (fastify, compilers, fast-json-stringify) takes a third, finding their edges in ' +
      'the time zone a quarter. A cache of whole responses would help only clients that ask for the same range ' +
      'again.',
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
      'The writer thread is always busy. It spends two thirds of its time on inserting rows and counters, while ' +
      '`.import` inserts only rows; and each batch is on disk before it is reported. Meanwhile the main thread, ' +
      'which parses JSON and checks every field, is busy four fifths of the time. To meet the target, the import ' +
      'would have to leave out the counters and recount at the end, during which counts would be outdated, and it ' +
      'would need more threads for parsing.',
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
      'Half of the time is finding, reading and compiling 730 modules, some of them again in the writer thread; a ' +
      'tenth is registering a `405` response for each of 34 methods on every path. A bundle of the server in a few ' +
      "files was 9 to 20 % faster. It was rejected because it would hide the server's dependencies from `npm audit` " +
      'and from scanners, to save a tenth of a second at each start. Most of the rest is the framework and its ' +
      'plugins for the API page; its YAML library alone has 72 modules. Node 22 can cache compiled modules ' +
      '(`module.enableCompileCache`), Node 20 cannot.',
  },
  memory: {
    what: "The server's memory, from Node's diagnostic report.",
    facts: memory,
    wouldTake:
      'At rest the target is met. Under load V8 lets the space for new objects grow to twice 16 MB in each of two ' +
      'threads, and SQLite fills its caches (at most 64 MB for reading and 128 MB for writing). With ' +
      '`NODE_OPTIONS=--max-semi-space-size=2` the server needed 160 MB instead of 192, 1.6 times as much as a bare ' +
      'Fastify, at the price of more garbage collections. To meet the target, the caches would have to be smaller ' +
      'as well, which would cost large databases more disk reads. `docs/reference/reliability.md` shows that memory does not ' +
      'grow within an hour.',
  },
  'bytes on disk': {
    what: 'The size of each table in the file, including keys and free space, from `dbstat`.',
    facts: bytesOnDisk,
    wouldTake:
      'At 1e7 queries a year the target is met. With fewer queries, most have a ten-second counter of their own in ' +
      'addition to the counter of their millisecond, and to those of their callers: at 1e6, two queries are 32 ' +
      'seconds apart. To meet the target, counters with the same value as the next narrower one would have to be ' +
      'left out, and every count would have to search both levels.',
  },
  'two processes': {
    what: 'Exports from `serve --workers 2`: see “workers” in [results.md](results.md), which has a separate row for the load generator.',
    wouldTake:
      'A response takes the same processor time in both: the processes share nothing and do not wait for each ' +
      'other. The load generator takes half of one of the two cores, so two processes have one and a half times as ' +
      'much processor time as one process: 1.5 is the maximum on this machine. To meet the target, the generator ' +
      'would have to run on another machine, or on a machine with four cores.',
  },
};
