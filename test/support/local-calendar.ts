/** Time zones as another library knows them, which shares neither code nor files of data with the domain. */
import moment from 'moment-timezone';
import type { Interval } from '../../src/domain/calendar/names.js';
import { minuteMs, secondMs } from '../../src/domain/time/duration.js';

/** Local time minus UTC, to the second. */
export function otherOffsetAt(timeMs: number, timeZone: string): number {
  const minutes = moment.tz.zone(timeZone)?.utcOffset(timeMs);
  if (minutes === undefined) throw new Error(`the other library has no zone ${timeZone}`);
  return 0 - Math.round((minutes * minuteMs) / secondMs) * secondMs;
}

/** A name for the local hour, day, week or month. An hour that is repeated has two names. */
export function localUnit(timeMs: number, interval: Interval, timeZone: string): string {
  const offsetMs = otherOffsetAt(timeMs, timeZone);
  const local = new Date(timeMs + offsetMs);
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
  const day = local.toISOString().slice(0, 'YYYY-MM-DD'.length);
  switch (interval) {
    case 'hour':
      return `${day} ${local.getUTCHours()} ${offsetMs}`;
    case 'day':
      return day;
    case 'week':
      return mondayOf(local);
    case 'month':
      return `${year}-${month + 1}`;
    case 'quarter':
      return `${year}, quarter ${Math.floor(month / 3) + 1}`;
    case 'year':
      return `${year}`;
  }
}

function mondayOf(local: Date): string {
  const date = new Date(local);
  while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1);
  return `${date.toISOString().slice(0, 'YYYY-MM-DD'.length)}, Monday`;
}

/** The weekday, from 0 for Sunday, and the hour on the clock. */
export function localHourOfWeek(timeMs: number, timeZone: string): string {
  const local = new Date(timeMs + otherOffsetAt(timeMs, timeZone));
  return `${local.getUTCDay()} ${local.getUTCHours()}`;
}

/** Unusual transitions of time zones, each with a moment near it. */
export const oddMoments: readonly (readonly [timeZone: string, what: string, near: string])[] = [
  ['UTC', 'nothing', '2026-01-01T00:00:00Z'],
  ['Europe/Berlin', 'a day of 23 hours', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', 'a day of 25 hours', '2026-10-25T01:00:00Z'],
  ['Europe/Berlin', 'an end of local mean time', '1893-03-31T23:06:32Z'],
  ['America/New_York', 'a day of 23 hours', '2026-03-08T07:00:00Z'],
  ['America/New_York', 'a day of 25 hours', '2026-11-01T06:00:00Z'],
  ['America/Havana', 'a midnight that is not there', '2026-03-08T05:00:00Z'],
  ['America/Havana', 'a midnight that comes twice', '2025-11-02T05:00:00Z'],
  ['Africa/Cairo', 'a midnight that is not there', '2026-04-23T22:00:00Z'],
  ['Asia/Beirut', 'a midnight that is not there', '2026-03-28T22:00:00Z'],
  ['Australia/Lord_Howe', 'half an hour less', '2026-10-03T15:30:00Z'],
  ['Australia/Lord_Howe', 'half an hour more', '2026-04-04T15:00:00Z'],
  ['Asia/Kathmandu', 'three quarters of an hour', '2026-06-15T18:15:00Z'],
  ['Asia/Kathmandu', 'a quarter of an hour less', '1985-12-31T18:30:00Z'],
  ['Pacific/Apia', 'a day that is not there', '2011-12-30T10:00:00Z'],
  ['America/Sao_Paulo', 'a midnight that is not there', '2018-11-04T03:00:00Z'],
  ['America/Sao_Paulo', 'an hour before midnight that comes twice', '2018-02-18T02:00:00Z'],
  ['Asia/Gaza', 'two changes on the border of Saturday', '2040-10-20T00:00:00Z'],
  ['Africa/Casablanca', 'a month of another offset', '2026-02-15T02:00:00Z'],
  ['Antarctica/Troll', 'two hours', '2026-03-29T01:00:00Z'],
  ['Africa/Monrovia', 'seconds until 1972', '1972-01-07T00:44:30Z'],
];
