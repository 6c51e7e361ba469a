/** The names of the chart's intervals. */
import type { Interval } from '../api/types.js';

export const INTERVAL_NAMES: Readonly<Record<Interval, string>> = {
  hour: 'Hours',
  day: 'Days',
  week: 'Weeks',
  month: 'Months',
  quarter: 'Quarters',
  year: 'Years',
};

/** What a chart with bars of this interval shows: `Queries per day`. */
export function chartTitle(interval: Interval): string {
  return `Queries per ${interval}`;
}
