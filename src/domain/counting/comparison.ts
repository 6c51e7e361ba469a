/** The range that a range is compared with. */
import { failure, oneOf, type Result, success } from '../result.js';
import { formatWithOffset, YEAR_ZERO_MS } from '../time/date-time.js';
import { dayMs } from '../time/duration.js';
import { fromLocal, offsetAt, type TimeZone, toLocal } from '../time/time-zone.js';
import type { Counts, PreviousCounts } from './counts.js';
import { type DateRange, EARLIEST_MS, LATEST_MS } from './date-range.js';

/**
 * - `previous` is the range of the same length that ends where the range begins. Its length is a number of local days, which
 *   may have 23 or 25 hours, and the rest in hours.
 * - `previous-year` has the same local dates and times, one year earlier. February 29 is not in that year: a bound on that
 *   day becomes the start of March 1, so that all other days are compared with themselves.
 */
export const COMPARISONS = ['previous', 'previous-year'] as const;

export type Comparison = (typeof COMPARISONS)[number];

export const parseComparison: (text: string) => Result<Comparison> = oneOf(COMPARISONS);

/** Fails if the range has not both bounds, or if there is no such range. */
export function findComparedRange(
  range: DateRange,
  comparison: Comparison,
  zone: TimeZone,
): Result<DateRange> {
  if (range.from === EARLIEST_MS || range.to === LATEST_MS) {
    return failure('needs a range with a start and an end; give both bounds, or a period other than all');
  }
  const found = comparison === 'previous' ? findPrevious(range, zone) : findPreviousYear(range, zone);
  return found.from < YEAR_ZERO_MS
    ? failure('the range to compare with begins before the year 0000')
    : success(found);
}

/** The counts of a compared range, in the order of the response. */
export function toPrevious({ from, to }: DateRange, zone: TimeZone, counts: Counts): PreviousCounts {
  const { web, api, other, total } = counts;
  const format = (timeMs: number): string => formatWithOffset(timeMs, offsetAt(timeMs, zone));
  return { web, api, other, total, dateFrom: format(from), dateTo: format(to) };
}

function findPrevious({ from, to }: DateRange, zone: TimeZone): DateRange {
  const localFrom = toLocal(from, zone);
  const days = Math.floor((toLocal(to, zone) - localFrom) / dayMs);
  if (days < 1) return { from: from - (to - from), to: from };
  const restMs = to - fromLocal(localFrom + days * dayMs, zone);
  return { from: fromLocal(localFrom - days * dayMs, zone) - restMs, to: from };
}

function findPreviousYear(range: DateRange, zone: TimeZone): DateRange {
  const from = oneYearEarlier(range.from, zone);
  // While a clock is set back, a later time may have an earlier local time.
  return { from, to: Math.max(from, oneYearEarlier(range.to, zone)) };
}

function oneYearEarlier(timeMs: number, zone: TimeZone): number {
  const localMs = toLocal(timeMs, zone);
  const date = new Date(localMs);
  const [year, month, day] = [date.getUTCFullYear() - 1, date.getUTCMonth(), date.getUTCDate()];
  const dayStartMs = new Date(0).setUTCFullYear(year, month, day);
  // setUTCFullYear reads February 29 of other years as March 1.
  const isSameDate = new Date(dayStartMs).getUTCDate() === day;
  const sinceMidnightMs = localMs - Math.floor(localMs / dayMs) * dayMs;
  return fromLocal(isSameDate ? dayStartMs + sinceMidnightMs : dayStartMs, zone);
}
