/** Numbers in the locale of the page. The locale is a parameter for tests. */
import { pageLocale } from './locale.js';

const formats = new Map<string, Intl.NumberFormat>();

/** Creating a format takes much longer than using it. */
function format(options: Intl.NumberFormatOptions, locale: string): Intl.NumberFormat {
  const name = JSON.stringify([options, locale]);
  const found = formats.get(name) ?? new Intl.NumberFormat(locale, options);
  formats.set(name, found);
  return found;
}

/** A count in full: 1,234,567. */
export function count(value: number, locale = pageLocale): string {
  return format({}, locale).format(value);
}

/** An abbreviated count: 1.2M. */
export function compact(value: number, locale = pageLocale): string {
  return format({ notation: 'compact', maximumFractionDigits: 1 }, locale).format(value);
}

/** A percentage: 38%, 4.2%; <0.1% for shares that would round to 0; a dash where there is no whole. */
export function share(part: number, whole: number, locale = pageLocale): string {
  if (whole === 0) return '–';
  const ratio = part / whole;
  if (part > 0 && ratio < 0.001) return `<${percent(0.001, locale)}`;
  return percent(ratio, locale);
}

export interface Change {
  /** `new` if the count was 0 before. */
  readonly direction: 'new' | 'up' | 'down' | 'same';
  /** The change without a sign, which `direction` gives. */
  readonly text: string;
}

/** The change of a count; null if there was nothing, and still is nothing. */
export function change(now: number, before: number, locale = pageLocale): Change | null {
  if (before === 0) return now === 0 ? null : { direction: 'new', text: 'new' };
  if (now === before) return { direction: 'same', text: 'no change' };
  const direction = now > before ? 'up' : 'down';
  return { direction, text: percent(Math.abs(now - before) / before, locale) };
}

function percent(ratio: number, locale: string): string {
  const digits = ratio > 0 && ratio < 0.0995 ? 1 : 0;
  const options = { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  return format(options, locale).format(ratio);
}
