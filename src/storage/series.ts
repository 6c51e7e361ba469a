/** Reads a series from any store: finds missing bounds, and counts all buckets, in one snapshot. */

import { findComparedBucket, toPrevious, toPreviousBucket } from '../domain/calendar/comparison.js';
import { bucketAround, type Edge, findBucketEdges } from '../domain/calendar/interval.js';
import type { Interval } from '../domain/calendar/names.js';
import type { Compared, Counts, PreviousBucket } from '../domain/counting/counts.js';
import { type DateRange, EARLIEST_MS, LATEST_MS } from '../domain/counting/date-range.js';
import type { SeriesRequest } from '../domain/counting/report-request.js';
import {
  type Series,
  type SeriesOfCallers,
  splitByCaller,
  toBuckets,
  tooManyBuckets,
} from '../domain/counting/series.js';
import { createCounter, numbersBetween, tile } from '../domain/counting/tiles.js';
import { seriesBucketsMax, seriesByCallerBucketsMax, seriesCallersMax } from '../domain/limits.js';
import type { Calendar } from '../domain/time/calendar.js';
import { YEAR_10000_MS, YEAR_ZERO_MS } from '../domain/time/date-time.js';
import { finishWithPauses, nextTurn } from '../shared/pauses.js';
import { mapInSteps, type Steps } from '../shared/steps.js';
import type { CountReads, CountStore } from './ports/counts.js';

/** Finding as many edges takes a few milliseconds, and so does splitting the series afterwards. */
const longSeriesEdgesMin = 1_000;

export interface SeriesStore {
  readonly counts: CountReads & Pick<CountStore, 'readTogether'>;
}

/**
 * The project's counts over time. A missing bound is the first query or just after the last one, widened to the whole bucket.
 * Then a project without queries has no buckets. Throws `invalid` if there would be too many buckets.
 */
export async function readSeries(
  { counts }: SeriesStore,
  projectId: string,
  question: SeriesRequest,
): Promise<Series> {
  // One read needs no transaction.
  return question.byCaller || hasMissingBound(question.range)
    ? counts.readTogether(projectId, (together) => readSeriesFrom(together, projectId, question))
    : readSeriesFrom(counts, projectId, question);
}

/** As `readSeries`, from reads of one snapshot. */
export async function readSeriesFrom(
  reads: CountReads,
  projectId: string,
  question: SeriesRequest,
): Promise<Series> {
  const { interval, timeZone } = question;
  const edges = await findSeriesEdges(reads, projectId, question);
  if (edges.length > longSeriesEdgesMin) await nextTurn();
  const bounds = edges.map(({ timeMs }) => timeMs);
  const { counts, previousBuckets, ...more } = await countBounds(reads, projectId, question, bounds);
  const buckets = await finishWithPauses(toBuckets(edges, counts, previousBuckets));
  return { interval, timeZone, buckets, ...more };
}

function hasMissingBound({ from, to }: DateRange): boolean {
  return from === EARLIEST_MS || to === LATEST_MS;
}

interface BoundCounts extends SeriesOfCallers, Compared {
  readonly counts: readonly Counts[];
  /** What each bucket is compared with. */
  readonly previousBuckets?: readonly (PreviousBucket | null)[];
}

/** Counts the ranges between bounds, and what they are compared with. */
async function countBounds(
  reads: CountReads,
  projectId: string,
  question: SeriesRequest,
  bounds: readonly number[],
): Promise<BoundCounts> {
  const { byCaller, caller, range } = question;
  const counterparts = await finishWithPauses(findCounterparts(question, bounds));
  const tiles = counterparts.length === 0 ? bounds : tile([...bounds, ...boundsOf(counterparts)]);
  if (tiles.length === 0) return { counts: [], ...(byCaller ? splitByCaller([], new Map(), 0) : {}) };
  const present = byCaller ? (await reads.countCallers(projectId, range)).callers : [];
  const names = present.slice(0, seriesCallersMax).map((one) => one.caller);
  const { all, callers } = byCaller
    ? await reads.countSeriesByCaller(projectId, tiles, names)
    : { all: await reads.countSeries(projectId, tiles, caller), callers: [] };
  const { counts, ...previous } = await finishWithPauses(
    toCounts(question, bounds, counterparts, tiles, all),
  );
  if (!byCaller) return { counts, ...previous };
  const inBuckets = names.map((name, at) => {
    return [name, numbersBetween(bounds, tiles, callers[at] ?? [])] as const;
  });
  const others = present.length - names.length;
  return { counts, ...splitByCaller(counts, new Map(inBuckets), others), ...previous };
}

/** The range to compare with, and the part of it that each bucket is compared with. Empty if the series is not compared. */
function* findCounterparts(
  { compared, interval, timeZone }: SeriesRequest,
  bounds: readonly number[],
): Steps<(DateRange | undefined)[]> {
  if (compared === undefined) return [];
  const parts = yield* mapInSteps(bounds.slice(1), (to, at) => {
    const bucket = { from: bounds[at] ?? to, to };
    return findComparedBucket(bucket, interval, compared, timeZone);
  });
  return [compared, ...parts];
}

function boundsOf(ranges: readonly (DateRange | undefined)[]): number[] {
  return ranges.flatMap((range) => (range === undefined ? [] : [range.from, range.to]));
}

/** The counts of the buckets and of their counterparts, if there are any, from those between `tiles`. */
function* toCounts(
  { timeZone }: SeriesRequest,
  bounds: readonly number[],
  [compared, ...buckets]: readonly (DateRange | undefined)[],
  tiles: readonly number[],
  all: readonly Counts[],
): Steps<Pick<BoundCounts, 'counts' | 'previous' | 'previousBuckets'>> {
  if (compared === undefined) return { counts: all };
  yield;
  const countIn = createCounter(tiles, all);
  yield;
  return {
    counts: yield* mapInSteps(bounds.slice(1), (to, at) => countIn({ from: bounds[at] ?? to, to })),
    previous: toPrevious(compared, timeZone, countIn(compared)),
    previousBuckets: yield* mapInSteps(buckets, (one) =>
      one ? toPreviousBucket(one, timeZone, countIn(one)) : null,
    ),
  };
}

/** The edges of a series' buckets. As `readSeries`. */
export async function findSeriesEdges(
  reads: Pick<CountReads, 'findExtent'>,
  projectId: string,
  question: Omit<SeriesRequest, 'compared' | 'caller'>,
): Promise<Edge[]> {
  const { interval, range, byCaller } = question;
  let { from, to } = range;
  if (hasMissingBound(range)) {
    const extent = await reads.findExtent(projectId);
    if (extent === undefined) return [];
    const widened = widenToBuckets(extent, question);
    if (from === EARLIEST_MS) from = widened.from;
    if (to === LATEST_MS) to = widened.to;
  }
  const seriesMax = byCaller ? seriesByCallerBucketsMax : seriesBucketsMax;
  const bucketsMax = Math.min(seriesMax, question.bucketsMax ?? seriesMax);
  const edges = findBucketEdges({ from, to }, interval, question, bucketsMax);
  if (edges === undefined) throw tooManyBuckets(interval, byCaller, bucketsMax);
  return edges;
}

/** Widens a range to whole buckets, but not beyond the years that can be formatted: a zone's last day may end in the year 10000. */
export function widenToBuckets(
  { from, to }: DateRange,
  calendar: Calendar & { readonly interval: Interval },
): DateRange {
  return {
    from: Math.max(bucketAround(from, calendar.interval, calendar).from, YEAR_ZERO_MS),
    to: Math.min(bucketAround(to - 1, calendar.interval, calendar).to, YEAR_10000_MS),
  };
}
