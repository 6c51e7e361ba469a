/** The labels below the bars. */
import type { Interval } from '../api/types.js';
import { bucketLabel, month } from '../format/dates.js';
import { toLocal } from '../time/zone.js';
import { type Bar, labelStep } from './layout.js';

/** Width of one label, in pixels. */
const labelWidthPx: Readonly<Record<Interval, number>> = {
  hour: 56,
  day: 72,
  week: 72,
  month: 68,
  quarter: 72,
  year: 52,
};

/** The months of an interval. */
const MONTHS: Readonly<Partial<Record<Interval, number>>> = { month: 1, quarter: 3, year: 12 };

/** In a longer chart, the same day and month occur twice. */
const longMs = 366 * 86_400_000;

export interface Label {
  readonly index: number;
  readonly text: string;
}

/** Evenly spaced labels: hours and months at round values, days and weeks counted from the first bar. */
export function chartLabels(
  bars: readonly Bar[],
  interval: Interval,
  zone: string,
  width: number,
  locale?: string,
): Label[] {
  const step = labelStep(bars.length, interval, width, labelWidthPx[interval]);
  const isLong = (bars.at(-1)?.end ?? 0) - (bars[0]?.start ?? 0) > longMs;
  return bars.flatMap((bar, index) => {
    if (labelPosition(bar, index, interval, zone) % step !== 0) return [];
    // Over more than a year, day and month are ambiguous: show month and year.
    const isMonth = isLong && (interval === 'hour' || interval === 'day' || interval === 'week');
    const text = isMonth
      ? month(bar.start, zone, locale)
      : labelText(bar.start, interval, zone, bars.length, locale);
    return [{ index, text }];
  });
}

function labelPosition(bar: Bar, index: number, interval: Interval, zone: string): number {
  const { day, time } = toLocal(bar.start, zone);
  const length = MONTHS[interval];
  if (length !== undefined)
    return Math.floor((Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1) / length);
  if (interval === 'hour') return Math.floor(Date.parse(`${day}T${time}Z`) / 3_600_000);
  return index;
}

function labelText(
  start: number,
  interval: Interval,
  zone: string,
  bars: number,
  locale: string | undefined,
): string {
  const isMidnight = toLocal(start, zone).time === '00:00';
  if (interval === 'hour' && isMidnight && bars > 26) return bucketLabel(start, 'day', zone, locale);
  return bucketLabel(start, interval, zone, locale);
}
