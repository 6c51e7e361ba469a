/**
 * What the parameters of reports mean. The HTTP API, the command line, the tools for AI assistants and, through the server,
 * the client package all use this file, so that they answer alike.
 */

import { CALLER_FORM, isCallerName } from '../queries/caller.js';
import { collectProblems, failure, prefixProblems, quote, type Result, success } from '../result.js';
import { parseTimeZone, type TimeZone, UTC } from '../time/time-zone.js';
import { findComparedRange, parseComparison } from './comparison.js';
import { PARAMETER_NAMES, parseDateRange } from './date-bounds.js';
import type { DateRange } from './date-range.js';
import { INTERVALS, type Interval } from './interval.js';
import { findPeriod, parsePeriod } from './period.js';

/** The names of the parameters in the HTTP API (contract, parts 1, 3 and 4). */
export const REPORT_PARAMETER_NAMES = {
  ...PARAMETER_NAMES,
  period: 'period',
  timeZone: 'timeZone',
  compare: 'compare',
  caller: 'caller',
  interval: 'interval',
  by: 'by',
} as const;

export type ReportParameter = keyof typeof REPORT_PARAMETER_NAMES;

/** The parameters as the user wrote them. */
export type ReportInput = { readonly [Name in ReportParameter]?: string | undefined };

/** The names of the parameters in messages. */
export type ReportNames = Readonly<Record<ReportParameter, string>>;

/** The parameters that say which queries to count, of reports that count all callers together. */
const RANGE_PARAMETERS = ['from', 'to', 'period', 'timeZone', 'compare'] as const;

/** The parameters of each report. */
export const REPORT_PARAMETERS = {
  callers: RANGE_PARAMETERS,
  callerStats: [...RANGE_PARAMETERS, 'caller'],
  series: [...RANGE_PARAMETERS, 'caller', 'interval', 'by'],
} as const satisfies Readonly<Record<string, readonly ReportParameter[]>>;

export interface CountsRequest {
  readonly range: DateRange;
  readonly timeZone: TimeZone;
  /** The range to compare with. */
  readonly compared: DateRange | undefined;
  /** Counts only the queries of this caller. */
  readonly caller: string | undefined;
}

export interface SeriesRequest extends CountsRequest {
  readonly interval: Interval;
  /** Counts each of the busiest callers as well. */
  readonly byCaller: boolean;
}

export const DEFAULT_INTERVAL: Interval = 'day';

/** What `by` can be. */
export const SERIES_BY = ['caller'] as const;

/** Parses the parameters of a report at a moment. Reports every problem, each beginning with the parameter's name. */
export function parseCountsRequest(
  input: ReportInput,
  nowMs: number,
  names: ReportNames = REPORT_PARAMETER_NAMES,
): Result<CountsRequest> {
  const zone = prefixProblems(names.timeZone, parseTimeZone(input.timeZone ?? UTC));
  const timeZone = zone.ok ? zone.value : UTC;
  const range = parseRange(input, names, timeZone, nowMs);
  const compared = prefixProblems(names.compare, parseCompared(input.compare, range, timeZone));
  const caller = prefixProblems(names.caller, parseCaller(input.caller));
  if (!(range.ok && zone.ok && compared.ok && caller.ok)) {
    return failure(...collectProblems(range, zone, compared, caller));
  }
  return success({ range: range.value, timeZone, compared: compared.value, caller: caller.value });
}

/** As `parseCountsRequest`, for a series. */
export function parseSeriesRequest(
  input: ReportInput,
  nowMs: number,
  names: ReportNames = REPORT_PARAMETER_NAMES,
): Result<SeriesRequest> {
  const counts = parseCountsRequest(input, nowMs, names);
  const interval = prefixProblems(names.interval, parseInterval(input.interval ?? DEFAULT_INTERVAL));
  const byCaller = prefixProblems(names.by, parseBy(input, names));
  if (!(counts.ok && interval.ok && byCaller.ok)) {
    return failure(...collectProblems(counts, interval, byCaller));
  }
  return success({ ...counts.value, interval: interval.value, byCaller: byCaller.value });
}

function parseRange(
  input: ReportInput,
  names: ReportNames,
  zone: TimeZone,
  nowMs: number,
): Result<DateRange> {
  const { period } = input;
  if (period === undefined) return parseDateRange(input, names, zone);
  const parsed = prefixProblems(names.period, parsePeriod(period));
  const bounds = (['from', 'to'] as const).filter((bound) => input[bound] !== undefined);
  if (bounds.length === 0) return parsed.ok ? success(findPeriod(parsed.value, zone, nowMs)) : parsed;
  const given = bounds.map((bound) => names[bound]).join(' and ');
  return failure(
    ...collectProblems(parseDateRange(input, names, zone), parsed),
    `${names.period}: is given together with ${given}; give either a period or bounds`,
  );
}

function parseCompared(
  text: string | undefined,
  range: Result<DateRange>,
  zone: TimeZone,
): Result<DateRange | undefined> {
  if (text === undefined) return success(undefined);
  const comparison = parseComparison(text);
  if (!comparison.ok) return comparison;
  return range.ok ? findComparedRange(range.value, comparison.value, zone) : success(undefined);
}

function parseCaller(text: string | undefined): Result<string | undefined> {
  if (text === undefined || isCallerName(text)) return success(text);
  if (text === '') return failure(`is empty; leave it out or give ${CALLER_FORM}`);
  return failure(`${quote(text)} is not a caller; a caller is ${CALLER_FORM}`);
}

function parseInterval(text: string): Result<Interval> {
  const interval = INTERVALS.find((one) => one === text);
  const all = INTERVALS.join(', ');
  if (interval !== undefined) return success(interval);
  if (text === '') return failure(`is empty; leave it out or give one of ${all}`);
  return failure(`${quote(text)} is not an interval; the intervals are ${all}`);
}

function parseBy({ by, caller }: ReportInput, names: ReportNames): Result<boolean> {
  if (by === undefined) return success(false);
  if (by !== 'caller') return failure(`${quote(by)} is unknown; series can be split by caller only`);
  return caller === undefined
    ? success(true)
    : failure(`is given together with ${names.caller}; give one of them`);
}
