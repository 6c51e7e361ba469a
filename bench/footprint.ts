/** Resource usage: bytes on disk per query, start time and memory. */
import { once } from 'node:events';
import { residentBytesOf } from '../test/support/resident-memory.js';
import { bigDatabase } from './support/big.js';
import { makeEvents } from './support/events.js';
import { load } from './support/load.js';
import { makeRanges, toQueryString } from './support/ranges.js';
import { LiveTraffic } from './support/recording.js';
import { asPower, type Figure, type Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { sendMade } from './support/traffic.js';
import { programArguments, type Server, type Workspace } from './support/workspace.js';

export interface FootprintOptions {
  readonly rounds: number;
  /** Seconds of load before memory is measured again. */
  readonly seconds: number;
  /** Of the largest database. */
  readonly lines: number;
  readonly note: (line: string) => void;
}

const few = 10_000;
/** An id of 16 bytes and a time of 8 bytes: the minimum information of a query. */
const leastBytes = 24;

const aimBytes = 3;
const aimStart = 4;
const aimMemory = 1.5;

const recordings = 200;
const queriesInArray = 1_000;
const connections = 4;

interface Starts {
  readonly node: number[];
  readonly few: number[];
  readonly most: number[];
}

interface Memory {
  readonly rest: number[];
  readonly loaded: number[];
}

export async function benchFootprint(workspace: Workspace, options: FootprintOptions): Promise<Report> {
  const { lines, note } = options;
  const big = await bigDatabase(workspace, { lines, note: (line) => note(`footprint: ${line}`) });
  const small = await Database.create(workspace, 'footprint');
  await small.importEvents(makeEvents(few, few), few);
  const starts = await measureStarts(workspace, { few: small, most: big.database }, options);
  const memory = await measureMemory(workspace, small, options);
  const over = (ours: readonly number[], others: readonly number[]): number[] =>
    ours.map((value, round) => value / (others[round] ?? Number.NaN));
  const figures: readonly Figure[] = [
    {
      what: `bytes on disk per query, ${asPower(lines)} queries, over an id of 16 bytes and a time of 8`,
      values: [big.bytesPerQuery / leastBytes],
      atMost: aimBytes,
    },
    ...(['few', 'most'] as const).map((size) => ({
      what: `start to ready, ${asPower(size === 'few' ? few : lines)} queries, over \`node -e 0\``,
      values: over(starts[size], starts.node),
      atMost: aimStart,
    })),
    {
      what: 'resident memory at rest over bare Fastify',
      values: over(memory.ours.rest, memory.bare.rest),
      atMost: aimMemory,
    },
    {
      what: `resident memory after ${options.seconds} s of load over bare Fastify`,
      values: over(memory.ours.loaded, memory.bare.loaded),
      atMost: aimMemory,
    },
  ];
  const megabytes = (values: readonly number[]): number[] => values.map((bytes) => bytes / 1e6);
  const absolutes: readonly Figure[] = [
    { what: 'bytes on disk per query', unit: 'bytes', values: [big.bytesPerQuery] },
    { what: '`node -e 0`', unit: 'ms', values: starts.node },
    { what: `start to ready, ${asPower(few)} queries`, unit: 'ms', values: starts.few },
    { what: `start to ready, ${asPower(lines)} queries`, unit: 'ms', values: starts.most },
    { what: 'bare Fastify at rest', unit: 'MB', values: megabytes(memory.bare.rest) },
    { what: 'bare Fastify after load', unit: 'MB', values: megabytes(memory.bare.loaded) },
    { what: 'caller-stats at rest', unit: 'MB', values: megabytes(memory.ours.rest) },
    { what: 'caller-stats after load', unit: 'MB', values: megabytes(memory.ours.loaded) },
  ];
  return {
    name: 'footprint',
    method:
      'The size of the file with its counters, directly after an import. The time from the start of `caller-stats ' +
      'serve` until `/readyz` responds with 200, alternating with `node -e 0` from start to exit. The resident memory ' +
      `of the server when it is ready, and after ${options.seconds} s of exports and ${(recordings * queriesInArray).toLocaleString('en-US')} recorded queries, compared with a Fastify ` +
      'server with one route, when it is ready and after as many seconds of requests. For memory after an hour of load ' +
      'see `npm run soak` in docs/reference/reliability.md.',
    ratios: figures,
    absolutes,
  };
}

async function measureStarts(
  workspace: Workspace,
  databases: { readonly few: Database; readonly most: Database },
  { rounds, note }: FootprintOptions,
): Promise<Starts> {
  const starts: Starts = { node: [], few: [], most: [] };
  // Round 0 reads the files once and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(`footprint: starts, ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    const node = (await workspace.run(process.execPath, ['-e', '0'])).seconds * 1000;
    if (round > 0) starts.node.push(node);
    for (const size of ['few', 'most'] as const) {
      const tookMs = await workspace.msUntilReady(() => databases[size].serve());
      if (round > 0) starts[size].push(tookMs);
    }
  }
  return starts;
}

async function measureMemory(
  workspace: Workspace,
  database: Database,
  { rounds, seconds, note }: FootprintOptions,
): Promise<{ readonly ours: Memory; readonly bare: Memory }> {
  const memory = { ours: { rest: [], loaded: [] }, bare: { rest: [], loaded: [] } } as {
    readonly ours: Memory;
    readonly bare: Memory;
  };
  const authorization = `Bearer ${await database.createAdminKey()}`;
  const paths = makeRanges('ms').map(
    (range) => `/v1/analytics/${projectId}/assistant/caller-stats?${toQueryString(range, 'ms')}`,
  );
  const traffic = new LiveTraffic();
  for (let round = 1; round <= rounds; round++) {
    note(`footprint: memory, round ${round} of ${rounds}`);
    const bare = await workspace.start(programArguments('bare-fastify'));
    await lookAt(memory.bare, bare, () => load(bare, ['/'], {}, seconds));
    const ours = await database.serve();
    await lookAt(memory.ours, ours, async () => {
      await load(ours, paths, { authorization }, seconds);
      const target = { servers: [ours], headers: { authorization, 'content-type': 'application/json' } };
      await sendMade(target, recordings, connections, () =>
        traffic.next([projectId], 'ordered', queriesInArray),
      );
    });
    await workspace.stop();
  }
  return memory;
}

/** Measured shortly after the server is ready, when the allocations of the start are over, and after the load. */
async function lookAt(memory: Memory, server: Server, work: () => Promise<unknown>): Promise<void> {
  await once(AbortSignal.timeout(restMs), 'abort');
  memory.rest.push(residentBytesOf(server.pid) ?? Number.NaN);
  await work();
  await once(AbortSignal.timeout(restMs), 'abort');
  memory.loaded.push(residentBytesOf(server.pid) ?? Number.NaN);
}

const restMs = 500;
