/** The selected range, its exact instants, and the previous period. */
import { addDays, addMonths, type Day, daysBetween, firstOfMonth, firstOfYear, toDay } from './calendar.js';
import { startOfDay, toInstant, toLocal } from './zone.js';

export const PRESETS = [
  'today',
  'yesterday',
  '7d',
  '30d',
  '90d',
  'month',
  'last-month',
  'year',
  '12m',
  'all',
] as const;

export type Preset = (typeof PRESETS)[number];

/**
 * The selection. The ends of a custom range are local times in the selected zone: `YYYY-MM-DD`, including the last day,
 * or `YYYY-MM-DDTHH:mm`, excluding the last minute.
 */
export type Choice = { readonly preset: Preset } | { readonly from: string; readonly to: string };

/** The half-open range `[from, to)` in milliseconds since 1970; null means unbounded. */
export interface Range {
  readonly from: number | null;
  readonly to: number | null;
}

export const ALL_TIME: Range = { from: null, to: null };

export interface Bounded {
  readonly from: number;
  readonly to: number;
}

/** What a range is compared with: the one before it, or the same dates a year before. */
export const COMPARISONS = ['previous', 'previous-year'] as const;

export type Comparison = (typeof COMPARISONS)[number];

export const DEFAULT_CHOICE: Choice = { preset: '30d' };

/** The exact instants of a selection at the time `now`. */
export function resolveRange(choice: Choice, zone: string, now: number): Range {
  const days = localDays(choice, zone, now);
  if (days !== null) return { from: startOfDay(days.first, zone), to: startOfDay(days.end, zone) };
  return 'preset' in choice
    ? { from: null, to: null }
    : { from: parseBound(choice.from, zone, 'from'), to: parseBound(choice.to, zone, 'to') };
}

/** Whether queries that are recorded now can fall into the range. */
export function isOpen(range: Range, now: number): boolean {
  return range.to === null || range.to > now;
}

/**
 * The range to compare with. The previous period has equal length: as many local days, or the previous month or year. If the
 * range is not over, only the same elapsed part of it, so that a morning is compared with a morning. Null if there is none.
 */
export function comparedRange(
  choice: Choice,
  zone: string,
  now: number,
  comparison: Comparison,
): Bounded | null {
  const days = localDays(choice, zone, now);
  if (days === null) {
    const range = resolveRange(choice, zone, now);
    if (range.from === null || range.to === null) return null;
    const passed = Math.min(range.to, Math.max(now, range.from));
    if (comparison === 'previous-year')
      return { from: instantYearBefore(range.from, zone), to: instantYearBefore(passed, zone) };
    const from = range.from - (range.to - range.from);
    return { from, to: from + (passed - range.from) };
  }
  const isYear = comparison === 'previous-year';
  const first = isYear ? dayYearBefore(days.first) : daysBefore(choice, days);
  const end = startOfDay(isYear ? dayYearBefore(days.end) : days.first, zone);
  const from = startOfDay(first, zone);
  if (startOfDay(days.end, zone) <= now) return { from, to: end };
  const today = toLocal(now, zone);
  const day = isYear ? dayYearBefore(today.day) : addDays(first, daysBetween(days.first, today.day));
  const passed = toInstant({ day, time: today.time }, zone);
  return { from, to: Math.min(Math.max(passed, from), end) };
}

/** The same day of the year before. February 29 becomes March 1, as in the API. */
function dayYearBefore(day: Day): Day {
  const before = `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`;
  return toDay(before) ?? `${before.slice(0, 5)}03-01`;
}

function instantYearBefore(at: number, zone: string): number {
  const { day, time } = toLocal(at, zone);
  return toInstant({ day: dayYearBefore(day), time }, zone);
}

/** Whether both ends exist and are in order. */
export function isChoice(choice: Choice, zone: string): boolean {
  if ('preset' in choice) return true;
  const from = parseBound(choice.from, zone, 'from');
  const to = parseBound(choice.to, zone, 'to');
  return from !== null && to !== null && from < to;
}

/** The local days of a selection of whole days; `end` is the day after the last. */
function localDays(choice: Choice, zone: string, now: number): { first: Day; end: Day } | null {
  if (!('preset' in choice)) {
    const [first, last] = [toDay(choice.from), toDay(choice.to)];
    return first === undefined || last === undefined ? null : { first, end: addDays(last, 1) };
  }
  const today = toLocal(now, zone).day;
  const tomorrow = addDays(today, 1);
  switch (choice.preset) {
    case 'today':
      return { first: today, end: tomorrow };
    case 'yesterday':
      return { first: addDays(today, -1), end: today };
    case '7d':
    case '30d':
    case '90d':
      return { first: addDays(tomorrow, -Number.parseInt(choice.preset, 10)), end: tomorrow };
    case 'month':
      return { first: firstOfMonth(today), end: tomorrow };
    case 'last-month':
      return { first: addMonths(firstOfMonth(today), -1), end: firstOfMonth(today) };
    case 'year':
      return { first: firstOfYear(today), end: tomorrow };
    case '12m':
      return { first: addMonths(firstOfMonth(today), -11), end: tomorrow };
    case 'all':
      return null;
  }
}

/** The start of the previous period. */
function daysBefore(choice: Choice, { first, end }: { first: Day; end: Day }): Day {
  const preset = 'preset' in choice ? choice.preset : undefined;
  if (preset === 'month' || preset === 'last-month') return addMonths(first, -1);
  if (preset === 'year' || preset === '12m') return addMonths(first, -12);
  return addDays(first, -daysBetween(first, end));
}

function parseBound(text: string, zone: string, side: 'from' | 'to'): number | null {
  const [date = '', time] = text.split('T');
  const day = toDay(date);
  if (day === undefined) return null;
  if (time === undefined) return startOfDay(side === 'from' ? day : addDays(day, 1), zone);
  return /^([01]\d|2[0-3]):[0-5]\d$/.test(time) ? toInstant({ day, time }, zone) : null;
}
