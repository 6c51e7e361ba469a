/**
 * Counts by caller type. `CALLER_TYPES` is the one list of types; the first functions below spell the
 * types out for speed, and a test compares them with the list. Everything else derives from the list or from these functions.
 */
import type { Steps } from '../../shared/steps.js';
import { CALLER_TYPES, type CallerType, callerType } from '../queries/caller.js';
import { sortInSteps } from './sort-in-steps.js';

/** The number of queries of each caller type. */
export type TypeCounts = Readonly<Record<CallerType, number>>;

/** The response of caller-stats. `total` is the sum of all types. */
export interface Counts extends TypeCounts {
  readonly total: number;
}

/** The fields of `Counts` in the order of every response, CSV file and table. */
export const COUNT_FIELDS = [...CALLER_TYPES, 'total'] as const;

/** Builds an object with one value for each caller type. */
export function mapTypes<T>(valueFor: (type: CallerType) => T): Record<CallerType, T> {
  return { web: valueFor('web'), api: valueFor('api'), other: valueFor('other') };
}

/** Adds the total. No other code computes one, so a total never comes from a second read. */
export function withTotal({ web, api, other }: TypeCounts): Counts {
  return { web, api, other, total: web + api + other };
}

/** The counts of queries that all have one type. */
export function countsOfType(type: CallerType, total: number): Counts {
  return { ...zeroCounts(), [type]: total, total };
}

/** The counts of the range that a report is compared with. The bounds are RFC 3339 with the zone's offset. */
export interface PreviousCounts extends Counts {
  readonly dateFrom: string;
  readonly dateTo: string;
}

/** A report that may be compared with another range. */
export interface Compared {
  readonly previous?: PreviousCounts;
}

/** The response of caller-stats. */
export type CallerStats = Counts & Compared;

/** The counts of one bucket of a series: `start` is inclusive, `end` is not. Both are RFC 3339 with the zone's offset. */
export interface Bucket extends Counts {
  readonly start: string;
  readonly end: string;
  /** The counts of the bucket's counterpart, if the series is compared; null if it has none. */
  readonly previous?: PreviousBucket | null;
}

/** The counts that a bucket is compared with. */
export interface PreviousBucket extends Counts {
  readonly start: string;
  readonly end: string;
}

/** Builds a bucket. Spreading the counts would take three times as long, and a series has up to 10,000 buckets. */
export function toBucket(
  start: string,
  end: string,
  { web, api, other, total }: Counts,
  previous?: PreviousBucket | null,
): Bucket {
  return previous === undefined
    ? { start, end, web, api, other, total }
    : { start, end, web, api, other, total, previous };
}

/** Adds up any number of counts, type by type. */
export function addCounts(counts: readonly TypeCounts[]): TypeCounts {
  const sum = zeroCounts();
  for (const { web, api, other } of counts) {
    sum.web += web;
    sum.api += api;
    sum.other += other;
  }
  return sum;
}

export function zeroCounts(): Record<CallerType, number> {
  return { web: 0, api: 0, other: 0 };
}

/** Counts from a number for each type, in the order of `CALLER_TYPES`. */
export function countsFromList([web = 0, api = 0, other = 0]: readonly number[]): TypeCounts {
  return { web, api, other };
}

/** The response of callers. `total` is the sum of all callers. */
export interface CallerCounts extends Compared {
  readonly total: number;
  /** The largest count first, then by name. */
  readonly callers: readonly CallerCount[];
}

export interface CallerCount {
  readonly caller: string;
  readonly type: CallerType;
  readonly count: number;
}

/** Builds the response of callers: adds types and the total, sorts, and leaves out callers without queries. */
export function* toCallerCounts(
  counted: Iterable<readonly [caller: string, count: number]>,
): Steps<CallerCounts> {
  const sorted = yield* sortInSteps(
    [...counted].filter(([, count]) => count !== 0),
    ([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1),
  );
  const callers = sorted.map(([caller, count]) => ({ caller, type: callerType(caller), count }));
  return { total: callers.reduce((sum, { count }) => sum + count, 0), callers };
}

/** All callers but the first ones, together. */
export interface RestOfCallers {
  /** How many there are. */
  readonly callers: number;
  readonly count: number;
}

/** The first callers and, if there are more than `callersMax`, the rest. They add up to the same total. */
export function firstCallers(
  callers: readonly CallerCount[],
  callersMax: number,
): { readonly callers: readonly CallerCount[]; readonly rest?: RestOfCallers } {
  if (callers.length <= callersMax) return { callers };
  const others = callers.slice(callersMax);
  const count = others.reduce((sum, one) => sum + one.count, 0);
  return { callers: callers.slice(0, callersMax), rest: { callers: others.length, count } };
}

/** The counts of queries by these callers. */
export function sumByType(callers: readonly CallerCount[]): Counts {
  const sums = zeroCounts();
  for (const { type, count } of callers) sums[type] += count;
  return withTotal(sums);
}
