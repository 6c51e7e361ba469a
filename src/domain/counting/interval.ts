/** Splits a range into the hours, days, weeks, months, quarters or years of a time zone's calendar. */
import { dayMs, hourMs } from '../time/duration.js';
import {
  clockChangeMsMax,
  fromLocal,
  listOffsetPeriods,
  offsetAt,
  type TimeZone,
} from '../time/time-zone.js';
import type { DateRange } from './date-range.js';

export const INTERVALS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

export type Interval = (typeof INTERVALS)[number];

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
 * The edges of all buckets in a range, in order: its two ends, and each moment in between at which an hour, day, week
 * (from Monday), month, quarter or year begins. Empty for an empty range. Undefined for more than `bucketsMax` buckets.
 */
export function findBucketEdges(
  range: DateRange,
  interval: Interval,
  zone: TimeZone,
  bucketsMax: number,
): Edge[] | undefined {
  if (range.from >= range.to) return [];
  const edges = [edgeAt(range.from, zone)];
  for (const edge of beginningsIn(range, interval, zone)) {
    if (edges.length === bucketsMax) return undefined;
    edges.push(edge);
  }
  edges.push(edgeAt(range.to, zone));
  return edges;
}

/** The whole bucket that contains a moment. */
export function bucketAround(timeMs: number, interval: Interval, zone: TimeZone): DateRange {
  let from = timeMs;
  const bucketMsMax = BUCKET_MS_MAX[interval];
  const around = { from: timeMs - bucketMsMax, to: timeMs + bucketMsMax };
  for (const { timeMs: begin } of beginningsIn(around, interval, zone)) {
    if (begin > timeMs) return { from, to: begin };
    from = begin;
  }
  throw new Error(`no ${interval} ends within ${bucketMsMax} ms`);
}

/** The edges strictly within a range. */
function* beginningsIn(range: DateRange, interval: Interval, zone: TimeZone): Generator<Edge> {
  const beginnings = interval === 'hour' ? hoursIn(range, zone) : unitsIn(range, CALENDAR[interval], zone);
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
interface Calendar {
  readonly toUnit: (localMs: number) => number;
  readonly unitStart: (unit: number) => number;
}

/** 1970-01-01 was a Thursday, three days after Monday. */
const sinceMondayMs = 3 * dayMs;

/** Units of so many months. Date.UTC would read the years 0 to 99 as 1900 to 1999. */
const ofMonths = (months: number): Calendar => ({
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

const CALENDAR: Readonly<Record<CalendarUnit, Calendar>> = {
  day: { toUnit: (localMs) => Math.floor(localMs / dayMs), unitStart: (unit) => unit * dayMs },
  week: {
    toUnit: (localMs) => Math.floor((localMs + sinceMondayMs) / (7 * dayMs)),
    unitStart: (unit) => unit * 7 * dayMs - sinceMondayMs,
  },
  month: ofMonths(1),
  quarter: ofMonths(3),
  year: ofMonths(12),
};

/**
 * A day, week or month begins when the zone's clock first shows it. So it begins once, even if the clock goes back over
 * midnight; it begins late if its midnight is skipped; and it does not exist if all of it is skipped.
 */
function* unitsIn(range: DateRange, { toUnit, unitStart }: Calendar, zone: TimeZone): Generator<Edge> {
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

function edgeAt(timeMs: number, zone: TimeZone): Edge {
  return { timeMs, offsetMs: offsetAt(timeMs, zone) };
}

/** The last unit that had begun at a moment: its number, as `startOfUnit` takes it. */
export function unitAt(timeMs: number, unit: CalendarUnit, zone: TimeZone): number {
  const { toUnit } = CALENDAR.day;
  let day = toUnit(timeMs + offsetAt(timeMs, zone));
  // A clock that was set back shows the day before once more.
  while (startOfUnit(day + 1, 'day', zone) <= timeMs) day++;
  return CALENDAR[unit].toUnit(CALENDAR.day.unitStart(day));
}

/** The moment at which a unit begins in a zone. */
export function startOfUnit(number: number, unit: CalendarUnit, zone: TimeZone): number {
  return fromLocal(CALENDAR[unit].unitStart(number), zone);
}
