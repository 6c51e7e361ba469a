/** Dates and times in the locale of the page and the selected zone. The locale is a parameter for tests. */
import type { Interval } from '../api/types.js';
import type { Incomplete } from '../time/completeness.js';
import { pageLocale } from './locale.js';

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, options: Intl.DateTimeFormatOptions, locale: string): Intl.DateTimeFormat {
  const name = JSON.stringify([zone, options, locale]);
  const found = formats.get(name) ?? new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
  formats.set(name, found);
  return found;
}

const HOUR = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;

const DAY = { year: 'numeric', month: 'short', day: 'numeric' } as const;

/** Date and time to the minute: `3 Jun 2026, 14:05`. */
export function moment(at: number, zone: string, locale = pageLocale): string {
  return format(zone, { dateStyle: 'medium', timeStyle: 'short' }, locale).format(at);
}

/** Date and time to the second, with the zone. */
export function exact(at: number, zone: string, locale = pageLocale): string {
  const options = { ...DAY, hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;
  return format(zone, { ...options, timeZoneName: 'short' }, locale).format(at);
}

/** A day: `3 Jun 2026`. */
export function day(at: number, zone: string, locale = pageLocale): string {
  return format(zone, DAY, locale).format(at);
}

/** A month: `Jun 2026`. */
export function month(at: number, zone: string, locale = pageLocale): string {
  return format(zone, { year: 'numeric', month: 'short' }, locale).format(at);
}

/** The days of a half-open range, without times: `1 – 30 Jun 2026`. */
export function daySpan(from: number, to: number, zone: string, locale = pageLocale): string {
  return format(zone, DAY, locale).formatRange(from, Math.max(from, to - 1));
}

/** The half-open range before `to`: `1 – 30 Jun 2026`. Includes times unless it consists of whole days. */
export function span(from: number, to: number, zone: string, locale = pageLocale): string {
  if (isMidnight(from, zone) && isMidnight(to, zone)) return daySpan(from, to, zone, locale);
  return format(zone, { ...DAY, hour: 'numeric', minute: '2-digit' }, locale).formatRange(from, to);
}

/** The long name of a bucket: `Wed, 3 Jun 2026`, `3 Jun 2026, 14:00 – 15:00 GMT+2`. */
export function bucketTitle(
  { start, end }: { readonly start: number; readonly end: number },
  interval: Interval,
  zone: string,
  locale = pageLocale,
): string {
  switch (interval) {
    case 'hour':
      // The offset distinguishes the two hours of the same name when the clocks are set back.
      return `${format(zone, HOUR, locale).formatRange(start, end)} ${offsetName(start, zone)}`;
    case 'day':
      return format(zone, { ...DAY, weekday: 'short' }, locale).format(start);
    case 'week':
      return daySpan(start, end, zone, locale);
    case 'month':
      return format(zone, { year: 'numeric', month: 'long' }, locale).format(start);
    case 'quarter':
      return quarter(start, zone);
    case 'year':
      return format(zone, { year: 'numeric' }, locale).format(start);
  }
}

/** What to add to the name of a bucket that is not complete: `so far`, `partial: 3 Jun 2026, 14:00 – 18:00`. */
export function incompleteNote(
  {
    start,
    end,
    incomplete,
  }: { readonly start: number; readonly end: number; readonly incomplete?: Incomplete },
  zone: string,
  locale = pageLocale,
): string | null {
  if (incomplete === undefined) return null;
  return incomplete === 'running' ? 'so far' : `partial: ${span(start, end, zone, locale)}`;
}

/** The short label below a bar. */
export function bucketLabel(start: number, interval: Interval, zone: string, locale = pageLocale): string {
  switch (interval) {
    case 'hour':
      return format(zone, { timeStyle: 'short' }, locale).format(start);
    case 'day':
    case 'week':
      return format(zone, { month: 'short', day: 'numeric' }, locale).format(start);
    case 'month': {
      // Only January shows the year.
      const isJanuary = format(zone, { month: 'numeric' }, 'en').format(start) === '1';
      return format(zone, isJanuary ? { year: 'numeric' } : { month: 'short' }, locale).format(start);
    }
    case 'quarter':
      return quarter(start, zone);
    case 'year':
      return format(zone, { year: 'numeric' }, locale).format(start);
  }
}

/** A quarter of a year: `Q2 2026`. `Intl` has no format for it. */
function quarter(start: number, zone: string): string {
  const [month = 1, year] = format(zone, { year: 'numeric', month: 'numeric' }, 'en-US')
    .format(start)
    .split('/')
    .map(Number);
  return `Q${Math.ceil(month / 3)} ${year}`;
}

/** The UTC offset of a zone at a time: `GMT+2`. */
export function offsetName(at: number, zone: string): string {
  const parts = format(zone, { timeZoneName: 'shortOffset' }, 'en').formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

function isMidnight(at: number, zone: string): boolean {
  return /^00:00:00$/.test(
    format(zone, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }, 'en').format(
      at,
    ),
  );
}
