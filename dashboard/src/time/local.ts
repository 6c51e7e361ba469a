/**
 * The local date-times with offset that the server sends, `2026-11-05T00:00:00-07:00`. They are shown as they are: the rules of
 * a zone may be newer than those that the browser knows.
 */
import { type Day, dayOf } from './calendar.js';

export type Local = string;

/** A range or a bucket, without its end. */
export interface LocalSpan {
  readonly start: Local;
  readonly end: Local;
}

/** The time on the clock as if it were one in UTC, in milliseconds since 1970. */
export function wallMs(local: Local): number {
  return Date.parse(`${local.slice(0, 19)}Z`);
}

/**
 * The last time on the clock. A clock change may skip the midnight at which the span ends: by the offset at its start it ends
 * there, by the one at its end an hour later.
 */
export function lastWallMs({ start, end }: LocalSpan): number {
  const offsets = [start, end].map((local) => wallMs(local) - Date.parse(local));
  return Math.max(Date.parse(end) - 1 + Math.min(...offsets), wallMs(start));
}

/** The days of a span, both included. */
export function daysOf(span: LocalSpan): { readonly from: Day; readonly to: Day } {
  return { from: span.start.slice(0, 10), to: dayOf(lastWallMs(span)) };
}

/** The offset from UTC: `GMT+2`. */
export function offsetName(local: Local): string {
  const [, sign = '', hours = '', minutes] = /([+-])(\d\d):(\d\d)$/.exec(local) ?? [];
  if (Number(hours) === 0 && Number(minutes ?? 0) === 0) return 'GMT';
  return `GMT${sign}${Number(hours)}${minutes === '00' ? '' : `:${minutes}`}`;
}
