/** The names that reports are asked with. They are the same in every way of reading; this file has no imports of its own. */

/**
 * Ranges that depend on the day. `last-…` ones are complete and end before today, or before the running week, month, quarter
 * or year. All others but `yesterday` and `all` end with today.
 */
export const PERIODS = [
  'today',
  'yesterday',
  'last-7-days',
  'last-30-days',
  'last-90-days',
  '7-days-to-date',
  '30-days-to-date',
  '90-days-to-date',
  'this-week',
  'last-week',
  'this-month',
  'last-month',
  'this-quarter',
  'last-quarter',
  'this-year',
  'last-year',
  'last-12-months',
  '12-months-to-date',
  'all',
] as const;

export type Period = (typeof PERIODS)[number];

/**
 * - `previous` is the period before: of a month the month before, of 30 days the 30 days before. Of explicit bounds it is the
 *   range of the same length that ends where the range begins; its length is a number of local days, which may have 23 or 25
 *   hours, and the rest in hours.
 * - `previous-year` has the same local dates and times, one year earlier.
 */
export const COMPARISONS = ['previous', 'previous-year'] as const;

export type Comparison = (typeof COMPARISONS)[number];

/** The lengths of the buckets of a series, narrowest first. */
export const INTERVALS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

export type Interval = (typeof INTERVALS)[number];
