/** The profiled benchmarks: each misses a target of `results.md` or barely meets it. */
import { exportTimes } from './overload.js';
import { bytesOnDisk, bytesWritten, memory } from './profile-facts.js';
import { seriesPaths } from './series.js';
import { makeEvents, writeNdjson } from './support/events.js';
import { load } from './support/load.js';
import { type Bounds, rangesOf, toQueryString } from './support/ranges.js';
import { Database, projectId } from './support/service.js';
import { programOf, type Server, type Workspace } from './support/workspace.js';

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
  const args = [...programOf('recording-load'), url, key, `${singleConnections}`, `${time}`];
  return workspace.run(process.execPath, args);
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
    wouldTake:
      "To open SQLite's snapshot once a turn of the event loop and read its change counter (`during`) is the " +
      "largest part that the bare server does not have; the rest is the key's digest, the parameters, two " +
      "look-ups, headers and JSON, a few percent each. Sending (`writev`) is nearly half, and the bare server's " +
      "as well. At 0.75 all of ours would have to fit into a third of the bare answer's time; it takes half to four " +
      "fifths. It would take to know of commits without asking SQLite, which no other process's commit would pass " +
      'through, so that a count could be wrong; or parsing, counting and sending outside of JavaScript.',
  },
  'export, milliseconds': {
    what: 'Answers of caller stats with bounds between milliseconds over HTTP.',
    run: reading(exportPaths('ms')),
    wouldTake:
      'By the wall the aim is met, by processor time it is met or missed by a hundredth or two, as the machine has it. ' +
      'What comes on top of whole days is two or three look-ups at each end of the range in what is kept of its days ' +
      '(`#add`, `#within`, `addTo`), and reading the bounds to the millisecond. It would take the same as there.',
  },
  'single queries': {
    what: `Recording one query a request over ${singleConnections} connections, each acknowledged on disk.`,
    run: served(recording),
    wouldTake:
      "The writer's thread waits for the disk four fifths of its time and is not what limits: the main thread is. " +
      'Of its time a third is sockets, HTTP and the framework, which the echo has without the framework; a tenth ' +
      "each are the collector, the message to the writer's thread (`postMessage`), and reading key and project " +
      'again after each commit (`during`). It would take what exports have: recordings taken before the framework ' +
      'and read, checked and handed over together, once a turn of the event loop. That is a second way into ' +
      'recording, to be held to the first to the byte as `direct-export-law.test.ts` does.',
  },
  'export beside recording': {
    what: `A hundred exports a second beside as many single queries as ${singleConnections} connections can record.`,
    run: served((...load) => {
      const [server, key, time] = load;
      return Promise.all([recording(...load), exportTimes(server, key, time)]);
    }),
    wouldTake:
      'The p99 meets its aim; the median is three times that of an idle server, more or less as the machine has it: 1.5 ' +
      'milliseconds against 0.4. The main thread is busy with recordings four fifths of the time, and an ' +
      'export waits for those that came before it; of its own it takes next to nothing. It would take a process that ' +
      'answers exports alone, which `--workers` gives wherever there are cores for it.',
  },
  'random ids': {
    what: 'What recording arrays of 1,000 queries writes, with ids in the order of time and with random ones.',
    facts: bytesWritten,
    wouldTake:
      'A random id falls into a page of its own, so that each row writes a page of 4,096 bytes to the log, and ' +
      'later to the file. It would take to keep new ids apart and merge them in order (an LSM tree), where each ' +
      'repeat is looked for in several places, for ever. Ids in the order of time (UUIDv7) cost nothing, and are ' +
      'what the documentation asks for.',
  },
  series: {
    what: 'Series of 365 local days, asked for again while nothing is recorded.',
    run: reading(seriesPaths().series),
    wouldTake:
      'Met by the wall, missed by processor time. What is left is 365 buckets of 110 bytes: writing them as JSON ' +
      '(fastify, compilers, fast-json-stringify) is a third, laying their edges in the time zone and cutting them ' +
      'a quarter. To keep whole answers would help those who ask for the same range again and nobody else.',
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
      "The writer's thread is busy all the time. Two thirds of that is inserting rows and counters, where " +
      '`.import` has the rows alone; and each batch is on disk when it is reported. Meanwhile the main thread, ' +
      'which reads JSON and checks every field, is busy four fifths of the time. It would take to leave the ' +
      'counters out and count again at the end, during which counts would be late, and threads of their own for ' +
      'reading.',
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
      "Half is finding, reading and compiling 730 modules, in the writer's thread once more; a tenth is " +
      'registering a `405` for each of 34 methods on every path. A bundle of the server in few files was tried: 9 ' +
      'to 20 % less. It would hide from `npm audit` and from scanners what the server is made of, for a tenth of ' +
      'a second once in months, and was not kept. Of the rest, most is the framework and its plugins for the ' +
      "API's page, whose library for YAML alone is 72 modules. Node 22 can keep compiled modules " +
      '(`module.enableCompileCache`), Node 20 cannot.',
  },
  memory: {
    what: "The server's memory, from Node's diagnostic report.",
    facts: memory,
    wouldTake:
      'At rest the aim is met. Under load V8 lets the space for new objects grow to 16 MB twice over in each of ' +
      'two threads, and SQLite fills its caches (64 MB for reading, 128 MB for writing, at most). With ' +
      '`NODE_OPTIONS=--max-semi-space-size=2` it was 160 MB instead of 192, 1.6 times a bare Fastify, ' +
      'for more collections. It would take a smaller cache as well, which costs those who have large databases ' +
      'reads from the disk; `docs/reliability.md` has that nothing grows in an hour.',
  },
  'bytes on disk': {
    what: 'What each table takes of the file, its keys and free space included, from `dbstat`.',
    facts: bytesOnDisk,
    wouldTake:
      'At 1e7 queries a year the aim is met. With fewer, each query has a ten-second counter of its own besides ' +
      'the one of its millisecond, and those of its caller: at 1e6, 32 seconds lie between two of them. It would ' +
      'take to leave out counters that say no more than the narrower one below, which every count would then have ' +
      'to look for in both places.',
  },
  'two processes': {
    what: 'Exports from `serve --workers 2`: see “workers” in [results.md](results.md), where the generator has a row of its own.',
    wouldTake:
      'The processor time of an answer is the same in both: nothing is shared, and nothing waits. The generator ' +
      'takes half a core of the two, so that two processes have one and a half of what one process has: 1.5 is ' +
      'all that this machine can show. It would take a generator on another machine, or four cores.',
  },
};
