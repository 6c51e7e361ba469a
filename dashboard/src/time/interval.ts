/** The interval of the bars. */
import type { Interval } from '../api/types.js';
import type { Range } from './range.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The most bars that can be told apart on a wide screen. */
const barsMax = 750;

/** Narrowest first. */
export const INTERVALS = [
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
] as const satisfies readonly Interval[];

const WIDTH_MS: Readonly<Record<Interval, number>> = {
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
  quarter: 91 * DAY_MS,
  year: 365 * DAY_MS,
};

/** The best interval for a range: 24 to 100 bars, if possible. */
export function autoInterval(range: Range): Interval {
  if (range.from === null || range.to === null) return 'month';
  const days = (range.to - range.from) / DAY_MS;
  if (days <= 2.5) return 'hour';
  if (days <= 100) return 'day';
  return days <= 280 ? 'week' : 'month';
}

/** Whether an interval makes few enough bars. Only the server knows the length of all time. */
export function isAllowed(interval: Interval, range: Range): boolean {
  if (range.from === null || range.to === null) return interval !== 'hour';
  return (range.to - range.from) / WIDTH_MS[interval] <= barsMax;
}

/** The selected interval, or the next wider one that is allowed. */
export function intervalFor(chosen: Interval | null, range: Range): Interval {
  if (chosen === null) return autoInterval(range);
  return INTERVALS.slice(INTERVALS.indexOf(chosen)).find((one) => isAllowed(one, range)) ?? 'year';
}
