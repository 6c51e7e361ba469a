/** Counts over time: what may be asked of a series, and what its buckets look like. */

import { failure, quote, type Result, success } from '../result.js';
import { formatWithOffset } from '../time/date-time.js';
import { parseTimeZone, type TimeZone, UTC } from '../time/time-zone.js';
import { type Bucket, type Counts, toBucket } from './counts.js';
import { type BoundNames, type DateRange, PARAMETER_NAMES, parseDateRange } from './date-range.js';
import { type Edge, INTERVALS, type Interval } from './interval.js';

/** What a series is asked for. */
export interface SeriesRequest {
  readonly range: DateRange;
  readonly interval: Interval;
  readonly timeZone: TimeZone;
}

/** The answer of series (contract, part 3). The buckets tile the range. */
export interface Series {
  readonly interval: Interval;
  readonly timeZone: string;
  readonly buckets: readonly Bucket[];
}

/** What the parameters are called where they came from, for messages. */
export interface SeriesNames extends BoundNames {
  readonly interval: string;
  readonly timeZone: string;
}

/** The names of contract, part 3. */
export const SERIES_PARAMETER_NAMES: SeriesNames = {
  ...PARAMETER_NAMES,
  interval: 'interval',
  timeZone: 'timeZone',
};

export const DEFAULT_INTERVAL: Interval = 'day';

/** Reads the parameters, each optional. Every problem is reported, each beginning with the parameter's name. */
export function parseSeriesRequest(
  parameters: { readonly [Name in keyof SeriesNames]?: string | undefined },
  names: SeriesNames = SERIES_PARAMETER_NAMES,
): Result<SeriesRequest> {
  const range = parseDateRange(parameters, names);
  const interval = parseInterval(parameters.interval ?? DEFAULT_INTERVAL);
  const timeZone = parseTimeZone(parameters.timeZone ?? UTC);
  if (range.ok && interval.ok && timeZone.ok) {
    return success({ range: range.value, interval: interval.value, timeZone: timeZone.value });
  }
  return failure(
    ...(range.ok ? [] : range.problems),
    ...(interval.ok ? [] : interval.problems.map((problem) => `${names.interval}: ${problem}`)),
    ...(timeZone.ok ? [] : timeZone.problems.map((problem) => `${names.timeZone}: ${problem}`)),
  );
}

function parseInterval(text: string): Result<Interval> {
  const interval = INTERVALS.find((one) => one === text);
  const all = INTERVALS.join(', ');
  if (interval !== undefined) return success(interval);
  if (text === '') return failure(`is empty; leave it out or give one of ${all}`);
  return failure(`${quote(text)} is not an interval; there are ${all}`);
}

/** The buckets between neighbouring edges, with the counts of each. */
export function toBuckets(edges: readonly Edge[], counts: readonly Counts[]): Bucket[] {
  const times = edges.map(({ timeMs, offsetMs }) => formatWithOffset(timeMs, offsetMs));
  return counts.map((count, at) => toBucket(times[at] ?? '', times[at + 1] ?? '', count));
}
