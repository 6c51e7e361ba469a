/** Counts over time: the parameters of a series, and its response. */
import { collectProblems, failure, prefixProblems, quote, type Result, success } from '../result.js';
import { formatWithOffset } from '../time/date-time.js';
import { parseTimeZone, type TimeZone, UTC } from '../time/time-zone.js';
import { type Bucket, type Counts, toBucket } from './counts.js';
import { type DateRange, PARAMETER_NAMES, parseDateRange } from './date-range.js';
import { type Edge, INTERVALS, type Interval } from './interval.js';

export interface SeriesRequest {
  readonly range: DateRange;
  readonly interval: Interval;
  readonly timeZone: TimeZone;
}

/** The response of series (contract, part 3). The buckets tile the range. */
export interface Series {
  readonly interval: Interval;
  readonly timeZone: string;
  readonly buckets: readonly Bucket[];
}

/** The names of the parameters, for messages. */
export type SeriesNames = Readonly<Record<'from' | 'to' | 'interval' | 'timeZone', string>>;

/** The names in the HTTP API (contract, part 3). */
export const SERIES_PARAMETER_NAMES = {
  ...PARAMETER_NAMES,
  interval: 'interval',
  timeZone: 'timeZone',
} as const;

export const DEFAULT_INTERVAL: Interval = 'day';

/** Parses the optional parameters of a series. Reports every problem, each beginning with the parameter's name. */
export function parseSeriesRequest(
  parameters: { readonly [Name in keyof SeriesNames]?: string | undefined },
  names: SeriesNames = SERIES_PARAMETER_NAMES,
): Result<SeriesRequest> {
  const range = parseDateRange(parameters, names);
  const interval = prefixProblems(names.interval, parseInterval(parameters.interval ?? DEFAULT_INTERVAL));
  const timeZone = prefixProblems(names.timeZone, parseTimeZone(parameters.timeZone ?? UTC));
  if (!(range.ok && interval.ok && timeZone.ok))
    return failure(...collectProblems(range, interval, timeZone));
  return success({ range: range.value, interval: interval.value, timeZone: timeZone.value });
}

function parseInterval(text: string): Result<Interval> {
  const interval = INTERVALS.find((one) => one === text);
  const all = INTERVALS.join(', ');
  if (interval !== undefined) return success(interval);
  if (text === '') return failure(`is empty; leave it out or give one of ${all}`);
  return failure(`${quote(text)} is not an interval; the intervals are ${all}`);
}

/** The buckets between adjacent edges, each with its counts. */
export function toBuckets(edges: readonly Edge[], counts: readonly Counts[]): Bucket[] {
  const times = edges.map(({ timeMs, offsetMs }) => formatWithOffset(timeMs, offsetMs));
  return counts.map((count, at) => toBucket(times[at] ?? '', times[at + 1] ?? '', count));
}
