/** Dates and times in the locale of the page, which is a parameter for tests. */
import type { Bucket, Interval } from '../api/types.js';
import { addDays } from '../time/calendar.js';
import type { Choice } from '../time/choice.js';
import { type Local, type LocalSpan, lastWallMs, offsetName, wallMs } from '../time/local.js';
import { PERIOD_NAMES } from '../time/names.js';
import { pageLocale } from './locale.js';

const formats = new Map<string, Intl.DateTimeFormat>();

function format(options: Intl.DateTimeFormatOptions, locale: string): Intl.DateTimeFormat {
  const name = JSON.stringify([options, locale]);
  const found = formats.get(name) ?? new Intl.DateTimeFormat(locale, options);
  formats.set(name, found);
  return found;
}

const DAY = { year: 'numeric', month: 'short', day: 'numeric' } as const;
const TIME = { hour: 'numeric', minute: '2-digit' } as const;

/** Local times are formatted as if they were in UTC. */
const LOCAL = { timeZone: 'UTC' } as const;

/** Date and time to the minute in the zone of the reader: `3 Jun 2026, 14:05`. */
export function moment(at: string, locale = pageLocale): string {
  return format({ dateStyle: 'medium', timeStyle: 'short' }, locale).format(Date.parse(at));
}

/** Date and time to the second, with the zone of the reader. */
export function exact(at: string, locale = pageLocale): string {
  const options = { ...DAY, ...TIME, second: '2-digit', timeZoneName: 'short' } as const;
  return format(options, locale).format(Date.parse(at));
}

/** A day in the zone of the reader, or in UTC: `3 Jun 2026`. */
export function day(at: string | number, zone?: 'UTC'): string {
  const options = zone === undefined ? DAY : { ...DAY, timeZone: zone };
  return format(options, pageLocale).format(new Date(at));
}

/** The days of a span, without times: `1 – 30 Jun 2026`. */
function daySpan(span: LocalSpan, locale = pageLocale): string {
  return format({ ...DAY, ...LOCAL }, locale).formatRange(wallMs(span.start), lastWallMs(span));
}

/** The days of a range of the API. */
export function rangeName({ dateFrom, dateTo }: { dateFrom: Local; dateTo: Local }): string {
  return daySpan({ start: dateFrom, end: dateTo });
}

/** A span, with times unless it consists of whole days. */
export function span({ start, end }: LocalSpan, locale = pageLocale): string {
  if (isMidnight(start) && isMidnight(end)) return daySpan({ start, end }, locale);
  return format({ ...DAY, ...TIME, ...LOCAL }, locale).formatRange(wallMs(start), wallMs(end));
}

/** The name of a selected range. */
export function choiceName(choice: Choice, locale = pageLocale): string {
  if ('period' in choice) return PERIOD_NAMES[choice.period];
  const end = choice.to.includes('T') ? choice.to : addDays(choice.to, 1);
  const [from, to] = [choice.from, end].map((text) =>
    text.includes('T') ? `${text}:00Z` : `${text}T00:00:00Z`,
  );
  return span({ start: from ?? '', end: to ?? '' }, locale);
}

/** The long name of a bucket: `Wed, 3 Jun 2026`, `3 Jun, 14:00 – 15:00 GMT+2`. */
export function bucketTitle(bucket: LocalSpan, interval: Interval, locale = pageLocale): string {
  const at = wallMs(bucket.start);
  switch (interval) {
    case 'hour': {
      const hours = format({ month: 'short', day: 'numeric', ...TIME, ...LOCAL }, locale);
      // The offset distinguishes the two hours of the same name when the clocks are set back.
      return `${hours.formatRange(at, Math.max(at, wallMs(bucket.end)))} ${offsetName(bucket.start)}`;
    }
    case 'day':
      return format({ ...DAY, weekday: 'short', ...LOCAL }, locale).format(at);
    case 'week':
      return daySpan(bucket, locale);
    case 'month':
      return format({ year: 'numeric', month: 'long', ...LOCAL }, locale).format(at);
    case 'quarter':
    case 'year':
      return bucketLabel(bucket.start, interval, locale);
  }
}

/** What to add to the name of a bucket that is not complete: `so far`, `partial: 3 Jun 2026, 14:00 – 18:00`. */
export function incompleteNote(bucket: Bucket, locale = pageLocale): string | null {
  if (bucket.incomplete === undefined) return null;
  return bucket.incomplete === 'running' ? 'so far' : `partial: ${span(bucket, locale)}`;
}

/** The short label below a bar. */
export function bucketLabel(start: Local, interval: Interval, locale = pageLocale): string {
  const at = wallMs(start);
  const year = start.slice(0, 4);
  const month = Number(start.slice(5, 7));
  switch (interval) {
    case 'hour':
      return format({ timeStyle: 'short', ...LOCAL }, locale).format(at);
    case 'day':
    case 'week':
      return format({ month: 'short', day: 'numeric', ...LOCAL }, locale).format(at);
    case 'month':
      // Only January shows the year.
      return month === 1
        ? monthLabel(start, locale)
        : format({ month: 'short', ...LOCAL }, locale).format(at);
    case 'quarter':
      return `Q${Math.ceil(month / 3)} ${year}`;
    case 'year':
      return year;
  }
}

/** Month and year, for labels of charts that are longer than a year. */
export function monthLabel(start: Local, locale = pageLocale): string {
  return format({ year: 'numeric', month: 'short', ...LOCAL }, locale).format(wallMs(start));
}

function isMidnight(local: Local): boolean {
  return local.slice(11, 19) === '00:00:00';
}
