import { collectProblems, failure, prefixProblems, type Result, success } from '../result.js';
import { parseBound, YEAR_10000_MS, YEAR_ZERO_MS } from '../time/date-time.js';
import { dayMs } from '../time/duration.js';
import { fromLocal, type TimeZone, UTC } from '../time/time-zone.js';
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

/** The names of the two bounds, for messages: parameters of a URL, or options of a command. */
export type BoundNames = Readonly<Record<'from' | 'to', string>>;

/** The names in the HTTP API (contract, part 1). */
export const PARAMETER_NAMES: BoundNames = { from: 'dateFrom', to: 'dateTo' };

/**
 * Parses two optional bounds. Dates, and date-times without an offset, are in `zone`. Reports the problems of both, each
 * beginning with the bound's name.
 */
export function parseDateRange(
  bounds: { readonly [Name in keyof BoundNames]?: string | undefined },
  names: BoundNames = PARAMETER_NAMES,
  zone: TimeZone = UTC,
): Result<DateRange> {
  const parse = (name: string, text: string | undefined, unbounded: number): Result<number> =>
    text === undefined
      ? success(unbounded)
      : prefixProblems(
          name,
          parseBound(text, (localMs) => fromLocal(localMs, zone)),
        );
  const from = parse(names.from, bounds.from, EARLIEST_MS);
  const to = parse(names.to, bounds.to, LATEST_MS);
  if (!(from.ok && to.ok)) return failure(...collectProblems(from, to));
  if (from.value > to.value) {
    return failure(
      `${names.from}: is later than ${names.to}; a range goes from the earlier time to the later`,
    );
  }
  return success({ from: from.value, to: to.value });
}
