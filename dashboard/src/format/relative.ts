/** Relative times. */
import { pageLocale } from './locale.js';

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

const words = new Intl.RelativeTimeFormat(pageLocale, { numeric: 'auto' });

/** `5 minutes ago`, `in 3 days`, `just now`. Truncated to whole units, so that it never overstates the time. */
export function relative(at: number, now: number): string {
  const seconds = Math.trunc((at - now) / 1000);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length && (unit !== 'second' || Math.abs(seconds) >= 5))
      return words.format(Math.trunc(seconds / length), unit);
  }
  return 'just now';
}
