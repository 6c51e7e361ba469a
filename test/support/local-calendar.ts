/** Time zones as the platform knows them: a slow oracle that shares no code with the domain. */
import type { Interval } from '../../src/domain/counting/names.js';

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (format === undefined) {
    const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
      ...numeric,
    });
    formats.set(timeZone, format);
  }
  return format;
}

/** A name for the local hour, day, week or month. An hour that is repeated has two names. */
export function localUnit(timeMs: number, interval: Interval, timeZone: string): string {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(timeMs)
      .map(({ type, value }) => [type, value]),
  );
  const { year = '', month = '', day = '', hour = '', timeZoneName = '' } = parts;
  switch (interval) {
    case 'hour':
      return `${year}-${month}-${day} ${hour} ${timeZoneName}`;
    case 'day':
      return `${year}-${month}-${day}`;
    case 'week':
      return mondayOf(Number(year), Number(month), Number(day));
    case 'month':
      return `${year}-${month}`;
    case 'quarter':
      return `${year}, quarter ${Math.ceil(Number(month) / 3)}`;
    case 'year':
      return year;
  }
}

function mondayOf(year: number, month: number, day: number): string {
  const date = new Date(Date.UTC(year, month - 1, day));
  while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1);
  return `${date.toISOString().slice(0, 10)}, Monday`;
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
  ['America/Havana', 'a midnight that comes twice', '2026-11-01T05:00:00Z'],
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
