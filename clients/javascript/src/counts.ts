/** What the reader asks for and gets. A test compares these types with the server's, which the OpenAPI document describes. */

import type { Interval } from '../../../src/domain/calendar/names.js';

export type { Comparison, Interval, Period } from '../../../src/domain/calendar/names.js';

/** The day on which weeks begin. */
export type WeekStart = 'monday' | 'sunday' | 'saturday';

/** The number of queries of each type of caller. */
interface Counts {
  /** Queries from the documentation site. */
  readonly web: number;
  /** Queries from direct API calls. */
  readonly api: number;
  /** Queries from other sources, such as integrations and SDKs. */
  readonly other: number;
  /** The sum of all types. */
  readonly total: number;
}

/** `start` is inclusive, `end` is not; both with the time zone's offset. */
interface Bucket extends Counts {
  readonly start: string;
  readonly end: string;
}

interface Compared {
  /** The counts of the range that `compare` asks for. The bounds are RFC 3339 with the time zone's offset. */
  readonly previous?: Counts & { readonly dateFrom: string; readonly dateTo: string };
}

interface CallerCount {
  /** `web`, `api`, or the name of an integration or SDK. */
  readonly caller: string;
  readonly type: 'web' | 'api' | 'other';
  /** The number of its queries. */
  readonly count: number;
}

/** Counts by type of caller. */
export type CallerStats = Counts & Compared;

/** Counts over time. */
export interface CallerStatsSeries extends Compared {
  readonly interval: Interval;
  readonly timeZone: string;
  /**
   * In order of time, including buckets without queries. `previous` has the counts of the bucket's counterpart, with
   * `compare`; null if it has none.
   */
  readonly buckets: readonly (Bucket & { readonly previous?: Bucket | null })[];
  /** With `by`: the busiest callers, largest count first, then by name. `counts` has a number for each bucket. */
  readonly callers?: readonly (CallerCount & { readonly counts: readonly number[] })[];
  /** With `by`: all other callers together. `callers` is how many these are. */
  readonly rest?: { readonly callers: number; readonly count: number; readonly counts: readonly number[] };
}

/** Counts by caller, largest first, then by name. */
export interface Callers extends Compared {
  readonly total: number;
  readonly callers: readonly CallerCount[];
}
