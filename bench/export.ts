/**
 * The operation that the service exists for, over HTTP, against a bare `node:http` server that answers the same bytes.
 *
 * All contestants take turns in every round, and a ratio is made of two figures of the same round, so that a busy
 * minute of the machine hits both sides. Server and load generator share the machine's cores: where those are few,
 * the generator is part of the rate, and the processor time of the server process is the figure to trust.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { makeEvents, writeNdjson } from './support/events.js';
import { type Load, load } from './support/load.js';
import { BOUNDS, type Bounds, rangesOf, recount, toQueryString } from './support/ranges.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import type { Server, Workspace } from './support/workspace.js';

export interface ExportOptions {
  readonly rounds: number;
  /** Of load on each contestant in each round. */
  readonly seconds: number;
  readonly note: (line: string) => void;
}

const few = 10_000;
const many = 1_000_000;

const aimToBare: Readonly<Record<Bounds, number>> = { day: 0.75, ms: 0.5 };
const aimGrowth = 1.2;

type Name = 'bare' | `${number} ${Bounds}`;
type Headers = Readonly<Record<string, string>>;

interface Contestant {
  readonly name: Name;
  readonly server: Server;
  readonly paths: readonly string[];
  readonly headers: Headers;
}

/** What each contestant did, round by round. */
type Rounds = ReadonlyMap<Name, readonly Load[]>;

export async function benchExport(workspace: Workspace, options: ExportOptions): Promise<Report> {
  const services: Contestant[] = [];
  for (const size of [few, many]) {
    options.note(`export: recording ${size} events`);
    services.push(...(await startService(workspace, size)));
  }
  const rounds = await measure([await startBare(workspace, services), ...services], options);
  return {
    name: 'export',
    method:
      'Caller stats over HTTP, one server process, key and parameters checked, 256 different ranges of about a year in turn, ' +
      `against a bare \`node:http\` process that answers the same bytes; 10 connections, rounds of ${options.seconds} s each in turn. ` +
      'Ratios of rates are ours over bare; of processor time of the server process, bare over ours: 1 is as good as bare.',
    ratios: ratiosOf(rounds),
    absolutes: absolutesOf(rounds),
  };
}

/** A server with `size` events; every answer that will be asked for has been compared with a plain recount. */
async function startService(workspace: Workspace, size: number): Promise<Contestant[]> {
  const events = () => makeEvents(size, size);
  const file = workspace.path(`${size}.ndjson`);
  await writeNdjson(file, events());
  const database = await Database.create(workspace, `export-${size}`);
  await database.import(file, size);
  const headers = { authorization: `Bearer ${await database.createAdminKey()}` };
  const server = await database.serve();

  const contestants: Contestant[] = [];
  for (const bounds of BOUNDS) {
    const ranges = rangesOf(bounds);
    const expected = recount(events(), ranges);
    if (bounds === 'day') deepStrictEqual(expected[0]?.total, size);
    const paths = ranges.map(
      (range) => `/v1/analytics/${projectId}/assistant/caller-stats?${toQueryString(range, bounds)}`,
    );
    for (const [index, path] of paths.entries()) {
      const { body } = await get(server, path, headers);
      deepStrictEqual(JSON.parse(body), expected[index], `${size} events, ${path}`);
    }
    contestants.push({ name: `${size} ${bounds}`, server, paths, headers });
  }
  return contestants;
}

/** Answers what the largest service answers to its first path, and is asked the same. */
async function startBare(workspace: Workspace, services: readonly Contestant[]): Promise<Contestant> {
  const model = services.find(({ name }) => name === `${many} day`);
  const path = model?.paths[0];
  if (model === undefined || path === undefined) throw new Error('there is no service to imitate');
  const { contentType, body } = await get(model.server, path, model.headers);
  const program = fileURLToPath(new URL('./support/bare-server.ts', import.meta.url));
  const server = await workspace.start(['--import', import.meta.resolve('tsx'), program, contentType, body]);
  deepStrictEqual(await get(server, path, model.headers), { contentType, body });
  return { ...model, name: 'bare', server };
}

async function get(server: Server, path: string, headers: Headers) {
  const response = await fetch(server.url + path, { headers });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return { contentType: response.headers.get('content-type') ?? '', body: await response.text() };
}

async function measure(
  contestants: readonly Contestant[],
  { rounds, seconds, note }: ExportOptions,
): Promise<Rounds> {
  const loads = new Map<Name, Load[]>(contestants.map(({ name }) => [name, []]));
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(`export: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    // Nobody always comes after the same other.
    const first = round % contestants.length;
    for (const { name, server, paths, headers } of [
      ...contestants.slice(first),
      ...contestants.slice(0, first),
    ]) {
      const one = await load(server, paths, headers, seconds);
      if (round > 0) loads.get(name)?.push(one);
    }
  }
  return loads;
}

/** Two ways to say how fast a server was: answers in a second, of the wall's time and of its processor's. */
const SPEEDS: readonly { what: string; cost: string; of: (load: Load) => number }[] = [
  { what: 'rate', cost: 'time', of: ({ requestsPerSecond }) => requestsPerSecond },
  {
    what: 'rate by processor time',
    cost: 'processor time',
    of: ({ cpuUsPerRequest }) => 1 / (cpuUsPerRequest ?? Number.NaN),
  },
];

function ratiosOf(rounds: Rounds): Figure[] {
  const figures = SPEEDS.flatMap(({ what, cost, of }): Figure[] => {
    const ratio = (one: Name, other: Name): number[] => {
      const others = rounds.get(other) ?? [];
      return (rounds.get(one) ?? []).flatMap((load, round) => {
        const beside = others[round];
        return beside === undefined ? [] : [of(load) / of(beside)];
      });
    };
    const toBare = [few, many].flatMap((size) =>
      BOUNDS.map((bounds): Figure => {
        const name: Name = `${size} ${bounds}`;
        return {
          what: `${what} over bare: ${label(name)}`,
          values: ratio(name, 'bare'),
          atLeast: aimToBare[bounds],
        };
      }),
    );
    const growth = BOUNDS.map(
      (bounds): Figure => ({
        what: `${cost} of an answer, 1e6 events over 1e4: ${bounds} bounds`,
        values: ratio(`${few} ${bounds}`, `${many} ${bounds}`),
        atMost: aimGrowth,
      }),
    );
    return [...toBare, ...growth];
  });
  // Without /proc there is no processor time.
  return figures.filter(({ values }) => values.every(Number.isFinite));
}

function absolutesOf(rounds: Rounds): Figure[] {
  return [...rounds].flatMap(([name, loads]) => {
    const optional = (pick: (load: Load) => number | undefined): number[] =>
      loads.map(pick).filter((value) => value !== undefined);
    return [
      {
        what: `${label(name)}: rate`,
        unit: 'requests/s',
        values: optional((load) => load.requestsPerSecond),
      },
      {
        what: `${label(name)}: processor time`,
        unit: 'µs/request',
        values: optional((load) => load.cpuUsPerRequest),
      },
      { what: `${label(name)}: cores used`, values: optional((load) => load.busy) },
    ].filter(({ values }) => values.length > 0);
  });
}

function label(name: Name): string {
  const [size, bounds] = name.split(' ');
  return bounds === undefined
    ? name
    : `${Number(size).toExponential().replace('+', '')} events, ${bounds} bounds`;
}
