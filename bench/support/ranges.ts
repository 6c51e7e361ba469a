/** Ranges to request, and the expected answers by a naive count. */
import { type Counts, countsFromList, withTotal } from '../../src/domain/counting/counts.js';
import type { DateRange } from '../../src/domain/counting/date-range.js';
import { CALLER_TYPES } from '../../src/domain/queries/caller.js';
import { dayMs } from '../../src/domain/time/duration.js';
import type { Columns } from './columns.js';
import { randomFrom, YEAR } from './events.js';

export const BOUNDS = ['day', 'ms'] as const;

/** Whole days, or milliseconds. */
export type Bounds = (typeof BOUNDS)[number];

/** Enough different ranges that caching the last answer would not help. */
const rangesAsked = 256;
/** Ranges of about a year; with `day` bounds the first is exactly the year of the events. */
export function makeRanges(bounds: Bounds): DateRange[] {
  const random = randomFrom(7);
  const monthOff = (): number => Math.floor(random() * 30 * dayMs);
  return Array.from({ length: rangesAsked }, (_, index) =>
    bounds === 'day'
      ? { from: YEAR.from + index * dayMs, to: YEAR.to + index * dayMs }
      : { from: YEAR.from + monthOff(), to: YEAR.to - monthOff() },
  );
}

/** Ranges within another one, each at least a third of it, with millisecond bounds. */
export function rangesWithin({ from, to }: DateRange): DateRange[] {
  const random = randomFrom(8);
  const off = (): number => Math.floor((random() * (to - from)) / 3);
  return Array.from({ length: rangesAsked }, () => ({ from: from + off(), to: to - off() }));
}

export function toQueryString({ from, to }: DateRange, bounds: Bounds): string {
  const write = (timeMs: number): string => {
    const text = new Date(timeMs).toISOString();
    return bounds === 'day' ? text.slice(0, 10) : text;
  };
  return `dateFrom=${write(from)}&dateTo=${write(to)}`;
}

/** Compares every event with every range. */
export function recount({ times, types }: Columns, ranges: readonly DateRange[]): Counts[] {
  return ranges.map(({ from, to }) => {
    const counts = new Float64Array(CALLER_TYPES.length);
    // By index: an iterator takes ten times as long.
    for (let at = 0; at < times.length; at++) {
      const [time, type] = [times[at] as number, types[at] as number];
      if (time >= from && time < to) counts[type] = (counts[type] as number) + 1;
    }
    return withTotal(countsFromList([...counts]));
  });
}
