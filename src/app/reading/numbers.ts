/** Everything that the dashboard shows of a range: numbers that agree with each other. */

import { bucketAround, findBucketEdges } from '../../domain/calendar/interval.js';
import { INTERVALS, type Interval } from '../../domain/calendar/names.js';
import { findBeginning } from '../../domain/counting/beginning.js';
import type {
  Bucket,
  CallerCount,
  Counts,
  PreviousCounts,
  RestOfCallers,
} from '../../domain/counting/counts.js';
import { addCounts, firstCallers, withTotal } from '../../domain/counting/counts.js';
import { type DateRange, EARLIEST_MS, LATEST_MS } from '../../domain/counting/date-range.js';
import type { NumbersRequest } from '../../domain/counting/report-request.js';
import { barsMax, callersShownMax } from '../../domain/limits.js';
import { formatWithOffset } from '../../domain/time/date-time.js';
import { dayMs } from '../../domain/time/duration.js';
import { offsetAt } from '../../domain/time/time-zone.js';
import type { CountReads } from '../../storage/ports/counts.js';
import { readSeriesFrom, type SeriesStore, widenToBuckets } from '../../storage/series.js';

export interface Numbers {
  /** Local date-times with offsets; null for no bound. */
  readonly range: { readonly dateFrom: string | null; readonly dateTo: string | null };
  /** Whether queries that are recorded now can fall into the range. */
  readonly isOpen: boolean;
  /** The interval that was asked for, the next wider one that is allowed, or the best one. */
  readonly interval: Interval;
  /** Those that make few enough bars. */
  readonly intervals: readonly Interval[];
  readonly counts: Counts;
  /** Null if there is nothing to compare with. */
  readonly previous: PreviousCounts | null;
  /** The time of the first query, of a likely one if there is any; null without queries. */
  readonly recordingBegan: string | null;
  /** Queries of times before 2000, which a range without a start counts, but has no buckets for. */
  readonly doubtful?: number;
  readonly buckets: readonly NumbersBucket[];
  /** Those with the most queries. */
  readonly callers: readonly CallerCount[];
  /** All others, if there are any. */
  readonly callersRest?: RestOfCallers;
  readonly callersTotal: number;
  /** The part of it whose callers are of type other. */
  readonly othersTotal: number;
}

interface NumbersBucket extends Bucket {
  /** `running`: the bucket contains the current time. `partial`: the range begins or ends within it. */
  readonly incomplete?: 'running' | 'partial';
}

export function readNumbers(
  store: SeriesStore,
  projectId: string,
  question: NumbersRequest,
): Promise<Numbers> {
  return store.counts.readTogether(projectId, (reads) => readNumbersFrom(reads, projectId, question));
}

async function readNumbersFrom(
  reads: CountReads,
  projectId: string,
  question: NumbersRequest,
): Promise<Numbers> {
  const { range, timeZone, nowMs } = question;
  const countIn = async ({ from, to }: DateRange, caller?: string): Promise<Counts> =>
    withTotal(addCounts(await reads.countSeries(projectId, [from, to], caller)));
  const extent = await reads.findExtent(projectId);
  const began = (await findBeginning(extent, countIn)) ?? extent?.from;
  const likely = extent && { from: began ?? extent.from, to: extent.to };
  const { interval, intervals } = chooseInterval(question, likely);
  const isCut = range.from === EARLIEST_MS && began !== extent?.from;
  // One query of 1970 would make a chart of half a century.
  const from = isCut && likely ? widenToBuckets(likely, { ...question, interval }).from : range.from;
  const charted = { ...question, interval, range: { from, to: range.to }, byCaller: false };
  const series = await readSeriesFrom(reads, projectId, charted);
  const doubtful = isCut ? await countIn({ from: EARLIEST_MS, to: from }, question.caller) : undefined;
  const { callers, total } = await reads.countCallers(projectId, range);
  const { callers: first, rest } = firstCallers(callers, callersShownMax);
  const format = (timeMs: number): string => formatWithOffset(timeMs, offsetAt(timeMs, timeZone));
  return {
    range: {
      dateFrom: range.from === EARLIEST_MS ? null : format(range.from),
      dateTo: range.to === LATEST_MS ? null : format(range.to),
    },
    isOpen: range.to > nowMs,
    interval,
    intervals,
    counts: withTotal(addCounts([...series.buckets, ...(doubtful ? [doubtful] : [])])),
    previous: series.previous ?? null,
    recordingBegan: began === undefined ? null : format(began),
    ...(doubtful && { doubtful: doubtful.total }),
    buckets: markIncomplete(series.buckets, interval, question),
    callers: first,
    ...(rest && { callersRest: rest }),
    callersTotal: total,
    othersTotal: callers.reduce((sum, { type, count }) => (type === 'other' ? sum + count : sum), 0),
  };
}

/** Chooses the interval of a range, which ends at the extent of the queries where it has no bounds. */
function chooseInterval(
  question: NumbersRequest,
  extent: DateRange | undefined,
): Pick<Numbers, 'interval' | 'intervals'> {
  const fewEnough = INTERVALS.filter((interval) => {
    const range = boundedRange(question, extent, interval);
    return range === undefined || findBucketEdges(range, interval, question, barsMax) !== undefined;
  });
  const intervals: readonly Interval[] = fewEnough.length === 0 ? ['year'] : fewEnough;
  const wanted = question.interval ?? bestInterval(boundedRange(question, extent, 'hour'));
  const interval = INTERVALS.slice(INTERVALS.indexOf(wanted)).find((one) => intervals.includes(one));
  return { interval: interval ?? 'year', intervals };
}

/** Undefined for a range without bounds if there are no queries. */
function boundedRange(
  question: NumbersRequest,
  extent: DateRange | undefined,
  interval: Interval,
): DateRange | undefined {
  const { from, to } = question.range;
  if (from !== EARLIEST_MS && to !== LATEST_MS) return question.range;
  if (extent === undefined) return undefined;
  const widened = widenToBuckets(extent, { ...question, interval });
  return { from: from === EARLIEST_MS ? widened.from : from, to: to === LATEST_MS ? widened.to : to };
}

/** 24 to 100 bars, if possible. */
function bestInterval(range: DateRange | undefined): Interval {
  if (range === undefined) return 'day';
  const days = (range.to - range.from) / dayMs;
  if (days <= 2.5) return 'hour';
  if (days <= 100) return 'day';
  return days <= 280 ? 'week' : 'month';
}

/** Marks buckets that are not complete, so that nobody takes them for a drop. Only the first and the last can be cut. */
function markIncomplete(
  buckets: readonly Bucket[],
  interval: Interval,
  question: NumbersRequest,
): NumbersBucket[] {
  return buckets.map((bucket, at) => {
    const [from, to] = [Date.parse(bucket.start), Date.parse(bucket.end)];
    if (from <= question.nowMs && question.nowMs < to) return { ...bucket, incomplete: 'running' };
    if (at > 0 && at < buckets.length - 1) return bucket;
    const whole = bucketAround(from, interval, question);
    return whole.from === from && whole.to === to ? bucket : { ...bucket, incomplete: 'partial' };
  });
}
