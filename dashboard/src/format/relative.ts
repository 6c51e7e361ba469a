/** How long ago, and how long until. In the language of the page, whose sentences it stands in; not the reader's. */

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `5 minutes ago`, `in 3 days`, `just now`. Whole units only, cut off, so that it never says more than has passed. */
export function relative(at: number, now: number): string {
  const seconds = Math.trunc((at - now) / 1000);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length && (unit !== 'second' || Math.abs(seconds) >= 5))
      return words.format(Math.trunc(seconds / length), unit);
  }
  return 'just now';
}
