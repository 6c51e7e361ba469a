/** The names on screen of what reports are asked with. */
import type { Comparison, Interval, Period, WeekStart } from '../api/types.js';

/** In the order of the list that they are selected from. */
export const PERIOD_NAMES: Readonly<Record<Period, string>> = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7-days-to-date': '7 days to date',
  '30-days-to-date': '30 days to date',
  '90-days-to-date': '90 days to date',
  '12-months-to-date': '12 months to date',
  'last-7-days': 'Last 7 days',
  'last-30-days': 'Last 30 days',
  'last-90-days': 'Last 90 days',
  'last-12-months': 'Last 12 months',
  'this-week': 'This week',
  'last-week': 'Last week',
  'this-month': 'This month',
  'last-month': 'Last month',
  'this-quarter': 'This quarter',
  'last-quarter': 'Last quarter',
  'this-year': 'This year',
  'last-year': 'Last year',
  all: 'All time',
};

export const COMPARISON_NAMES: Readonly<Record<Comparison, string>> = {
  previous: 'previous period',
  'previous-year': 'same period last year',
};

export const INTERVAL_NAMES: Readonly<Record<Interval, string>> = {
  hour: 'Hours',
  day: 'Days',
  week: 'Weeks',
  month: 'Months',
  quarter: 'Quarters',
  year: 'Years',
};

export const WEEK_START_NAMES: Readonly<Record<WeekStart, string>> = {
  monday: 'Monday',
  sunday: 'Sunday',
  saturday: 'Saturday',
};

/** What has a name, in order. */
export function keysOf<Key extends string>(names: Readonly<Record<Key, string>>): readonly Key[] {
  return Object.keys(names) as Key[];
}

/** The one that a text means; undefined if it means none. */
export function findKey<Key extends string>(
  names: Readonly<Record<Key, string>>,
  text: string | null,
): Key | undefined {
  return keysOf(names).find((key) => key === text);
}
