/**
 * The service on PostgreSQL with one to three nodes: reading and recording. All contestants take turns in every round, and
 * each ratio uses two figures of the same round.
 */
import { deepStrictEqual } from 'node:assert/strict';
import type { PostgresServer } from '../test/support/postgres/postgres-server.js';
import { toColumns } from './support/columns.js';
import { type Contestant, type ContestOptions, hold, type Rounds } from './support/contest.js';
import { makeEvents } from './support/events.js';
import {
  checkpoint,
  createDatabase,
  measureWal,
  readSize,
  readVersion,
  vacuum,
  withPostgres,
} from './support/postgres.js';
import { answersFigures, NODES, recordingFigures } from './support/postgres-figures.js';
import { BOUNDS, type Bounds, makeRanges, recount, toQueryString } from './support/ranges.js';
import { type Ids, LiveTraffic } from './support/recording.js';
import { asPower, type Figure, type Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { send, type Target } from './support/traffic.js';
import type { Workspace } from './support/workspace.js';

export interface PostgresBenchOptions extends ContestOptions {
  /** Events in the largest database. */
  readonly lines: number;
}

const readConnections = 12;
const batchConnections = 12;
const singleConnections = 64;
const batchQueries = 1000;
/** Arrays over which the write-ahead log per query is averaged. */
const walArrays = 50;
const projects = Array.from({ length: 8 }, (_, index) => `bench-${index}`);

/** The tables with queries and counters; the queries first. */
const TABLES = [
  'caller_stats.query',
  'caller_stats.caller_type_counter',
  'caller_stats.caller_counter',
] as const;

/** The nodes on one database of `size` events. */
interface Side {
  readonly size: number;
  readonly database: Database;
  readonly url: string;
  /** All nodes. */
  readonly target: Target;
  /** On disk per query, freshly loaded and vacuumed. */
  readonly bytes: number;
  readonly importSeconds: number;
  readonly verifySeconds: number;
}

export function benchPostgres(workspace: Workspace, options: PostgresBenchOptions): Promise<Report> {
  return withPostgres((server) => compare(workspace, server, options));
}

async function compare(
  workspace: Workspace,
  server: PostgresServer,
  options: PostgresBenchOptions,
): Promise<Report> {
  const { lines, note } = options;
  note(`postgres: recording ${lines / 100} and ${lines} events`);
  const small = await startSide(workspace, server, lines / 100);
  const large = await startSide(workspace, server, lines);
  await checkpoint(server);
  const say = (what: string) => ({ ...options, note: (line: string) => note(`postgres: ${what}, ${line}`) });
  const answers = await hold([small, large].flatMap(answering), say('answers'));
  const { rounds, bytes, wal } = await record(server, large, say('recording'));
  const figures = [answersFigures(answers, [small.size, large.size]), recordingFigures(rounds, batchQueries)];
  return {
    name: 'postgres',
    method:
      `Caller stats on PostgreSQL ${await readVersion(server)} with 1 to ${NODES.length} nodes that share the load. Reads: different ranges of about a year, ` +
      `${readConnections} connections. Recording: live traffic of projects with 100 queries per second into a database of ${lines.toLocaleString('en-US')} events, each ` +
      `request acknowledged on disk (\`fsync=on\`), as arrays of ${batchQueries.toLocaleString('en-US')} over ${batchConnections} connections and as single queries over ` +
      `${singleConnections}. They alternate, about ${options.seconds} s each. Processor time is that of the service and of PostgreSQL together. All ` +
      'processes share the cores with the load generator.',
    ratios: figures.flatMap(({ ratios }) => ratios),
    absolutes: [...figures.flatMap(({ absolutes }) => absolutes), ...storageFigures(large, bytes, wal)],
  };
}

/** Starts the nodes on a new database, whose answers have been compared with a recount. */
async function startSide(workspace: Workspace, server: PostgresServer, size: number): Promise<Side> {
  const url = await createDatabase(server, `size_${size}`);
  const database = await Database.create(workspace, `size-${size}`, url);
  const importSeconds = await database.importEvents(makeEvents(size, size), size);
  const key = await database.createAdminKey();
  await vacuum(url);
  const verifySeconds = await database.verify();
  const { rows, bytes } = await readSize(url, TABLES);
  const target = {
    servers: await Promise.all(NODES.map(() => database.serve())),
    databasePid: server.pid,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  };
  await requireRightAnswers(target, size);
  return { size, database, url, target, bytes: bytes / rows, importSeconds, verifySeconds };
}

async function requireRightAnswers({ servers, headers }: Target, size: number): Promise<void> {
  const events = toColumns(makeEvents(size, size), size);
  for (const bounds of BOUNDS) {
    const expected = recount(events, makeRanges(bounds));
    if (bounds === 'day') deepStrictEqual(expected[0]?.total, size);
    for (const [index, path] of buildPaths(bounds).entries()) {
      for (const { url } of servers) {
        const response = await fetch(url + path, { headers });
        deepStrictEqual(await response.json(), expected[index], `${size} events, ${url}${path}`);
      }
    }
  }
}

function buildPaths(bounds: Bounds): string[] {
  return makeRanges(bounds).map(
    (range) => `/v1/analytics/${projectId}/assistant/caller-stats?${toQueryString(range, bounds)}`,
  );
}

/** The first nodes of a target. */
function first(nodes: number, target: Target): Target {
  return { ...target, servers: target.servers.slice(0, nodes) };
}

/** One node, two and three. */
function createContestants(
  what: string,
  connections: number,
  { target }: Side,
  next: () => Contestant['next'],
): Contestant[] {
  return NODES.map((name, at) => ({
    name: `${what}: ${name}`,
    target: first(at + 1, target),
    connections,
    next: next(),
  }));
}

function answering(side: Side): Contestant[] {
  return BOUNDS.flatMap((bounds) => {
    const paths = buildPaths(bounds);
    return createContestants(`${side.size} ${bounds}`, readConnections, side, () => {
      let asked = 0;
      return () => ({ method: 'GET', path: paths[asked++ % paths.length] ?? '' });
    });
  });
}

/** Records live traffic in every way and checks that everything was counted. Returns the bytes of each query. */
async function record(
  server: PostgresServer,
  side: Side,
  options: ContestOptions,
): Promise<{ rounds: Rounds; bytes: number; wal: number }> {
  for (const id of projects) await side.database.createProject(id);
  const traffic = new LiveTraffic();
  const recording = (what: string, connections: number, into: readonly string[], ids: Ids, queries: number) =>
    createContestants(what, connections, side, () => () => traffic.next(into, ids, queries));
  const arrays = (['ordered', 'random'] as const).flatMap((ids) => [
    ...recording(`arrays ${ids} 1`, batchConnections, [projectId], ids, batchQueries),
    ...recording(`arrays ${ids} ${projects.length}`, batchConnections, projects, ids, batchQueries),
  ]);
  const singles = recording('single ordered 1', singleConnections, [projectId], 'ordered', 1);
  const rounds = await hold([...arrays, ...singles], options);

  const next = () => traffic.next([projectId], 'ordered', batchQueries);
  const one = first(1, side.target);
  const wal = await measureWal(server, () => send(one, next, { amount: walArrays, connections: 1 }));
  await vacuum(side.url);
  const { rows, bytes } = await readSize(side.url, TABLES);
  deepStrictEqual(rows, side.size + traffic.sent, 'every query is there once');
  await side.database.verify();
  await checkpoint(server);
  return {
    rounds,
    bytes: (bytes - side.bytes * side.size) / traffic.sent,
    wal: wal / (walArrays * batchQueries),
  };
}

function storageFigures(
  { size, bytes, importSeconds, verifySeconds }: Side,
  liveBytes: number,
  wal: number,
): Figure[] {
  const sparse = `a query of ${asPower(size)} in a year`;
  const dense = 'a query of a project of 100 a second';
  return [
    { what: `bytes on disk: ${sparse}`, unit: 'bytes', values: [bytes] },
    { what: `bytes on disk: ${dense}`, unit: 'bytes', values: [liveBytes] },
    { what: `write-ahead log: ${dense}`, unit: 'bytes', values: [wal] },
    { what: `import of ${size} events`, unit: 'rows/s', values: [size / importSeconds] },
    { what: `verify of ${size} events`, unit: 's', values: [verifySeconds] },
  ];
}
