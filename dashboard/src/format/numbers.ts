/** Numbers in the user's locale. The locale is a parameter for tests. */

type Locale = string | undefined;

/** A count in full: 1,234,567. */
export function count(value: number, locale?: Locale): string {
  return new Intl.NumberFormat(locale).format(value);
}

/** An abbreviated count: 1.2M. */
export function compact(value: number, locale?: Locale): string {
  return new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

/** A percentage: 38%, 4.2%; <0.1% for shares that would round to 0. */
export function share(part: number, whole: number, locale?: Locale): string {
  if (whole === 0) return percent(0, locale);
  const ratio = part / whole;
  if (part > 0 && ratio < 0.001) return `<${percent(0.001, locale)}`;
  return percent(ratio, locale);
}

export interface Change {
  readonly direction: 'up' | 'down' | 'same';
  /** The change without a sign, which `direction` gives. Null if the count was 0 before. */
  readonly text: string | null;
}

/** The change of a count. */
export function change(now: number, before: number, locale?: Locale): Change {
  const direction = now > before ? 'up' : now < before ? 'down' : 'same';
  return { direction, text: before === 0 ? null : percent(Math.abs(now - before) / before, locale) };
}

function percent(ratio: number, locale: Locale): string {
  const digits = ratio > 0 && ratio < 0.0995 ? 1 : 0;
  return new Intl.NumberFormat(locale, {
    style: 'percent',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(ratio);
}
