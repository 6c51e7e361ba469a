/**
 * The service on PostgreSQL with one to three nodes, compared with a hand-written server for the same job on the same
 * PostgreSQL server: reading and recording. All contestants take turns in every round, and each ratio uses two figures
 * of the same round.
 */
import { deepStrictEqual } from 'node:assert/strict';
import type { PostgresServer } from '../test/support/postgres/postgres-server.js';
import { type Contestant, type ContestOptions, hold, type Rounds } from './support/contest.js';
import { checkpoint, measureWal, readSize, readVersion, vacuum, withPostgres } from './support/postgres.js';
import { answersFigures, recordingFigures } from './support/postgres-figures.js';
import { BOUNDS } from './support/ranges.js';
import { type Ids, LiveTraffic } from './support/recording.js';
import { asPower, type Figure, type Report } from './support/report.js';
import { projectId } from './support/service.js';
import {
  buildPaths,
  nodesMax,
  requireSameAnswers,
  type Side,
  type Sides,
  startSides,
} from './support/sides.js';
import { send, type Target } from './support/traffic.js';
import type { Workspace } from './support/workspace.js';

export interface PostgresBenchOptions extends ContestOptions {
  /** Events in the largest databases. */
  readonly lines: number;
}

const readConnections = 12;
const batchConnections = 12;
const singleConnections = 64;
const batchQueries = 1000;
/** Queries over which the write-ahead log per query is averaged. */
const walArrays = 50;
const projects = Array.from({ length: 8 }, (_, index) => `bench-${index}`);

export function benchPostgres(workspace: Workspace, options: PostgresBenchOptions): Promise<Report> {
  return withPostgres((server) => compare(workspace, server, options));
}

async function compare(
  workspace: Workspace,
  server: PostgresServer,
  options: PostgresBenchOptions,
): Promise<Report> {
  const { lines, note } = options;
  const sizes = [lines / 100, lines / 10, lines];
  const all: Sides[] = [];
  for (const size of sizes) {
    note(`postgres: recording ${size} events on both sides`);
    const sides = await startSides(workspace, server, size);
    await requireSameAnswers(sides);
    all.push(sides);
  }
  await checkpoint(server);
  const say = (what: string) => ({ ...options, note: (line: string) => note(`postgres: ${what}, ${line}`) });
  const answers = await hold(all.flatMap(answering), say('answers'));
  const largest = all.at(-1);
  if (largest === undefined) throw new Error('there is nothing to record into');
  const { rounds, bytes, wal } = await record(server, largest, say('recording'));

  const figures = [
    answersFigures(answers, sizes),
    recordingFigures(rounds, batchQueries),
    storageFigures(largest, bytes, wal),
  ];
  return {
    name: 'postgres',
    method:
      `Caller stats on PostgreSQL ${await readVersion(server)} with 1 to ${nodesMax} nodes that share the load, compared with one hand-written process ` +
      'of Express 5 and `pg` (one table, an index that covers the count, `GROUP BY caller`) on the same PostgreSQL ' +
      `server, with the same key check and equal responses. Reads: 64 different ranges of about a year, ${readConnections} ` +
      `connections. Recording: live traffic of projects with 100 queries per second into databases of ${lines.toLocaleString('en-US')} events, each ` +
      `request acknowledged on disk (\`fsync=on\`), as arrays of ${batchQueries.toLocaleString('en-US')} over ${batchConnections} connections and as single queries over ` +
      `${singleConnections}. They alternate, about ${options.seconds} s each. Processor time is that of the service and of PostgreSQL together. All ` +
      'processes share the cores with the load generator.',
    ratios: figures.flatMap(({ ratios }) => ratios),
    absolutes: figures.flatMap(({ absolutes }) => absolutes),
  };
}

/** The first nodes of a target. */
function first(nodes: number, target: Target): Target {
  return { ...target, servers: target.servers.slice(0, nodes) };
}

/** One to three nodes of the service, and the hand-written server. */
function createContestants(
  what: string,
  connections: number,
  { ours, theirs }: Sides,
  next: (side: Side) => Contestant['next'],
): Contestant[] {
  const nodes = Array.from({ length: nodesMax }, (_, index) => index + 1);
  return [
    ...nodes.map((count) => ({
      name: `${what}: ${count === 1 ? '1 node' : `${count} nodes`}`,
      target: first(count, ours.target),
      connections,
      next: next(ours),
    })),
    { name: `${what}: hand-written`, target: theirs.target, connections, next: next(theirs) },
  ];
}

