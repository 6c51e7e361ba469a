/** The figures of the PostgreSQL benchmark, computed from the samples. */
import { processorUs, type Rounds, ratio } from './contest.js';
import { BOUNDS } from './ranges.js';
import { asPower, type Figure } from './report.js';
import type { Sample } from './traffic.js';

export interface Figures {
  readonly ratios: Figure[];
  readonly absolutes: Figure[];
}

const aimToHandWritten = 20;
/** Minimum events for the target: with fewer, counting by hand is cheap. */
const aimFrom = 1_000_000;
/** The target is 1; the rest is noise on a quiet machine. */
const aimGrowth = 1.1;

const NODES = ['1 node', '2 nodes', '3 nodes'] as const;
const theirs = 'hand-written';

const rate = ({ requestsPerSecond }: Sample): number => requestsPerSecond;

export function answersFigures(rounds: Rounds, sizes: readonly number[]): Figures {
  const fewest = Math.min(...sizes);
  const most = Math.max(...sizes);
  const toTheirs = sizes.flatMap((size) =>
    BOUNDS.flatMap((bounds) =>
      NODES.map((nodes): Figure => {
        const contest = `${size} ${bounds}`;
        return {
          what: `answers/s over hand-written: ${asPower(size)} events, ${bounds} bounds, ${nodes}`,
          values: ratio(rounds, `${contest}: ${nodes}`, `${contest}: ${theirs}`, rate),
          ...(size >= aimFrom ? { atLeast: aimToHandWritten } : {}),
        };
      }),
    ),
  );
  const growth = (what: string, of: (sample: Sample) => number): Figure[] =>
    [...NODES, theirs].flatMap((who) =>
      BOUNDS.map(
        (bounds): Figure => ({
          what: `${what} of an answer, ${asPower(most)} events over ${asPower(fewest)}: ${bounds} bounds, ${who}`,
          values: ratio(rounds, `${most} ${bounds}: ${who}`, `${fewest} ${bounds}: ${who}`, of),
          ...(who === theirs ? {} : { atMost: aimGrowth }),
        }),
      ),
    );
  return {
    ratios: [
      ...toTheirs,
      ...growth('time', (sample) => 1 / rate(sample)),
      ...growth('processor time', processorUs),
    ],
    absolutes: [...rounds].flatMap(([name, samples]) => {
      const [contest = '', who = ''] = name.split(': ');
      const [size, bounds] = contest.split(' ');
      return listAbsolutes(`${asPower(Number(size))} events, ${bounds} bounds, ${who}`, samples, 'answer', 1);
    }),
  };
}

export function recordingFigures(rounds: Rounds, batchQueries: number): Figures {
  const contests = [...new Set([...rounds.keys()].map((name) => name.split(': ')[0] ?? ''))];
  const ratios = contests.flatMap((contest) =>
    NODES.map(
      (nodes): Figure => ({
        what: `rows/s recorded over hand-written: ${recordingLabel(contest)}, ${nodes}`,
        values: ratio(rounds, `${contest}: ${nodes}`, `${contest}: ${theirs}`, rate),
      }),
    ),
  );
  const absolutes = [...rounds].flatMap(([name, samples]) => {
    const [contest = '', who] = name.split(': ');
    const rows = contest.startsWith('single') ? 1 : batchQueries;
    return listAbsolutes(`${recordingLabel(contest)}, ${who}`, samples, 'row', rows);
  });
  return { ratios, absolutes };
}

/** `each` is the unit of `count` per request. */
function listAbsolutes(label: string, samples: readonly Sample[], each: string, count: number): Figure[] {
  const figure = (what: string, unit: string, of: (sample: Sample) => number): Figure => ({
    what: `${label}: ${what}`,
    unit,
    values: samples.map(of),
  });
  return [
    figure('rate', `${each}s/s`, (sample) => rate(sample) * count),
    figure('median latency', 'ms', ({ p50Ms }) => p50Ms),
    figure('p99 latency', 'ms', ({ p99Ms }) => p99Ms),
    figure('processor time', `µs/${each}`, (sample) => processorUs(sample) / count),
    figure("of it PostgreSQL's", `µs/${each}`, (sample) => databaseUs(sample) / count),
  ];
}

function databaseUs(sample: Sample): number {
  return sample.databaseUs ?? Number.NaN;
}

function recordingLabel(contest: string): string {
  const [form, ids, projects] = contest.split(' ');
  const queries = form === 'single' ? 'single queries' : 'arrays';
  return `${queries}, ${ids} ids, ${projects === '1' ? '1 project' : `${projects} projects`}`;
}
