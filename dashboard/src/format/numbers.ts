/** Numbers in the locale of the page. The locale is a parameter for tests. */
import { percentOf } from '../../../src/domain/counting/change.js';
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

/** A change of a count: +312. */
export function signed(value: number, locale = pageLocale): string {
  return format({ signDisplay: 'exceptZero' }, locale).format(value);
}

/** An abbreviated count: 1.2M. */
export function compact(value: number, locale = pageLocale): string {
  return format({ notation: 'compact', maximumFractionDigits: 1 }, locale).format(value);
}

/** A percentage, or a dash where there is no whole. */
export function share(part: number, whole: number): string {
  return whole === 0 ? '–' : percentOf(part, whole, pageLocale);
}
