/**
 * Exports from `serve --workers 2`, compared with one process on the same database, with a load generator that uses
 * little processor time.
 */
import { makeEvents } from './support/events.js';
import type { PipelinedLoad } from './support/pipelined-load.js';
import { cpuSecondsOfFamily } from './support/processor.js';
import { makeRanges, toQueryString } from './support/ranges.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { programArguments, type Server, type Workspace } from './support/workspace.js';

export interface WorkersOptions {
  readonly rounds: number;
  /** Seconds of load on each contestant per round. */
  readonly seconds: number;
  readonly lines: number;
  readonly note: (line: string) => void;
}

const connections = 16;
const aim = 1.7;

interface Sample {
  readonly rate: number;
  /** Processor time of the server's processes per answer. */
  readonly cpuUs: number;
  /** Cores used by the load generator. */
  readonly generator: number;
}

export async function benchWorkers(workspace: Workspace, options: WorkersOptions): Promise<Report> {
  const { rounds, lines, note } = options;
  const database = await Database.create(workspace, 'workers');
  await database.importEvents(makeEvents(lines, 1), lines);
  const key = await database.createAdminKey();
  const servers = { one: await database.serve(), two: await database.serve('--workers', '2') };
  const samples: Record<keyof typeof servers, Sample[]> = { one: [], two: [] };
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(`workers: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    for (const name of round % 2 === 0 ? (['one', 'two'] as const) : (['two', 'one'] as const)) {
      const sample = await measure(workspace, servers[name], key, options);
      if (round > 0) samples[name].push(sample);
    }
  }
  const over = (of: (sample: Sample) => number): number[] =>
    samples.two.map((two, round) => of(two) / of(samples.one[round] ?? two));
  const figure = (
    name: 'one' | 'two',
    what: string,
    unit: string,
    of: (sample: Sample) => number,
  ): Figure => ({
    what: `${name === 'one' ? '1 process' : '2 processes'}: ${what}`,
    unit,
    values: samples[name].map(of),
  });
  return {
    name: 'workers',
    method:
      `Exports of about a year with bounds in milliseconds over ${lines.toLocaleString('en-US')} events from \`serve --workers 2\`, compared with one ` +
      `process: ${connections} connections with eight pipelined requests each, alternating rounds of ${options.seconds} s. The load generator ` +
      'shares the cores with the servers: the second table shows its processor time, which limits how much faster two ' +
      'processes can be.',
    ratios: [
      {
        what: 'responses per second, two processes over one',
        values: over(({ rate }) => rate),
        atLeast: aim,
      },
      { what: 'processor time of a response, two processes over one', values: over(({ cpuUs }) => cpuUs) },
    ],
    absolutes: (['one', 'two'] as const).flatMap((name) => [
      figure(name, 'rate', 'requests/s', ({ rate }) => rate),
      figure(name, 'processor time', 'µs/request', ({ cpuUs }) => cpuUs),
      figure(name, 'the generator', 'cores', ({ generator }) => generator),
    ]),
  };
}

async function measure(
  workspace: Workspace,
  server: Server,
  key: string,
  { seconds }: WorkersOptions,
): Promise<Sample> {
  const paths = makeRanges('ms').map(
    (range) => `/v1/analytics/${projectId}/assistant/caller-stats?${toQueryString(range, 'ms')}`,
  );
  const before = cpuSecondsOfFamily(server.pid) ?? Number.NaN;
  const load: PipelinedLoad = { url: server.url, key, connections, seconds, paths };
  const { stdout } = await workspace.run(process.execPath, programArguments('pipelined-load'), [
    JSON.stringify(load),
  ]);
  const after = cpuSecondsOfFamily(server.pid) ?? Number.NaN;
  const done = JSON.parse(stdout) as { answered: number; seconds: number; cpuSeconds: number };
  return {
    rate: done.answered / done.seconds,
    cpuUs: ((after - before) * 1e6) / done.answered,
    generator: done.cpuSeconds / done.seconds,
  };
}
