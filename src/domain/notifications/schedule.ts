/** When notifications are checked, and which time each check is about. */
import { findComparedRange } from '../calendar/comparison.js';
import { bucketAround, startOfUnit, unitAt } from '../calendar/interval.js';
import type { Period } from '../calendar/names.js';
import { findPeriod } from '../calendar/period.js';
import type { DateRange } from '../counting/date-range.js';
import { type Calendar, DEFAULT_WEEK_START, type WeekStart } from '../time/calendar.js';
import { dayMs, hourMs, minuteMs } from '../time/duration.js';
import { fromLocal, type TimeZone, toLocal } from '../time/time-zone.js';
import type { DigestPeriod, NotificationKind, Trigger } from './notification.js';

/** How long after the end of a week or month its digest is made, so that queries which are sent late count. */
const digestDelayMs = 6 * hourMs;
/** The same after an hour that an alert is about. */
const hourDelayMs = 5 * minuteMs;
/** How often silence is checked. */
const silenceCheckMs = 10 * minuteMs;
/** The weeks before, whose same hour is the usual. */
const weeksCompared = 4;

/** The first check of a new or changed trigger. Nobody is told about a silence from before. */
export function firstCheck(trigger: Trigger, weekStart: WeekStart | null, nowMs: number): number {
  return nextCheck(trigger, weekStart, nowMs + waitMs(trigger));
}

function waitMs({ kind, hours }: Trigger): number {
  switch (kind) {
    case 'silence':
      return (hours ?? 0) * hourMs - 1;
    case 'digest':
    case 'spike':
    case 'drop':
    case 'threshold':
    case 'new_caller':
      return 0;
  }
}

/**
 * How far ahead the checks of each kind lie at most, with time to spare: a later one comes from a clock that was ahead. Of a silence, its
 * hours are added.
 */
export const CHECKS_AHEAD_MS = {
  digest: 32 * dayMs,
  silence: hourMs,
  spike: 2 * hourMs,
  drop: 2 * hourMs,
  threshold: 2 * hourMs,
  new_caller: 2 * hourMs,
} as const satisfies Readonly<Record<NotificationKind, number>>;

/** The first time after this one at which a trigger is checked. */
export function nextCheck(
  { kind, period, timeZone }: Trigger,
  weekStart: WeekStart | null,
  afterMs: number,
): number {
  const calendar = calendarOf(timeZone, weekStart);
  switch (kind) {
    case 'silence':
      return (Math.floor(afterMs / silenceCheckMs) + 1) * silenceCheckMs;
    case 'spike':
    case 'drop':
    case 'threshold':
    case 'new_caller':
      return bucketAround(afterMs - hourDelayMs, 'hour', calendar).to + hourDelayMs;
    case 'digest': {
      const unit = unitOf(period);
      const running = unitAt(afterMs - digestDelayMs, unit, calendar);
      return startOfUnit(running + 1, unit, calendar) + digestDelayMs;
    }
  }
}

/** The last full check time of a silence. All nodes that check then name the incident by it. */
export function silenceCheckAt(nowMs: number): number {
  return Math.floor(nowMs / silenceCheckMs) * silenceCheckMs;
}

const DIGEST_PERIODS = { week: 'last-week', month: 'last-month' } as const satisfies Readonly<
  Record<DigestPeriod, Period>
>;

/** The week or month that a digest is about, and the one before it. */
export function digestRanges(
  trigger: Pick<Trigger, 'period' | 'timeZone'>,
  weekStart: WeekStart | null,
  nowMs: number,
): { readonly range: DateRange; readonly previous: DateRange } {
  const period = DIGEST_PERIODS[unitOf(trigger.period)];
  const atMs = nowMs - digestDelayMs;
  const range = findPeriod(period, calendarOf(trigger.timeZone, weekStart), atMs);
  const previous = findComparedRange({ ...range, period }, 'previous', trigger.timeZone, atMs);
  if (!previous.ok) throw new Error(`Invariant violated: ${previous.problems.join()}`);
  return { range, previous: previous.value };
}

/**
 * The last full hour of the zone's clock, and the same hour of the four weeks before: ranges of the same length that begin
 * at the same local time.
 */
export function hourRanges(
  zone: TimeZone,
  nowMs: number,
): { readonly hour: DateRange; readonly compared: readonly DateRange[] } {
  const running = bucketAround(nowMs - hourDelayMs, 'hour', calendarOf(zone, null));
  const hour = bucketAround(running.from - 1, 'hour', calendarOf(zone, null));
  const localMs = toLocal(hour.from, zone);
  const compared = Array.from({ length: weeksCompared }, (_, at) => {
    const from = fromLocal(localMs - (at + 1) * 7 * dayMs, zone);
    return { from, to: from + hour.to - hour.from };
  });
  return { hour, compared };
}

function calendarOf(timeZone: TimeZone, weekStart: WeekStart | null): Calendar {
  return { timeZone, weekStart: weekStart ?? DEFAULT_WEEK_START };
}

function unitOf(period: DigestPeriod | null): DigestPeriod {
  return period ?? 'week';
}
