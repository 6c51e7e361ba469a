/** Periods such as `last-month`: ranges that depend on the day, in the calendar of a time zone. */
import { failure, quote, type Result, success } from '../result.js';
import type { TimeZone } from '../time/time-zone.js';
import { ALL_TIME, type DateRange } from './date-range.js';
import { type CalendarUnit, startOfUnit, unitAt } from './interval.js';

/**
 * A number of complete units before the running one. With 0 units, the running one until the end of today, so that it is
 * compared with as many days.
 */
interface PeriodRule {
  readonly unit: CalendarUnit;
  readonly complete: number;
}

const RULES = {
  today: { unit: 'day', complete: 0 },
  yesterday: { unit: 'day', complete: 1 },
  'last-7-days': { unit: 'day', complete: 7 },
  'last-30-days': { unit: 'day', complete: 30 },
  'last-90-days': { unit: 'day', complete: 90 },
  'this-week': { unit: 'week', complete: 0 },
  'last-week': { unit: 'week', complete: 1 },
  'this-month': { unit: 'month', complete: 0 },
  'last-month': { unit: 'month', complete: 1 },
  'this-quarter': { unit: 'quarter', complete: 0 },
  'last-quarter': { unit: 'quarter', complete: 1 },
  'this-year': { unit: 'year', complete: 0 },
  'last-year': { unit: 'year', complete: 1 },
  'last-12-months': { unit: 'month', complete: 12 },
} as const satisfies Readonly<Record<string, PeriodRule>>;

export type Period = keyof typeof RULES | 'all';

export const PERIODS: readonly Period[] = [...(Object.keys(RULES) as (keyof typeof RULES)[]), 'all'];

export function parsePeriod(text: string): Result<Period> {
  const period = PERIODS.find((one) => one === text);
  if (period !== undefined) return success(period);
  const all = PERIODS.join(', ');
  if (text === '') return failure(`is empty; leave it out or give one of ${all}`);
  return failure(`${quote(text)} is not a period; the periods are ${all}`);
}

/** The range of a period at a moment. */
export function findPeriod(period: Period, zone: TimeZone, nowMs: number): DateRange {
  if (period === 'all') return ALL_TIME;
  const { unit, complete }: PeriodRule = RULES[period];
  const running = unitAt(nowMs, unit, zone);
  const from = startOfUnit(running - complete, unit, zone);
  if (complete > 0) return { from, to: startOfUnit(running, unit, zone) };
  return { from, to: startOfUnit(unitAt(nowMs, 'day', zone) + 1, 'day', zone) };
}
