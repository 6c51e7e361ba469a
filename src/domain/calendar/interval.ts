/** Splits a range into the hours, days, weeks, months, quarters or years of a calendar. */

import type { DateRange } from '../counting/date-range.js';
import type { Calendar, WeekStart } from '../time/calendar.js';
import { dayMs, hourMs } from '../time/duration.js';
import {
  clockChangeMsMax,
  fromLocal,
  listOffsetPeriods,
  offsetAt,
  type TimeZone,
} from '../time/time-zone.js';
import type { Interval } from './names.js';

/** The moment at which one bucket ends and the next begins, and the zone's offset from UTC from then on. */
export interface Edge {
  readonly timeMs: number;
  readonly offsetMs: number;
}

/** Longer than any bucket, even if the clock is set back within it. */
const BUCKET_MS_MAX: Readonly<Record<Interval, number>> = {
  hour: 3 * hourMs,
  day: 4 * dayMs,
  week: 10 * dayMs,
  month: 34 * dayMs,
  quarter: 95 * dayMs,
  year: 369 * dayMs,
};

/**
 * The edges of all buckets in a range, in order: its two ends, and each moment in between at which an hour, day, week,
 * month, quarter or year begins. Empty for an empty range. Undefined for more than `bucketsMax` buckets.
 */
export function findBucketEdges(
  range: DateRange,
  interval: Interval,
  calendar: Calendar,
  bucketsMax: number,
): Edge[] | undefined {
  if (range.from >= range.to) return [];
  const edges = [edgeAt(range.from, calendar.timeZone)];
  for (const edge of beginningsIn(range, interval, calendar)) {
    if (edges.length === bucketsMax) return undefined;
    edges.push(edge);
  }
  edges.push(edgeAt(range.to, calendar.timeZone));
  return edges;
}

/** The whole bucket that contains a moment. */
export function bucketAround(timeMs: number, interval: Interval, calendar: Calendar): DateRange {
  let from = timeMs;
  const bucketMsMax = BUCKET_MS_MAX[interval];
  const around = { from: timeMs - bucketMsMax, to: timeMs + bucketMsMax };
  for (const { timeMs: begin } of beginningsIn(around, interval, calendar)) {
    if (begin > timeMs) return { from, to: begin };
    from = begin;
  }
  throw new Error(`no ${interval} ends within ${bucketMsMax} ms`);
}

/** The edges strictly within a range. */
function* beginningsIn(range: DateRange, interval: Interval, calendar: Calendar): Generator<Edge> {
  const { timeZone } = calendar;
  const beginnings =
    interval === 'hour'
      ? hoursIn(range, timeZone)
      : unitsIn(range, numberingOf(interval, calendar.weekStart), timeZone);
  for (const edge of beginnings) if (edge.timeMs > range.from) yield edge;
}

/** An hour begins on the zone's full hours and wherever its offset changes. */
function* hoursIn(range: DateRange, zone: TimeZone): Generator<Edge> {
  for (const { from, to, offsetMs } of listOffsetPeriods(zone, range)) {
    yield { timeMs: from, offsetMs };
    const firstFull = Math.floor((from + offsetMs) / hourMs + 1) * hourMs - offsetMs;
    for (let timeMs = firstFull; timeMs < to; timeMs += hourMs) yield { timeMs, offsetMs };
  }
}

/** Numbers the days, weeks or months of local times. */
interface Numbering {
  readonly toUnit: (localMs: number) => number;
  readonly unitStart: (unit: number) => number;
}

/** Units of so many days, of which one began so many days before 1970-01-01. */
const ofDays = (days: number, daysBefore: number): Numbering => ({
  toUnit: (localMs) => Math.floor((localMs + daysBefore * dayMs) / (days * dayMs)),
  unitStart: (unit) => (unit * days - daysBefore) * dayMs,
});

/** Units of so many months. Date.UTC would read the years 0 to 99 as 1900 to 1999. */
const ofMonths = (months: number): Numbering => ({
  toUnit: (localMs) => {
    const date = new Date(localMs);
    return Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / months);
  },
  unitStart: (unit) => {
    const month = unit * months;
    return new Date(0).setUTCFullYear(Math.floor(month / 12), month - Math.floor(month / 12) * 12, 1);
  },
});

/** The intervals that are whole days. */
export type CalendarUnit = Exclude<Interval, 'hour'>;

const DAYS = ofDays(1, 0);

/** 1970-01-01 was a Thursday. */
const WEEKS: Readonly<Record<WeekStart, Numbering>> = {
  monday: ofDays(7, 3),
  sunday: ofDays(7, 4),
  saturday: ofDays(7, 5),
};

const NUMBERINGS: Readonly<Record<Exclude<CalendarUnit, 'week'>, Numbering>> = {
  day: DAYS,
  month: ofMonths(1),
  quarter: ofMonths(3),
  year: ofMonths(12),
};

function numberingOf(unit: CalendarUnit, weekStart: WeekStart): Numbering {
  return unit === 'week' ? WEEKS[weekStart] : NUMBERINGS[unit];
}

/**
 * A day, week or month begins when the zone's clock first shows it. So it begins once, even if the clock goes back over
 * midnight; it begins late if its midnight is skipped; and it does not exist if all of it is skipped.
 */
function* unitsIn(range: DateRange, { toUnit, unitStart }: Numbering, zone: TimeZone): Generator<Edge> {
  let shown: number | undefined;
  const before = { from: range.from - clockChangeMsMax, to: range.to };
  for (const { from, to, offsetMs } of listOffsetPeriods(zone, before)) {
    const first: number = toUnit(from + offsetMs);
    let unit: number = shown === undefined ? first + 1 : Math.max(first, shown + 1);
    shown ??= first;
    for (; ; unit++) {
      const timeMs = Math.max(from, unitStart(unit) - offsetMs);
      if (timeMs >= to) break;
      yield { timeMs, offsetMs };
      shown = unit;
    }
  }
}

/** The hour of the week that the clock shows from an edge on, from 0. */
export function hourOfWeek({ timeMs, offsetMs }: Edge, weekStart: WeekStart): number {
  const { toUnit, unitStart } = WEEKS[weekStart];
  const localMs = timeMs + offsetMs;
  return Math.floor((localMs - unitStart(toUnit(localMs))) / hourMs);
}

function edgeAt(timeMs: number, zone: TimeZone): Edge {
  return { timeMs, offsetMs: offsetAt(timeMs, zone) };
}

/** The last unit that had begun at a moment: its number, as `startOfUnit` takes it. */
export function unitAt(timeMs: number, unit: CalendarUnit, { timeZone, weekStart }: Calendar): number {
  let day = DAYS.toUnit(timeMs + offsetAt(timeMs, timeZone));
  // A clock that was set back shows the day before once more.
  while (fromLocal(DAYS.unitStart(day + 1), timeZone) <= timeMs) day++;
  return numberingOf(unit, weekStart).toUnit(DAYS.unitStart(day));
}

/** The moment at which a unit begins in a calendar. */
export function startOfUnit(number: number, unit: CalendarUnit, { timeZone, weekStart }: Calendar): number {
  return fromLocal(numberingOf(unit, weekStart).unitStart(number), timeZone);
}
