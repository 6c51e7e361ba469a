/** The response of series: counts over time. */

import { finish, mapInSteps, type Steps } from '../../shared/steps.js';
import type { Edge } from '../calendar/interval.js';
import type { Interval } from '../calendar/names.js';
import { CallerStatsError } from '../errors.js';
import { formatWithOffset } from '../time/date-time.js';
import {
  type Bucket,
  type CallerCount,
  type Compared,
  type Counts,
  type PreviousBucket,
  toBucket,
  toCallerCounts,
} from './counts.js';

/** The buckets tile the range. */
export interface Series extends Compared, SeriesOfCallers {
  readonly interval: Interval;
  readonly timeZone: string;
  readonly buckets: readonly Bucket[];
}

/** The series of single callers. `counts` has a number for each bucket. */
export interface SeriesOfCallers {
  /** The busiest callers, largest count first, then by name. */
  readonly callers?: readonly (CallerCount & { readonly counts: readonly number[] })[];
  /** All other callers together. */
  readonly rest?: {
    /** How many there are. */
    readonly callers: number;
    readonly count: number;
    readonly counts: readonly number[];
  };
}

export function tooManyBuckets(interval: Interval, byCaller: boolean, bucketsMax: number): CallerStatsError {
  const allowed = `${bucketsMax} buckets${byCaller ? ' by caller' : ''}`;
  const problem = `interval: ${interval} makes more than ${allowed} of this range; choose a wider interval or a smaller range`;
  return new CallerStatsError('invalid', 'The series has too many buckets.', { details: [problem] });
}

/** The series of these callers, and of the rest of all. */
export function splitByCaller(
  all: readonly Counts[],
  callers: ReadonlyMap<string, readonly number[]>,
  others: number,
): Required<SeriesOfCallers> {
  const sums = finish(
    toCallerCounts([...callers].map(([caller, counts]) => [caller, addUp(counts)] as const)),
  );
  const series = [...callers.values()];
  const rest = all.map(({ total }, at) => series.reduce((left, counts) => left - (counts[at] ?? 0), total));
  return {
    callers: sums.callers.map((one) => ({ ...one, counts: callers.get(one.caller) ?? [] })),
    rest: { callers: others, count: addUp(rest), counts: rest },
  };
}

function addUp(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** The buckets between adjacent edges, each with its counts and, if the series is compared, those it is compared with. */
export function* toBuckets(
  edges: readonly Edge[],
  counts: readonly Counts[],
  previous?: readonly (PreviousBucket | null)[],
): Steps<Bucket[]> {
  const format = (edge: Edge | undefined): string =>
    edge === undefined ? '' : formatWithOffset(edge.timeMs, edge.offsetMs);
  let end = format(edges[0]);
  return yield* mapInSteps(counts, (count, at) => {
    const start = end;
    end = format(edges[at + 1]);
    return toBucket(start, end, count, previous?.[at]);
  });
}
