/** The counts of a project. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { boundParameters } from '../format/curl.js';
import type { Bounded, Range } from '../time/range.js';
import { request } from './client.js';
import { type Asked, callersPath, countsPath, reportPath, seriesPath } from './paths.js';
import type { Callers, Counts, CutBounds, Interval, Series } from './types.js';

/** Refetch interval of ranges that include the current time. */
const refreshMs = 10_000;

const trendsStaleMs = 60_000;

/** Retries when a query was recorded between the three requests. */
const readingsMax = 3;

/** Whose counts, and the path of the API that has them. */
export interface CountsRef {
  readonly projectId: string;
  readonly path: string;
}

/** Everything that the overview shows of a range: three responses that agree with each other. */
export interface Reading {
  readonly counts: Counts;
  readonly series: Series;
  readonly callers: Callers;
}

export interface ProjectRef {
  readonly organizationId: string;
  readonly projectId: string;
}

export interface Shown extends CountsRef {
  readonly range: Range;
  readonly zone: string;
  readonly interval: Interval;
  /** The only caller to count; null for all. */
  readonly caller: string | null;
  /** Whether the dashboard chose the interval and may narrow it if there are too few buckets. */
  readonly automatic: boolean;
}

export function readingQuery(shown: Shown, live: boolean) {
  return queryOptions({
    queryKey: ['project', shown.projectId, 'reading', shown],
    queryFn: ({ signal }) => readAll(shown, signal),
    placeholderData: keepPreviousData,
    ...(live ? { refetchInterval: refreshMs } : {}),
  });
}

export function countsQuery({ projectId, path }: CountsRef, range: Range, caller: string | null = null) {
  return queryOptions({
    queryKey: ['project', projectId, 'counts', caller, range],
    queryFn: ({ signal }) => readCounts({ path, range, caller }, signal),
  });
}

/** The imported counts that the range cuts. They do not change while the page is open, or hardly ever. */
export function cutBoundsQuery(ref: CountsRef, range: Range) {
  return queryOptions({
    queryKey: ['project', ref.projectId, 'imported-counts', range],
    queryFn: ({ signal }) =>
      request<CutBounds>(
        'GET',
        reportPath(ref, 'imported-counts', boundParameters(range)),
        undefined,
        signal,
      ),
    enabled: range.from !== null || range.to !== null,
    placeholderData: keepPreviousData,
  });
}

/**
 * The counts of the range to compare with. Its end moves with the clock; the last response is shown until the next arrives.
 */
export function comparedCountsQuery(ref: CountsRef, range: Bounded | null, caller: string | null) {
  const { from, to } = range ?? { from: 0, to: 0 };
  const asked = { from, to };
  return queryOptions({
    ...countsQuery(ref, asked, caller),
    enabled: range !== null,
    placeholderData: (before, query) =>
      isSameStart(query?.queryKey, asked) && query?.queryKey[3] === caller ? before : undefined,
  });
}

/** The buckets of the range to compare with. */
export function comparedSeriesQuery(shown: Shown, range: Bounded | null, interval: Interval) {
  const asked = { ...shown, interval, range: range ?? { from: 0, to: 0 } };
  return queryOptions({
    queryKey: ['project', shown.projectId, 'series', shown.zone, interval, shown.caller, asked.range],
    queryFn: ({ signal }) => readSeries(asked, signal),
    enabled: range !== null,
    placeholderData: (before, query) =>
      isSameStart(query?.queryKey, asked.range) &&
      query?.queryKey[4] === interval &&
      query?.queryKey[5] === shown.caller
        ? before
        : undefined,
  });
}

/** The counts of the busiest callers over time. They are less urgent than the rest, and refreshed less often. */
export function trendsQuery(shown: Shown, interval: Interval) {
  const { range, zone } = shown;
  const query = { ...boundParameters(range), interval, timeZone: zone, by: 'caller' };
  return queryOptions({
    queryKey: ['project', shown.projectId, 'trends', zone, interval, range],
    queryFn: ({ signal }) => request<Series>('GET', reportPath(shown, 'series', query), undefined, signal),
    staleTime: trendsStaleMs,
    placeholderData: keepPreviousData,
  });
}

/** Whether two query keys end with ranges of the same start. */
function isSameStart(key: readonly unknown[] | undefined, { from }: Bounded): boolean {
  return (key?.at(-1) as Bounded | undefined)?.from === from;
}

async function readAll(shown: Shown, signal: AbortSignal): Promise<Reading> {
  for (let readings = 1; ; readings += 1) {
    const [counts, series, callers] = await Promise.all([
      readCounts(shown, signal),
      readBest(shown, signal),
      request<Callers>('GET', callersPath(shown), undefined, signal),
    ]);
    const sum = series.buckets.reduce((total, bucket) => total + bucket.total, 0);
    const agree = counts.total === sum && counts.total === totalOf(callers, shown.caller);
    if (agree || readings >= readingsMax) return { counts, series, callers };
  }
}

function totalOf({ total, callers }: Callers, caller: string | null): number {
  return caller === null ? total : (callers.find((one) => one.caller === caller)?.count ?? 0);
}

function readCounts(asked: Asked, signal: AbortSignal): Promise<Counts> {
  return request('GET', countsPath(asked), undefined, signal);
}

function readSeries(shown: Shown, signal: AbortSignal): Promise<Series> {
  return request('GET', seriesPath(shown), undefined, signal);
}

/** The length of all time is unknown before the server responds; a few months are shown as days. */
async function readBest(shown: Shown, signal: AbortSignal): Promise<Series> {
  const series = await readSeries(shown, signal);
  const unbounded = shown.range.from === null || shown.range.to === null;
  if (!shown.automatic || !unbounded || series.buckets.length > 3) return series;
  return readSeries({ ...shown, interval: 'day' }, signal);
}
