/**
 * A shift moves times into the past, so that a range and each bucket of a series can be compared with an earlier one. It moves
 * local dates and times: a day to a day, however many hours they have. No other code knows how.
 */

import type { DateRange } from '../counting/date-range.js';
import { dayMs } from '../time/duration.js';
import {
  clockChangeMsMax,
  fromLocal,
  listOffsetPeriods,
  offsetAt,
  type TimeZone,
  toLocal,
} from '../time/time-zone.js';
import type { Interval } from './names.js';

/**
 * So many months back, where the day has the same number; then so many days; then so many milliseconds of elapsed time. A shift
 * without months and days ignores the zone.
 */
export interface Shift {
  readonly months: number;
  readonly days: number;
  readonly ms: number;
  /** The end of the range that it moves, and where that goes, if a clock change may separate it from its date and time. */
  readonly end?: { readonly of: number; readonly to: number };
}

/**
 * Moves a bound of a range. A bound on a day that the other month does not have becomes the start of the month after. A clock
 * that is set back does not move a later bound before an earlier one.
 */
export function shiftBound(timeMs: number, shift: Shift, zone: TimeZone): number {
  if (isElapsed(shift)) return timeMs - shift.ms;
  if (timeMs === shift.end?.of) return shift.end.to;
  const localMs = latestLocal(timeMs, zone);
  const { dateMs, exists } = shiftDate(localMs, shift);
  return fromLocal(exists ? dateMs + timeOfDay(localMs) : dateMs, zone) - shift.ms;
}

/** Moves a bucket of a series; undefined if there was no such time. The bucket may be cut at both ends. */
export function shiftBucket(
  bucket: DateRange,
  interval: Interval,
  shift: Shift,
  zone: TimeZone,
): DateRange | undefined {
  if (isElapsed(shift)) return { from: bucket.from - shift.ms, to: bucket.to - shift.ms };
  const moved = SHIFT_OF_BUCKETS[interval](bucket, shift, zone);
  if (moved === undefined) return undefined;
  const isLast = interval !== 'hour' && bucket.to === shift.end?.of;
  const [from, to] = [moved.from - shift.ms, isLast ? shift.end.to : moved.to - shift.ms];
  return from < to ? { from, to } : undefined;
}

type ShiftOfBucket = (bucket: DateRange, shift: Shift, zone: TimeZone) => DateRange | undefined;

/** A day is compared with the day of the same number, but a month with all of the other month. */
const SHIFT_OF_BUCKETS: Readonly<Record<Interval, ShiftOfBucket>> = {
  hour: shiftHour,
  day: (bucket, shift, zone) =>
    shiftDays(bucket, startOfDay(latestLocal(bucket.from, zone)) + dayMs, shift, zone),
  week: (bucket, shift, zone) => shiftDays(bucket, Number.POSITIVE_INFINITY, shift, zone),
  month: shiftMonths,
  quarter: shiftMonths,
  year: shiftMonths,
};

/**
 * An hour is compared with the first one that the clock shows alike. The hour that a clock change repeats has no counterpart,
 * and neither has one whose counterpart a clock change skips.
 */
function shiftHour({ from, to }: DateRange, shift: Shift, zone: TimeZone): DateRange | undefined {
  const localMs = from + offsetAt(from, zone);
  if (fromLocal(localMs, zone) !== from) return undefined;
  const { dateMs, exists } = shiftDate(localMs, shift);
  if (!exists) return undefined;
  const movedMs = dateMs + timeOfDay(localMs);
  const begin = fromLocal(movedMs, zone);
  const end = begin + to - from;
  const isShown =
    begin + offsetAt(begin, zone) === movedMs && offsetAt(end - 1, zone) === offsetAt(begin, zone);
  return isShown ? { from: begin, to: end } : undefined;
}

/**
 * From the counterpart of the first day to that of the last one. `localToMax` is the local end of the bucket if a clock change
 * skips the days after it.
 */
function shiftDays({ from, to }: DateRange, localToMax: number, shift: Shift, zone: TimeZone): DateRange {
  const localTo = Math.min(latestLocal(to, zone), localToMax);
  const lastDayMs = Math.ceil(localTo / dayMs) * dayMs - dayMs;
  const last = shiftDate(lastDayMs, shift);
  const movedTo = last.exists ? last.dateMs + localTo - lastDayMs : last.dateMs;
  return { from: shiftBound(from, datesOf(shift), zone), to: fromLocal(movedTo, zone) };
}

function shiftMonths({ from, to }: DateRange, shift: Shift, zone: TimeZone): DateRange {
  const dates = datesOf(shift);
  return { from: shiftBound(from, dates, zone), to: shiftBound(to, dates, zone) };
}

function datesOf({ months, days }: Shift): Shift {
  return { months, days, ms: 0 };
}

function isElapsed({ months, days }: Shift): boolean {
  return months === 0 && days === 0;
}

/** The start of the local day to which a shift moves that of `localMs`; of the month after if the month has no such day. */
function shiftDate(
  localMs: number,
  { months, days }: Shift,
): { readonly dateMs: number; readonly exists: boolean } {
  const dateMs = startOfDay(localMs) - days * dayMs;
  if (months === 0) return { dateMs, exists: true };
  const date = new Date(dateMs);
  const [month, day] = [date.getUTCFullYear() * 12 + date.getUTCMonth() - months, date.getUTCDate()];
  const movedMs = dayOfMonth(month, day);
  const exists = new Date(movedMs).getUTCDate() === day;
  return { dateMs: exists ? movedMs : dayOfMonth(month + 1, 1), exists };
}

/** Months count from the year 0. Date.UTC would read the years 0 to 99 as 1900 to 1999. */
function dayOfMonth(month: number, day: number): number {
  const year = Math.floor(month / 12);
  return new Date(0).setUTCFullYear(year, month - year * 12, day);
}

function startOfDay(localMs: number): number {
  return Math.floor(localMs / dayMs) * dayMs;
}

function timeOfDay(localMs: number): number {
  return localMs - startOfDay(localMs);
}

/** The latest local time that the clock has shown up to a moment: while it repeats an hour, the end of that hour. */
function latestLocal(timeMs: number, zone: TimeZone): number {
  let latest = toLocal(timeMs, zone);
  for (const { to, offsetMs } of listOffsetPeriods(zone, { from: timeMs - clockChangeMsMax, to: timeMs }))
    latest = Math.max(latest, to + offsetMs);
  return latest;
}
