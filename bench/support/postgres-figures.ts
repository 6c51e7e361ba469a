/** The figures of the PostgreSQL benchmark, computed from the samples. */
import { processorUs, type Rounds, ratio } from './contest.js';
import { BOUNDS } from './ranges.js';
import { asPower, type Figure } from './report.js';
import type { Sample } from './traffic.js';

export interface Figures {
  readonly ratios: Figure[];
  readonly absolutes: Figure[];
}

/** The target is 1; the rest is noise on a quiet machine. */
const aimGrowth = 1.1;

export const NODES = ['1 node', '2 nodes', '3 nodes'] as const;

const rate = ({ requestsPerSecond }: Sample): number => requestsPerSecond;

export function answersFigures(
  rounds: Rounds,
  [fewest, most]: readonly [few: number, most: number],
): Figures {
  const growth = (what: string, of: (sample: Sample) => number): Figure[] =>
    NODES.flatMap((nodes) =>
      BOUNDS.map((bounds) => ({
        what: `${what} of an answer, ${asPower(most)} events over ${asPower(fewest)}: ${bounds} bounds, ${nodes}`,
        values: ratio(rounds, `${most} ${bounds}: ${nodes}`, `${fewest} ${bounds}: ${nodes}`, of),
        atMost: aimGrowth,
      })),
    );
  return {
    ratios: [...growth('time', (sample) => 1 / rate(sample)), ...growth('processor time', processorUs)],
    absolutes: [...rounds].flatMap(([name, samples]) => {
      const [contest = '', nodes = ''] = name.split(': ');
      const [size, bounds] = contest.split(' ');
      return listAbsolutes(
        `${asPower(Number(size))} events, ${bounds} bounds, ${nodes}`,
        samples,
        'answer',
        1,
      );
    }),
  };
}

export function recordingFigures(rounds: Rounds, batchQueries: number): Figures {
  const contests = [...new Set([...rounds.keys()].map((name) => name.split(': ')[0] ?? ''))];
  const ratios = contests.map(
    (contest): Figure => ({
      what: `rows/s recorded, 3 nodes over 1: ${recordingLabel(contest)}`,
      values: ratio(rounds, `${contest}: 3 nodes`, `${contest}: 1 node`, rate),
    }),
  );
  const absolutes = [...rounds].flatMap(([name, samples]) => {
    const [contest = '', nodes] = name.split(': ');
    const rows = contest.startsWith('single') ? 1 : batchQueries;
    return listAbsolutes(`${recordingLabel(contest)}, ${nodes}`, samples, 'row', rows);
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
    figure("of it PostgreSQL's", `µs/${each}`, ({ databaseUs }) => (databaseUs ?? Number.NaN) / count),
  ];
}

function recordingLabel(contest: string): string {
  const [form, ids, projects] = contest.split(' ');
  const queries = form === 'single' ? 'single queries' : 'arrays';
  return `${queries}, ${ids} ids, ${projects === '1' ? '1 project' : `${projects} projects`}`;
}
