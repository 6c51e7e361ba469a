/** The range that a range is compared with, and the buckets of a series with it. */

import type { Counts, PreviousBucket, PreviousCounts } from '../counting/counts.js';
import { type DateRange, EARLIEST_MS, LATEST_MS } from '../counting/date-range.js';
import { failure, oneOf, type Result, success } from '../result.js';
import { formatWithOffset, YEAR_ZERO_MS } from '../time/date-time.js';
import { dayMs } from '../time/duration.js';
import { fromLocal, offsetAt, type TimeZone, toLocal } from '../time/time-zone.js';
import { COMPARISONS, type Comparison, type Interval, type Period } from './names.js';
import { shiftOfPeriod } from './period.js';
import { type Shift, shiftBound, shiftBucket } from './shift.js';

export const parseComparison: (text: string) => Result<Comparison> = oneOf(COMPARISONS);

/** The range to compare with. */
export interface ComparedRange extends DateRange {
  /** What moves the range and its buckets there. */
  readonly shift: Shift;
}

/** A range, and the period that it is if it was not asked for with bounds. */
export interface AskedRange extends DateRange {
  readonly period: Period | undefined;
}

/**
 * The range to compare with at a moment: of a range that is not over, only the part up to this moment. Fails if the range has
 * not both bounds, or if there is no such range.
 */
export function findComparedRange(
  range: AskedRange,
  comparison: Comparison,
  zone: TimeZone,
  nowMs: number,
): Result<ComparedRange> {
  if (range.from === EARLIEST_MS || range.to === LATEST_MS) {
    return failure('needs a range with a start and an end; give both bounds, or a period other than all');
  }
  const shift = COMPARED[comparison](range, zone);
  const [from, wholeTo] = [shiftBound(range.from, shift, zone), shiftBound(range.to, shift, zone)];
  const to = range.to > nowMs ? Math.min(shiftBound(nowMs, shift, zone), wholeTo) : wholeTo;
  return from < YEAR_ZERO_MS
    ? failure('the range to compare with begins before the year 0000')
    : success({ from, to: Math.max(from, to), shift });
}

/** How each comparison moves a range. */
const COMPARED: Readonly<Record<Comparison, (range: AskedRange, zone: TimeZone) => Shift>> = {
  previous: (range, zone) => (range.period && shiftOfPeriod(range.period)) ?? shiftByLength(range, zone),
  'previous-year': () => ({ months: 12, days: 0, ms: 0 }),
};

function shiftByLength({ from, to }: DateRange, zone: TimeZone): Shift {
  const localFrom = toLocal(from, zone);
  const days = Math.floor((toLocal(to, zone) - localFrom) / dayMs);
  if (days < 1) return { months: 0, days: 0, ms: to - from };
  const ms = to - fromLocal(localFrom + days * dayMs, zone);
  return { months: 0, days, ms, end: { of: to, to: from } };
}

/** What a bucket of a series is compared with: the same part of the compared range. Undefined if there is no such part. */
export function findComparedBucket(
  bucket: DateRange,
  interval: Interval,
  compared: ComparedRange,
  zone: TimeZone,
): DateRange | undefined {
  const moved = shiftBucket(bucket, interval, compared.shift, zone);
  if (moved === undefined) return undefined;
  const [from, to] = [Math.max(moved.from, compared.from), Math.min(moved.to, compared.to)];
  return from < to ? { from, to } : undefined;
}

/** The counts of a compared range, in the order of the response. */
export function toPrevious({ from, to }: DateRange, zone: TimeZone, counts: Counts): PreviousCounts {
  const { web, api, other, total } = counts;
  return { web, api, other, total, dateFrom: formatIn(from, zone), dateTo: formatIn(to, zone) };
}

/** The counts that a bucket is compared with. */
export function toPreviousBucket({ from, to }: DateRange, zone: TimeZone, counts: Counts): PreviousBucket {
  const { web, api, other, total } = counts;
  return { start: formatIn(from, zone), end: formatIn(to, zone), web, api, other, total };
}

function formatIn(timeMs: number, zone: TimeZone): string {
  return formatWithOffset(timeMs, offsetAt(timeMs, zone));
}
