import { type DateRange, EARLIEST_MS, LATEST_MS } from '../domain/counting/date-range.js';
import type { CountsRequest } from '../domain/counting/report-request.js';
import { CALLER_TYPE_DESCRIPTIONS, CALLER_TYPES } from '../domain/queries/caller.js';
import { dayOf, formatDay } from '../domain/queries/receipt.js';
import { formatWithOffset } from '../domain/time/date-time.js';
import { offsetAt, type TimeZone } from '../domain/time/time-zone.js';

/** What the answer to a question counts, in words: a model repeats them, so that a reader knows what a number means. */
export function describeQuestion({ range, timeZone, caller, compared, asOf }: CountsRequest): string {
  return [
    `Queries ${describeRange(range, timeZone)}. Time zone: ${timeZone}.`,
    ...(caller === undefined ? [] : [`Only those of the caller ${caller}.`]),
    ...(compared === undefined ? [] : [`previous: those ${describeRange(compared, timeZone)}.`]),
    ...(asOf === undefined ? [] : [`As they were at the start of ${formatDay(dayOf(asOf))} in UTC.`]),
    ...CALLER_TYPES.map((type) => `${type}: ${CALLER_TYPE_DESCRIPTIONS[type]}`),
  ].join(' ');
}

function describeRange({ from, to }: DateRange, timeZone: TimeZone): string {
  const format = (timeMs: number): string => formatWithOffset(timeMs, offsetAt(timeMs, timeZone));
  const start = from === EARLIEST_MS ? 'the first query' : format(from);
  return to === LATEST_MS
    ? `from ${start} to the last query`
    : `from ${start} up to, but not including, ${format(to)}`;
}
