/** The labels below the bars. */
import { dayMs } from '../../../src/domain/time/duration.js';
import type { Bucket, Interval } from '../api/types.js';
import { bucketLabel, monthLabel } from '../format/dates.js';
import { wallMs } from '../time/local.js';
import { labelStep } from './layout.js';

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
const longMs = 366 * dayMs;

export interface Label {
  readonly index: number;
  readonly text: string;
}

/** Evenly spaced labels: hours and months at round values, days and weeks counted from the first bar. */
export function chartLabels(
  bars: readonly Bucket[],
  interval: Interval,
  width: number,
  locale?: string,
): Label[] {
  const step = labelStep(bars.length, interval, width, labelWidthPx[interval]);
  const isLong = wallMs(bars.at(-1)?.end ?? '') - wallMs(bars[0]?.start ?? '') > longMs;
  // Over more than a year, day and month are ambiguous.
  const isMonth = isLong && MONTHS[interval] === undefined;
  const labelOf = ({ start }: Bucket): string => {
    if (isMonth) return monthLabel(start, locale);
    const isDay = interval === 'hour' && bars.length > 26 && start.slice(11, 16) === '00:00';
    return bucketLabel(start, isDay ? 'day' : interval, locale);
  };
  return bars.flatMap((bar, index) =>
    labelPosition(bar, index, interval) % step === 0 ? [{ index, text: labelOf(bar) }] : [],
  );
}

function labelPosition({ start }: Bucket, index: number, interval: Interval): number {
  const months = MONTHS[interval];
  if (months !== undefined)
    return Math.floor((Number(start.slice(0, 4)) * 12 + Number(start.slice(5, 7)) - 1) / months);
  return interval === 'hour' ? Math.floor(wallMs(start) / 3_600_000) : index;
}
