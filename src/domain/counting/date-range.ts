import { failure, type Result, success } from '../result.js';
import { parseBound, YEAR_10000_MS, YEAR_ZERO_MS } from '../time/date-time.js';
import { dayMs } from '../time/duration.js';
import { BUCKET_WIDTHS_MS } from './buckets.js';

/**
 * A half-open range of time, `[from, to)`, in whole milliseconds since 1970: `from` is in, `to` is not, so that
 * adjacent ranges tile. `from` is never later than `to`. Unbounded sides hold `EARLIEST_MS` and `LATEST_MS`.
 */
export interface DateRange {
  readonly from: number;
  readonly to: number;
}

const widestMs = BUCKET_WIDTHS_MS[BUCKET_WIDTHS_MS.length - 1] ?? 1;

/** Not later than any time that can be written (year 0000, any offset), and on an edge of every bucket width. */
export const EARLIEST_MS = Math.floor((YEAR_ZERO_MS - 2 * dayMs) / widestMs) * widestMs;

/** Later than any time that can be written (year 9999, any offset), and on an edge of every bucket width. */
export const LATEST_MS = Math.ceil((YEAR_10000_MS + 2 * dayMs) / widestMs) * widestMs;

/** Everything ever recorded. */
export const ALL_TIME: DateRange = { from: EARLIEST_MS, to: LATEST_MS };

/** What the two bounds are called where they came from, for messages. */
export interface BoundNames {
  readonly from: string;
  readonly to: string;
}

/** The names of contract, part 1. */
export const PARAMETER_NAMES: BoundNames = { from: 'dateFrom', to: 'dateTo' };

/**
 * Reads the two bounds, each optional. Every problem is reported, each beginning with the bound's name: both
 * bounds bad makes two.
 */
export function parseDateRange(
  bounds: { readonly from?: string | undefined; readonly to?: string | undefined },
  names: BoundNames = PARAMETER_NAMES,
): Result<DateRange> {
  const from = bounds.from === undefined ? success(EARLIEST_MS) : parseBound(bounds.from);
  const to = bounds.to === undefined ? success(LATEST_MS) : parseBound(bounds.to);
  if (!(from.ok && to.ok)) {
    return failure(
      ...(from.ok ? [] : from.problems.map((problem) => `${names.from}: ${problem}`)),
      ...(to.ok ? [] : to.problems.map((problem) => `${names.to}: ${problem}`)),
    );
  }
  if (from.value > to.value) {
    return failure(
      `${names.from}: is later than ${names.to}; a range goes from the earlier time to the later`,
    );
  }
  return success({ from: from.value, to: to.value });
}
