import { YEAR_10000_MS, YEAR_ZERO_MS } from '../time/date-time.js';
import { dayMs } from '../time/duration.js';
import { BUCKET_WIDTHS_MS } from './buckets.js';

/**
 * A half-open range `[from, to)` in whole milliseconds since 1970, so that adjacent ranges tile. `from` is never later
 * than `to`. A missing bound becomes `EARLIEST_MS` or `LATEST_MS`.
 */
export interface DateRange {
  readonly from: number;
  readonly to: number;
}

const widestMs = BUCKET_WIDTHS_MS[BUCKET_WIDTHS_MS.length - 1] ?? 1;

/** Before any time that RFC 3339 can write (year 0000, any offset), on an edge of every bucket width. */
export const EARLIEST_MS = Math.floor((YEAR_ZERO_MS - 2 * dayMs) / widestMs) * widestMs;

/** After any time that RFC 3339 can write (year 9999, any offset), on an edge of every bucket width. */
export const LATEST_MS = Math.ceil((YEAR_10000_MS + 2 * dayMs) / widestMs) * widestMs;

export const ALL_TIME: DateRange = { from: EARLIEST_MS, to: LATEST_MS };
