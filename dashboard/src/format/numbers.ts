/** Numbers as the reader writes them. Every function takes a locale for tests; left out, it is the reader's. */

type Locale = string | undefined;

/** A count in full: 1,234,567. */
export function count(value: number, locale?: Locale): string {
  return new Intl.NumberFormat(locale).format(value);
}

/** A count in little room: 1.2M. */
export function compact(value: number, locale?: Locale): string {
  return new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

/** A part of a whole: 38%, 4.2%; <0.1% for what is there but would round to nothing. */
export function share(part: number, whole: number, locale?: Locale): string {
  if (whole === 0) return percent(0, locale);
  const ratio = part / whole;
  if (part > 0 && ratio < 0.001) return `<${percent(0.001, locale)}`;
  return percent(ratio, locale);
}

export interface Change {
  readonly direction: 'up' | 'down' | 'same';
  /** Without a sign: the direction says it. Null where there was nothing before: no percentage says that. */
  readonly text: string | null;
}

/** How a count has changed. */
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
