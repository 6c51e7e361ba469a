/**
 * The main operation of the service over HTTP, compared with a bare `node:http` server that sends the same bytes. All
 * contestants take turns in every round, and each ratio uses two figures of the same round, so that background load
 * affects both. Server and load generator share the cores: on a machine with few cores the generator limits the rate,
 * and the processor time of the server is the reliable figure.
 */
import { deepStrictEqual } from 'node:assert/strict';
import type { Counts } from '../src/domain/counting/counts.js';
import type { DateRange } from '../src/domain/counting/date-range.js';
import { bigDatabase } from './support/big.js';
import { type Columns, notedIn } from './support/columns.js';
import { makeEvents } from './support/events.js';
import { HOT_DAY } from './support/fills.js';
import { fewConnections, type Load, load } from './support/load.js';
import { BOUNDS, type Bounds, makeRanges, rangesWithin, recount, toQueryString } from './support/ranges.js';
import { asPower, type Figure, type Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { programArguments, type Server, type Workspace } from './support/workspace.js';

export interface ExportOptions {
  readonly rounds: number;
  /** Seconds of load on each contestant per round. */
  readonly seconds: number;
  /** Of the largest database. */
  readonly lines: number;
  readonly note: (line: string) => void;
}

const few = 10_000;

const aimToBare = 0.8;
const aimGrowth = 1.2;
const aimHot = 1.5;

/** Ranges of the largest databases that are compared with a recount, which takes some hundredths of a second each. */
const recountedMax = 32;

const bare = 'bare';
const hot = 'in one day';
const manyConnections = 64;

type Headers = Readonly<Record<string, string>>;

interface Contestant {
  readonly name: string;
  readonly bounds: Bounds;
  readonly server: Server;
  readonly paths: readonly string[];
  readonly headers: Headers;
  /** `fewConnections` by default. */
  readonly connections?: number;
}

/** The samples of each contestant, round by round. */
type Rounds = ReadonlyMap<string, readonly Load[]>;

/** The name of a contestant with this many events over a year. */
const exportName = (size: number, bounds: Bounds): string => `${asPower(size)} events, ${bounds} bounds`;
const hotExportName = (size: number): string => `${asPower(size)} events ${hot}, ms bounds`;

export async function benchExport(workspace: Workspace, options: ExportOptions): Promise<Report> {
  const { lines: most, note } = options;
  note(`export: recording ${few} events`);
  const services = [...(await startSmall(workspace)), ...(await startBig(workspace, options))];
  const contestants = [await startBare(workspace, services), ...services];
  const overMany = contestants.filter(({ name }) => name !== hotExportName(most)).map(overManyConnections);
  const rounds = await measure([...contestants, ...overMany], options);
  return {
    name: 'export',
    method:
      'Caller stats over HTTP from one server process that checks key and parameters: 256 different ranges of about a ' +
      'year (or within the one day), compared with a bare `node:http` process that sends the same bytes. ' +
      `${fewConnections} connections unless the row says otherwise, alternating rounds of ${options.seconds} s each, while nothing is recorded. Ratios of rates are ours over bare; ` +
      'ratios of the processor time of the server process are bare over ours. At 1 both are equally fast.',
    ratios: listRatios(rounds, [few, most]),
    absolutes: listAbsolutes(rounds),
  };
}

/** A server with few events whose answers have been compared with a recount. */
async function startSmall(workspace: Workspace): Promise<Contestant[]> {
  const { columns: events, noted } = notedIn(makeEvents(few, few), few);
  const database = await Database.create(workspace, 'export');
  await database.importEvents(noted, few);
  const headers = { authorization: `Bearer ${await database.createAdminKey()}` };
  const server = await database.serve();
  const contestants: Contestant[] = [];
  for (const bounds of BOUNDS) {
    const ranges = makeRanges(bounds);
    const one = {
      name: exportName(few, bounds),
      bounds,
      server,
      paths: buildPaths(projectId, ranges, bounds),
      headers,
    };
    const expected = await requireSameAnswers(one, ranges, events);
    if (bounds === 'day') deepStrictEqual(expected[0]?.total, few);
    contestants.push(one);
  }
  return contestants;
}

/** A server with the largest database, and as many events again within one day of another project. */
async function startBig(workspace: Workspace, { lines, note }: ExportOptions): Promise<Contestant[]> {
  const { database, events, hotEvents } = await bigDatabase(workspace, {
    lines,
    note: (line) => note(`export: ${line}`),
  });
  const headers = { authorization: `Bearer ${await database.createAdminKey()}` };
  const server = await database.serve();
  const hotRanges = rangesWithin(HOT_DAY);
  const hotOne = {
    name: hotExportName(lines),
    bounds: 'ms' as const,
    server,
    paths: buildPaths('hot', hotRanges, 'ms'),
    headers,
  };
  await requireSameAnswers(hotOne, hotRanges.slice(0, recountedMax), hotEvents);
  const contestants: Contestant[] = [hotOne];
  for (const bounds of BOUNDS) {
    const ranges = makeRanges(bounds);
    const one = {
      name: exportName(lines, bounds),
      bounds,
      server,
      paths: buildPaths(projectId, ranges, bounds),
      headers,
    };
    await requireSameAnswers(one, ranges.slice(0, recountedMax), events);
    contestants.push(one);
  }
  return contestants;
}

function buildPaths(project: string, ranges: readonly DateRange[], bounds: Bounds): string[] {
  return ranges.map(
    (range) => `/v1/analytics/${project}/assistant/caller-stats?${toQueryString(range, bounds)}`,
  );
}

/** Compares the answers to the first paths with a recount and returns it. */
async function requireSameAnswers(
  { server, paths, headers }: Contestant,
  ranges: readonly DateRange[],
  events: Columns,
): Promise<Counts[]> {
  const expected = recount(events, ranges);
  for (const [index, counts] of expected.entries()) {
    const path = paths[index] ?? '';
    const { body } = await get(server, path, headers);
    deepStrictEqual(JSON.parse(body), counts, path);
  }
  return expected;
}

/** Sent by Node itself, and not the same for two servers or two answers. */
const HEADERS_OF_NODE = ['date', 'connection', 'keep-alive'];

/** A bare server with the answer to the first path of the last service, headers included. */
async function startBare(workspace: Workspace, services: readonly Contestant[]): Promise<Contestant> {
  const model = services.at(-1);
  const path = model?.paths[0];
  if (model === undefined || path === undefined) throw new Error('there is no service to imitate');
  const answer = await get(model.server, path, model.headers);
  const server = await workspace.start([
    ...programArguments('bare-server'),
    JSON.stringify(answer.headers.flat()),
    answer.body,
  ]);
  deepStrictEqual(await get(server, path, model.headers), answer);
  return { ...model, name: bare, server };
}

async function get(server: Server, path: string, headers: Headers) {
  const response = await fetch(server.url + path, { headers });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return {
    headers: [...response.headers].filter(([name]) => !HEADERS_OF_NODE.includes(name)),
    body: await response.text(),
  };
}

/**
 * Warms the cache. Repeated ranges are cached until more is recorded, so with many events in its first and last days
 * every range has to be requested several times first.
 */
const warmUpRounds: Readonly<Record<Bounds, number>> = { day: 1, ms: 3 };

async function measure(
  contestants: readonly Contestant[],
  { rounds, seconds, note }: ExportOptions,
): Promise<Rounds> {
  const loads = new Map<string, Load[]>(contestants.map(({ name }) => [name, []]));
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(`export: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    // Rotate the order.
    const first = round % contestants.length;
    for (const { name, bounds, server, paths, headers, connections } of [
      ...contestants.slice(first),
      ...contestants.slice(0, first),
    ]) {
      const time = round === 0 ? seconds * warmUpRounds[bounds] : seconds;
      const one = await load(server, paths, headers, time, connections);
      if (round > 0) loads.get(name)?.push(one);
    }
  }
  return loads;
}

function overManyConnections(contestant: Contestant): Contestant {
  return { ...contestant, name: manyName(contestant.name), connections: manyConnections };
}

const manyName = (name: string): string => `${name}, ${manyConnections} connections`;

/** Two rates: answers per second of wall time and of processor time. */
const SPEEDS: readonly { what: string; cost: string; of: (load: Load) => number }[] = [
  { what: 'rate', cost: 'time', of: ({ requestsPerSecond }) => requestsPerSecond },
  {
    what: 'rate by processor time',
    cost: 'processor time',
    of: ({ cpuUsPerRequest }) => 1 / (cpuUsPerRequest ?? Number.NaN),
  },
];

function listRatios(rounds: Rounds, sizes: readonly number[]): Figure[] {
  const most = Math.max(...sizes);
  const figures = SPEEDS.flatMap(({ what, cost, of }): Figure[] => {
    const ratio = (one: string, other: string): number[] => {
      const others = rounds.get(other) ?? [];
      return (rounds.get(one) ?? []).flatMap((load, round) => {
        const beside = others[round];
        return beside === undefined ? [] : [of(load) / of(beside)];
      });
    };
    const toBare = sizes.flatMap((size) =>
      BOUNDS.flatMap((bounds): Figure[] => {
        const name = exportName(size, bounds);
        return [
          [name, bare],
          [manyName(name), manyName(bare)],
        ].map(([ours = '', other = '']) => ({
          what: `${what} over bare: ${ours}`,
          values: ratio(ours, other),
          atLeast: aimToBare,
        }));
      }),
    );
    const growth = BOUNDS.map(
      (bounds): Figure => ({
        what: `${cost} of an answer, ${asPower(most)} events over ${asPower(few)}: ${bounds} bounds`,
        values: ratio(exportName(few, bounds), exportName(most, bounds)),
        atMost: aimGrowth,
      }),
    );
    const inOneDay: Figure = {
      what: `${cost} of an answer, ${asPower(most)} events ${hot} over ${asPower(few)} in a year: ms bounds`,
      values: ratio(exportName(few, 'ms'), hotExportName(most)),
      atMost: aimHot,
    };
    return [...toBare, ...growth, inOneDay];
  });
  return figures;
}

function listAbsolutes(rounds: Rounds): Figure[] {
  return [...rounds].flatMap(([name, loads]) => {
    const optional = (pick: (load: Load) => number | undefined): number[] =>
      loads.map(pick).filter((value) => value !== undefined);
    return [
      { what: `${name}: rate`, unit: 'requests/s', values: optional((load) => load.requestsPerSecond) },
      {
        what: `${name}: processor time`,
        unit: 'µs/request',
        values: optional((load) => load.cpuUsPerRequest),
      },
      { what: `${name}: cores used`, values: optional((load) => load.busy) },
    ];
  });
}
