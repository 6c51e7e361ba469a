/** Percentages that rounding never makes false, and how a count changed. Dashboard, digests and commands use them. */

/** A part of a whole: `38%`, `4.2%`, `<0.1%`, `99.96%`. It is 0% or 100% only if it is exactly that. */
export function percentOf(part: number, whole: number, locale = 'en'): string {
  const ratio = part / whole;
  const format = (value: number, digits: number): string =>
    new Intl.NumberFormat(locale, {
      style: 'percent',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(value);
  if (part > 0 && ratio < 0.001) return `<${format(0.001, 1)}`;
  let digits = ratio > 0 && ratio < 0.0995 ? 1 : 0;
  while (part !== whole && digits < digitsMax && Number(ratio.toFixed(digits + 2)) === 1) digits += 1;
  return format(ratio, digits);
}

/** Enough to tell any two counts of which a percentage can be read. */
const digitsMax = 9;

export interface Change {
  /** `new` if the count was 0 before. `unknown` if it was not recorded for all of the time before. */
  readonly direction: 'new' | 'up' | 'down' | 'same' | 'unknown';
  /** The change without a sign, which `direction` gives. */
  readonly text: string;
}

interface Compared {
  /** The start of the range that is compared with. */
  readonly comparedFrom: string;
  /** The local date-time of the first query; null without queries. */
  readonly recordingBegan: string | null;
  readonly locale?: string;
}

/** The change of a count; null if there was nothing, and still is nothing. */
export function describeChange(
  now: number,
  before: number,
  { comparedFrom, recordingBegan, locale = 'en' }: Compared,
): Change | null {
  if (recordingBegan !== null && Date.parse(comparedFrom) < Date.parse(recordingBegan))
    return { direction: 'unknown', text: `recording began on ${dayOf(recordingBegan, locale)}` };
  if (before === 0) return now === 0 ? null : { direction: 'new', text: 'new' };
  if (now === before) return { direction: 'same', text: 'no change' };
  return { direction: now > before ? 'up' : 'down', text: percentOf(Math.abs(now - before), before, locale) };
}

/** The day of a local date-time, whatever its offset: `3 May 2026`. */
function dayOf(local: string, locale: string): string {
  const options = { timeZone: 'UTC', year: 'numeric', month: 'short', day: 'numeric' } as const;
  return new Intl.DateTimeFormat(locale, options).format(Date.parse(`${local.slice(0, 10)}T00:00:00Z`));
}
