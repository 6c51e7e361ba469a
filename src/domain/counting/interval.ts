/** How a range is cut into the hours, days, weeks or months of a time zone's own calendar. */
import { dayMs, hourMs } from '../time/duration.js';
import { listOffsetPeriods, type OffsetPeriod, type TimeZone } from '../time/time-zone.js';

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const;

export type Interval = (typeof INTERVALS)[number];

/** A moment at which one bucket ends and the next begins, and how far ahead of UTC the zone's clock is from then on. */
export interface Edge {
  readonly timeMs: number;
  readonly offsetMs: number;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Longer than any clock was ever set back (a day, in Alaska in 1867). */
const setBackMsMax = 2 * dayMs;

/** Longer than any bucket, a month in which the clock is set back included. */
const bucketMsMax = 33 * dayMs;

/**
 * The edges of all buckets that have a part in the range, in order: its two ends, and each moment between them at which
 * a new hour, day, week (from Monday on) or month begins. None where the range is empty. Undefined where there are more
 * than `bucketsMax` buckets.
 */
export function findBucketEdges(
  range: Range,
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

/** The whole bucket that a moment is in. */
export function bucketAround(timeMs: number, interval: Interval, zone: TimeZone): Range {
  let from = timeMs;
  const around = { from: timeMs - bucketMsMax, to: timeMs + bucketMsMax };
  for (const { timeMs: begin } of beginningsIn(around, interval, zone)) {
    if (begin > timeMs) return { from, to: begin };
    from = begin;
  }
  throw new Error(`no ${interval} ends within ${bucketMsMax} ms`);
}

/** The edges strictly within a range. */
function* beginningsIn(range: Range, interval: Interval, zone: TimeZone): Generator<Edge> {
  const beginnings = interval === 'hour' ? hoursIn(range, zone) : unitsIn(range, CALENDAR[interval], zone);
  for (const edge of beginnings) if (edge.timeMs > range.from) yield edge;
}

/** An hour begins on the zone's own full hours, and wherever its clock is changed. */
function* hoursIn(range: Range, zone: TimeZone): Generator<Edge> {
  for (const { from, to, offsetMs } of listOffsetPeriods(zone, range)) {
    yield { timeMs: from, offsetMs };
    const firstFull = Math.floor((from + offsetMs) / hourMs + 1) * hourMs - offsetMs;
    for (let timeMs = firstFull; timeMs < to; timeMs += hourMs) yield { timeMs, offsetMs };
  }
}

/** Days, weeks or months as numbers in a row, of times as the zone's clock shows them. */
interface Calendar {
  readonly unitOf: (localMs: number) => number;
  readonly startOf: (unit: number) => number;
}

const day: Calendar = { unitOf: (localMs) => Math.floor(localMs / dayMs), startOf: (unit) => unit * dayMs };

/** 1970-01-01 was a Thursday, three days behind its Monday. */
const daysBehindMonday = 3;

const CALENDAR: Readonly<Record<Exclude<Interval, 'hour'>, Calendar>> = {
  day,
  week: {
    unitOf: (localMs) => Math.floor((day.unitOf(localMs) + daysBehindMonday) / 7),
    startOf: (unit) => day.startOf(unit * 7 - daysBehindMonday),
  },
  month: {
    unitOf: (localMs) => {
      const date = new Date(localMs);
      return date.getUTCFullYear() * 12 + date.getUTCMonth();
    },
    // Date.UTC takes the years 0 to 99 for 1900 to 1999.
    startOf: (unit) =>
      new Date(0).setUTCFullYear(Math.floor(unit / 12), unit - Math.floor(unit / 12) * 12, 1),
  },
};

/**
 * A day, week or month begins when the zone's clock first shows it. So it has one beginning even where the clock goes
 * back over midnight and shows the day before again, begins late where its midnight is skipped, and is not there at all
 * where all of it is skipped.
 */
function* unitsIn(range: Range, { unitOf, startOf }: Calendar, zone: TimeZone): Generator<Edge> {
  let shown: number | undefined;
  const before = { from: range.from - setBackMsMax, to: range.to };
  for (const { from, to, offsetMs } of listOffsetPeriods(zone, before)) {
    const first: number = unitOf(from + offsetMs);
    let unit: number = shown === undefined ? first + 1 : Math.max(first, shown + 1);
    shown ??= first;
    for (; ; unit++) {
      const timeMs = Math.max(from, startOf(unit) - offsetMs);
      if (timeMs >= to) break;
      yield { timeMs, offsetMs };
      shown = unit;
    }
  }
}

function edgeAt(timeMs: number, zone: TimeZone): Edge {
  const [stretch]: OffsetPeriod[] = [...listOffsetPeriods(zone, { from: timeMs, to: timeMs + 1 })];
  return { timeMs, offsetMs: stretch?.offsetMs ?? 0 };
}
