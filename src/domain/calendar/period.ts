/** Periods such as `last-month`: ranges that depend on the day, in a calendar. */

import { ALL_TIME, type DateRange } from '../counting/date-range.js';
import { failure, quote, type Result, success } from '../result.js';
import { listKnown } from '../suggest.js';
import type { Calendar } from '../time/calendar.js';
import { type CalendarUnit, startOfUnit, unitAt } from './interval.js';
import { PERIODS, type Period } from './names.js';
import type { Shift } from './shift.js';

/**
 * So many units. `complete` ones end before the running unit; those `to date` are the running unit until the end of today, and
 * those before it.
 */
interface PeriodRule {
  readonly units: number;
  readonly unit: CalendarUnit;
  readonly end: 'complete' | 'to date';
}

const RULES: Readonly<Record<Exclude<Period, 'all'>, PeriodRule>> = {
  today: { units: 1, unit: 'day', end: 'to date' },
  yesterday: { units: 1, unit: 'day', end: 'complete' },
  'last-7-days': { units: 7, unit: 'day', end: 'complete' },
  'last-30-days': { units: 30, unit: 'day', end: 'complete' },
  'last-90-days': { units: 90, unit: 'day', end: 'complete' },
  '7-days-to-date': { units: 7, unit: 'day', end: 'to date' },
  '30-days-to-date': { units: 30, unit: 'day', end: 'to date' },
  '90-days-to-date': { units: 90, unit: 'day', end: 'to date' },
  'this-week': { units: 1, unit: 'week', end: 'to date' },
  'last-week': { units: 1, unit: 'week', end: 'complete' },
  'this-month': { units: 1, unit: 'month', end: 'to date' },
  'last-month': { units: 1, unit: 'month', end: 'complete' },
  'this-quarter': { units: 1, unit: 'quarter', end: 'to date' },
  'last-quarter': { units: 1, unit: 'quarter', end: 'complete' },
  'this-year': { units: 1, unit: 'year', end: 'to date' },
  'last-year': { units: 1, unit: 'year', end: 'complete' },
  'last-12-months': { units: 12, unit: 'month', end: 'complete' },
  '12-months-to-date': { units: 12, unit: 'month', end: 'to date' },
};

export function parsePeriod(text: string): Result<Period> {
  const period = PERIODS.find((one) => one === text);
  if (period !== undefined) return success(period);
  if (text === '') return failure(`is empty; leave it out or give one of ${PERIODS.join(', ')}`);
  return failure(`${quote(text)} is not a period; ${listKnown('period', text, PERIODS)}`);
}

/** The range of a period at a moment. */
export function findPeriod(period: Period, calendar: Calendar, nowMs: number): DateRange {
  if (period === 'all') return ALL_TIME;
  const { units, unit, end } = RULES[period];
  const running = unitAt(nowMs, unit, calendar);
  if (end === 'complete')
    return { from: startOfUnit(running - units, unit, calendar), to: startOfUnit(running, unit, calendar) };
  const tomorrow = unitAt(nowMs, 'day', calendar) + 1;
  return {
    from: startOfUnit(running - units + 1, unit, calendar),
    to: startOfUnit(tomorrow, 'day', calendar),
  };
}

const UNIT_SHIFTS: Readonly<Record<CalendarUnit, Pick<Shift, 'months' | 'days'>>> = {
  day: { months: 0, days: 1 },
  week: { months: 0, days: 7 },
  month: { months: 1, days: 0 },
  quarter: { months: 3, days: 0 },
  year: { months: 12, days: 0 },
};

/** Moves a period to the one before it; undefined for all time. */
export function shiftOfPeriod(period: Period): Shift | undefined {
  if (period === 'all') return undefined;
  const { units, unit } = RULES[period];
  const { months, days } = UNIT_SHIFTS[unit];
  return { months: months * units, days: days * units, ms: 0 };
}
