/** The calendar that reports use: a time zone, and the day on which weeks begin. */
import { oneOf, type Result } from '../result.js';
import type { TimeZone } from './time-zone.js';

/** The days on which weeks can begin. */
export const WEEK_STARTS = ['monday', 'sunday', 'saturday'] as const;

export type WeekStart = (typeof WEEK_STARTS)[number];

export const parseWeekStart: (text: string) => Result<WeekStart> = oneOf(WEEK_STARTS);

export const DEFAULT_WEEK_START: WeekStart = 'monday';

export interface Calendar {
  readonly timeZone: TimeZone;
  readonly weekStart: WeekStart;
}