function answering(sides: Sides): Contestant[] {
  return BOUNDS.flatMap((bounds) => {
    const paths = buildPaths(bounds);
    return createContestants(`${sides.size} ${bounds}`, readConnections, sides, () => {
      let asked = 0;
      return () => ({ method: 'GET', path: paths[asked++ % paths.length] ?? '' });
    });
  });
}

/** Records live traffic in every way and checks that everything was counted. */
async function record(
  server: PostgresServer,
  sides: Sides,
  options: ContestOptions,
): Promise<{ rounds: Rounds; bytes: Sides['bytes']; wal: Sides['bytes'] }> {
  for (const id of projects) await sides.database.createProject(id);
  const traffic = { ours: new LiveTraffic(), theirs: new LiveTraffic() };
  const selectTraffic = (side: Side): LiveTraffic => (side === sides.ours ? traffic.ours : traffic.theirs);
  const recording = (what: string, connections: number, into: readonly string[], ids: Ids, queries: number) =>
    createContestants(what, connections, sides, (side) => {
      return () => selectTraffic(side).next(into, ids, queries);
    });
  const arrays = (['ordered', 'random'] as const).flatMap((ids) => [
    ...recording(`arrays ${ids} 1`, batchConnections, [projectId], ids, batchQueries),
    ...recording(`arrays ${ids} ${projects.length}`, batchConnections, projects, ids, batchQueries),
  ]);
  const singles = recording('single ordered 1', singleConnections, [projectId], 'ordered', 1);
  const rounds = await hold([...arrays, ...singles], options);

  const logged = async (side: Side): Promise<number> => {
    const next = () => selectTraffic(side).next([projectId], 'ordered', batchQueries);
    const one = first(1, side.target);
    const bytes = await measureWal(server, () => send(one, next, { amount: walArrays, connections: 1 }));
    return bytes / (walArrays * batchQueries);
  };
  const wal = { ours: await logged(sides.ours), theirs: await logged(sides.theirs) };

  const added = async (side: Side, before: number): Promise<number> => {
    const { sent } = selectTraffic(side);
    await vacuum(side.url);
    const { rows, bytes } = await readSize(side.url, side.tables);
    deepStrictEqual(rows, sides.size + sent, 'every query is there once');
    return (bytes - before * sides.size) / sent;
  };
  const bytes = {
    ours: await added(sides.ours, sides.bytes.ours),
    theirs: await added(sides.theirs, sides.bytes.theirs),
  };
  await sides.database.verify();
  await checkpoint(server);
  return { rounds, bytes, wal };
}

function storageFigures(
  { size, bytes, importSeconds, verifySeconds }: Sides,
  live: Sides['bytes'],
  wal: Sides['bytes'],
): { ratios: Figure[]; absolutes: Figure[] } {
  const sparse = `a query of ${asPower(size)} in a year`;
  const dense = 'a query of a project of 100 a second';
  return {
    ratios: [
      { what: `bytes on disk, ours over hand-written: ${sparse}`, values: [bytes.ours / bytes.theirs] },
      { what: `bytes on disk, ours over hand-written: ${dense}`, values: [live.ours / live.theirs] },
    ],
    absolutes: [
      { what: `bytes on disk, ours: ${sparse}`, unit: 'bytes', values: [bytes.ours] },
      { what: `bytes on disk, hand-written: ${sparse}`, unit: 'bytes', values: [bytes.theirs] },
      { what: `bytes on disk, ours: ${dense}`, unit: 'bytes', values: [live.ours] },
      { what: `bytes on disk, hand-written: ${dense}`, unit: 'bytes', values: [live.theirs] },
      { what: `write-ahead log, ours: ${dense}`, unit: 'bytes', values: [wal.ours] },
      { what: `write-ahead log, hand-written: ${dense}`, unit: 'bytes', values: [wal.theirs] },
      { what: `import of ${size} events`, unit: 'rows/s', values: [size / importSeconds] },
      { what: `verify of ${size} events`, unit: 's', values: [verifySeconds] },
    ],
  };
}
