/**
 * What the parameters of reports mean. The HTTP API, the command line, the tools for AI assistants and, through the server,
 * the client package all use this file, so that they answer alike.
 */

import {
  type AskedRange,
  type ComparedRange,
  findComparedRange,
  parseComparison,
} from '../calendar/comparison.js';
import { type Comparison, INTERVALS, type Interval } from '../calendar/names.js';
import { findPeriod, parsePeriod } from '../calendar/period.js';
import { formatTime } from '../format.js';
import { CALLER_FORM, isCallerName } from '../queries/caller.js';
import {
  dayOf,
  formatDay,
  parseDay,
  parseReceiptFilter,
  RECEIPT_PARAMETER_NAMES,
  type ReceiptFilter,
  type ReceiptInput,
  type ReceiptNames,
} from '../queries/receipt.js';
import { collectProblems, failure, prefixProblems, quote, type Result, success } from '../result.js';
import { listKnown } from '../suggest.js';
import { type Calendar, DEFAULT_WEEK_START, parseWeekStart, type WeekStart } from '../time/calendar.js';
import { dayMs, quarterHourMs } from '../time/duration.js';
import { parseTimeZone, UTC } from '../time/time-zone.js';
import { PARAMETER_NAMES, parseDateRange } from './date-bounds.js';
import type { DateRange } from './date-range.js';

/** The names of the parameters in the HTTP API. */
export const REPORT_PARAMETER_NAMES = {
  ...PARAMETER_NAMES,
  period: 'period',
  timeZone: 'timeZone',
  weekStart: 'weekStart',
  compare: 'compare',
  caller: 'caller',
  interval: 'interval',
  by: 'by',
  layout: 'layout',
  times: 'times',
  asOf: 'asOf',
  since: 'since',
} as const;

export type ReportParameter = keyof typeof REPORT_PARAMETER_NAMES;

/** The parameters as the user wrote them. */
export type ReportInput = { readonly [Name in ReportParameter]?: string | undefined };

/** The names of the parameters in messages. */
export type ReportNames = Readonly<Record<ReportParameter, string>>;

/** The parameters that say which time to count. */
const RANGE_PARAMETERS = ['from', 'to', 'period', 'timeZone', 'weekStart'] as const;

const COMPARED_PARAMETERS = [...RANGE_PARAMETERS, 'compare'] as const;

/** The parameters of each report. */
export const REPORT_PARAMETERS = {
  cutBounds: [...RANGE_PARAMETERS, 'interval'],
  callers: [...COMPARED_PARAMETERS, 'asOf'],
  callerStats: [...COMPARED_PARAMETERS, 'caller', 'asOf'],
  series: [...COMPARED_PARAMETERS, 'caller', 'interval', 'by', 'layout', 'times', 'asOf'],
  changes: ['since', ...RANGE_PARAMETERS],
  numbers: [...COMPARED_PARAMETERS, 'caller', 'interval'],
  weekHours: [...RANGE_PARAMETERS, 'caller'],
  /** Not counts, but the queries themselves. */
  queries: [...RANGE_PARAMETERS, 'caller'],
} as const satisfies Readonly<Record<string, readonly ReportParameter[]>>;

export interface CountsRequest extends Calendar {
  readonly range: DateRange;
  /** The range to compare with. */
  readonly compared: ComparedRange | undefined;
  /** Counts only the queries of this caller. */
  readonly caller: string | undefined;
  /** Counts as they were at this moment, the start of a UTC day. */
  readonly asOf?: number | undefined;
}

/** How the counts of a range have changed. */
export interface ChangesRequest extends CountsRequest {
  /** The start of a UTC day. */
  readonly since: number;
}

export interface SeriesRequest extends CountsRequest {
  readonly interval: Interval;
  /** Counts each of the busiest callers as well. */
  readonly byCaller: boolean;
  /** How it is written as CSV. */
  readonly csv?: CsvForm;
  /** Fewer buckets than a series may have otherwise. */
  readonly bucketsMax?: number;
}

/** Which queries to read. */
export interface QueriesRequest extends CountsRequest {
  readonly receipts: ReceiptFilter;
}

/** What a range cuts, and its buckets if there is an interval. */
export interface CutBoundsRequest extends CountsRequest {
  readonly interval: Interval | undefined;
}

/** What the dashboard shows of a range. */
export interface NumbersRequest extends CountsRequest {
  readonly nowMs: number;
  /** The interval that was asked for; undefined for the best one. */
  readonly interval: Interval | undefined;
}

/** What the parameters depend on. */
export interface AskingContext {
  readonly nowMs: number;
  /** The names of the parameters in messages; by default those of the HTTP API. */
  readonly names?: ReportNames;
  /** The day on which weeks begin unless `weekStart` is given: the project's own. */
  readonly weekStart?: WeekStart | null | undefined;
}

export const DEFAULT_INTERVAL: Interval = 'day';

/** What `by` can be. */
export const SERIES_BY = ['caller'] as const;

/** How CSV by caller is laid out: a column for each caller, or a row for each caller and bucket. */
export const LAYOUTS = ['wide', 'long'] as const;

/** How CSV writes times: with their offset, as JSON does, or as spreadsheets read them, which know no offsets. */
export const TIMES = ['offset', 'local'] as const;

export interface CsvForm {
  readonly layout: (typeof LAYOUTS)[number];
  readonly times: (typeof TIMES)[number];
}

/** Parses the parameters of a report at a moment. Reports every problem, each beginning with the parameter's name. */
export function parseCountsRequest(input: ReportInput, context: AskingContext): Result<CountsRequest> {
  return parseCompared(input, context, (found) => found);
}

/** As `parseCountsRequest`, for the queries themselves. */
export function parseQueriesRequest(
  input: ReportInput & ReceiptInput,
  context: AskingContext,
  names: ReceiptNames = RECEIPT_PARAMETER_NAMES,
): Result<QueriesRequest> {
  const counts = parseCountsRequest(input, context);
  const receipts = parseReceiptFilter(input, names);
  if (!(counts.ok && receipts.ok)) return failure(...collectProblems(counts, receipts));
  return success({ ...counts.value, receipts: receipts.value });
}

/** As `parseCountsRequest`, for a series. */
export function parseSeriesRequest(input: ReportInput, context: AskingContext): Result<SeriesRequest> {
  const { names = REPORT_PARAMETER_NAMES } = context;
  const counts = parseCountsRequest(input, context);
  const interval = prefixProblems(names.interval, parseInterval(input.interval ?? DEFAULT_INTERVAL));
  const byCaller = prefixProblems(names.by, parseBy(input, names));
  const layout = prefixProblems(names.layout, parseLayout(input, names));
  const times = prefixProblems(names.times, parseTimes(input.times));
  if (!(counts.ok && interval.ok && byCaller.ok && layout.ok && times.ok)) {
    return failure(...collectProblems(counts, interval, byCaller, layout, times));
  }
  return success({
    ...counts.value,
    interval: interval.value,
    byCaller: byCaller.value,
    csv: { layout: layout.value, times: times.value },
  });
}

/** As `parseCountsRequest`, for the dashboard: compares with the period before unless told otherwise, and if it can. */
export function parseNumbersRequest(input: ReportInput, context: AskingContext): Result<NumbersRequest> {
  const { nowMs, names = REPORT_PARAMETER_NAMES } = context;
  const asked = { ...input, compare: input.compare ?? DEFAULT_COMPARISON };
  const counts = parseCompared(asked, context, (found) => (found.ok ? found : success(undefined)));
  const interval = parseOptionalInterval(input, names);
  if (!(counts.ok && interval.ok)) return failure(...collectProblems(counts, interval));
  return success({ ...counts.value, nowMs, interval: interval.value });
}

/** As `parseCountsRequest`, for what a range cuts. */
export function parseCutBoundsRequest(input: ReportInput, context: AskingContext): Result<CutBoundsRequest> {
  const counts = parseCountsRequest(input, context);
  const interval = parseOptionalInterval(input, context.names);
  if (!(counts.ok && interval.ok)) return failure(...collectProblems(counts, interval));
  return success({ ...counts.value, interval: interval.value });
}

const DEFAULT_COMPARISON: Comparison = 'previous';

/** As `parseCountsRequest`, for changes. */
export function parseChangesRequest(input: ReportInput, context: AskingContext): Result<ChangesRequest> {
  const { nowMs, names = REPORT_PARAMETER_NAMES } = context;
  const counts = parseCountsRequest(input, context);
  const since: Result<number> = prefixProblems(
    names.since,
    input.since === undefined
      ? failure('is missing; give the day since whose start the counts have changed, such as 2026-01-31')
      : parsePastDay(input.since, nowMs),
  );
  const problems = counts.ok ? quarterProblems(counts.value, names) : [];
  if (!(counts.ok && since.ok) || problems.length > 0)
    return failure(...collectProblems(counts, since), ...problems);
  return success({ ...counts.value, since: since.value });
}

/** Parses the start of a UTC day that is not over, or has not begun later than now. */
function parsePastDay(text: string, nowMs: number): Result<number> {
  const day = parseDay(text);
  if (!day.ok) return day;
  return day.value * dayMs <= nowMs
    ? success(day.value * dayMs)
    : failure(
        `${quote(text)} lies in the future; the last day that can be asked for is ${formatDay(dayOf(nowMs))}`,
      );
}

/** What changed is told by quarter hours, in which all time zones begin their days. */
function quarterProblems(
  { range, compared }: Pick<CountsRequest, 'range' | 'compared'>,
  names: ReportNames,
): string[] {
  const bounds = [
    [names.from, range.from],
    [names.to, range.to],
    [names.compare, compared?.from ?? 0],
    [names.compare, compared?.to ?? 0],
  ] as const;
  return bounds
    .filter(([, timeMs]) => timeMs % quarterHourMs !== 0)
    .map(([name, timeMs]) => {
      return `${name}: ${formatTime(timeMs)} is not the start of a quarter hour, and what changed is known by quarter hours`;
    });
}

/** `orNone` decides what it means that there is no range to compare with. */
function parseCompared(
  input: ReportInput,
  context: AskingContext,
  orNone: (found: Result<ComparedRange>) => Result<ComparedRange | undefined>,
): Result<CountsRequest> {
  const { names = REPORT_PARAMETER_NAMES } = context;
  const asOf: Result<number | undefined> =
    input.asOf === undefined
      ? success(undefined)
      : prefixProblems(names.asOf, parsePastDay(input.asOf, context.nowMs));
  const nowMs = (asOf.ok ? asOf.value : undefined) ?? context.nowMs;
  const asked = parseRangeRequest(input, context);
  const compare = (): Result<ComparedRange | undefined> => {
    if (input.compare === undefined) return success(undefined);
    const comparison = parseComparison(input.compare);
    if (!comparison.ok || !asked.range.ok) return comparison.ok ? success(undefined) : comparison;
    return orNone(findComparedRange(asked.range.value, comparison.value, asked.calendar.timeZone, nowMs));
  };
  const compared = prefixProblems(names.compare, compare());
  const caller = prefixProblems(names.caller, parseCaller(input.caller));
  if (!(asked.range.ok && asked.problems.length === 0 && compared.ok && caller.ok && asOf.ok)) {
    return failure(
      ...collectProblems(asked.range),
      ...asked.problems,
      ...collectProblems(compared, caller, asOf),
    );
  }
  const { from, to } = asked.range.value;
  const request: CountsRequest = {
    range: { from, to },
    ...asked.calendar,
    compared: compared.value,
    caller: caller.value,
  };
  if (asOf.value === undefined) return success(request);
  const problems = [
    ...periodProblems(input, context, { ...request.range, asOf: asOf.value }),
    ...quarterProblems(request, names),
  ];
  return problems.length > 0 ? failure(...problems) : success({ ...request, asOf: asOf.value });
}

/** What a period names now must be what it named then, so that then and all changes since are now. One that goes on may. */
function periodProblems(
  input: ReportInput,
  context: AskingContext,
  { from, to, asOf }: DateRange & { readonly asOf: number },
): string[] {
  const { names = REPORT_PARAMETER_NAMES } = context;
  const { range } = parseRangeRequest(input, { ...context, nowMs: asOf });
  if (!range.ok) return [];
  const { from: fromThen, to: toThen } = range.value;
  if (from === fromThen && (to === toThen || toThen > asOf)) return [];
  return [
    `${names.period}: ${input.period} was another range then; give ${names.from} and ${names.to} instead`,
  ];
}

/** The range, the calendar that it is in, and the problems of the calendar. */
function parseRangeRequest(
  input: ReportInput,
  { nowMs, names = REPORT_PARAMETER_NAMES, weekStart: own }: AskingContext,
): { readonly range: Result<AskedRange>; readonly calendar: Calendar; readonly problems: readonly string[] } {
  const zone = prefixProblems(names.timeZone, parseTimeZone(input.timeZone ?? UTC));
  const week = prefixProblems(names.weekStart, parseWeekStart(input.weekStart ?? own ?? DEFAULT_WEEK_START));
  const calendar = {
    timeZone: zone.ok ? zone.value : UTC,
    weekStart: week.ok ? week.value : DEFAULT_WEEK_START,
  };
  return {
    range: parseAskedRange(input, names, calendar, nowMs),
    calendar,
    problems: collectProblems(zone, week),
  };
}

function parseAskedRange(
  input: ReportInput,
  names: ReportNames,
  calendar: Calendar,
  nowMs: number,
): Result<AskedRange> {
  const bounds = parseDateRange(input, names, calendar.timeZone);
  if (input.period === undefined) return bounds.ok ? success({ ...bounds.value, period: undefined }) : bounds;
  const period = prefixProblems(names.period, parsePeriod(input.period));
  const given = (['from', 'to'] as const).filter((bound) => input[bound] !== undefined);
  if (given.length > 0) {
    return failure(
      ...collectProblems(bounds, period),
      `${names.period}: is given together with ${given.map((bound) => names[bound]).join(' and ')}; give either a period or bounds`,
    );
  }
  return period.ok ? success({ ...findPeriod(period.value, calendar, nowMs), period: period.value }) : period;
}

function parseCaller(text: string | undefined): Result<string | undefined> {
  if (text === undefined || isCallerName(text)) return success(text);
  if (text === '') return failure(`is empty; leave it out or give ${CALLER_FORM}`);
  return failure(`${quote(text)} is not a caller; a caller is ${CALLER_FORM}`);
}

function parseOptionalInterval(
  { interval }: ReportInput,
  names: ReportNames = REPORT_PARAMETER_NAMES,
): Result<Interval | undefined> {
  return interval === undefined ? success(interval) : prefixProblems(names.interval, parseInterval(interval));
}

function parseInterval(text: string): Result<Interval> {
  const interval = INTERVALS.find((one) => one === text);
  if (interval !== undefined) return success(interval);
  if (text === '') return failure(`is empty; leave it out or give one of ${INTERVALS.join(', ')}`);
  return failure(`${quote(text)} is not an interval; ${listKnown('interval', text, INTERVALS)}`);
}

function parseBy({ by, caller }: ReportInput, names: ReportNames): Result<boolean> {
  if (by === undefined) return success(false);
  if (by !== 'caller') return failure(`${quote(by)} is unknown; series can be split by caller only`);
  return caller === undefined
    ? success(true)
    : failure(`is given together with ${names.caller}; give one of them`);
}

function parseLayout({ layout, by, compare }: ReportInput, names: ReportNames): Result<CsvForm['layout']> {
  if (layout === undefined) return success('wide');
  const known = LAYOUTS.find((one) => one === layout);
  if (known === undefined)
    return failure(`${quote(layout)} is unknown; ${listKnown('layout', layout, LAYOUTS)}`);
  if (known === 'wide') return success(known);
  if (by === undefined) return failure(`long has a row for each caller; give it with ${names.by}`);
  if (compare !== undefined)
    return failure(
      `long has no place for what is compared with; leave out ${names.compare}, or ask for the other range, too`,
    );
  return success(known);
}

function parseTimes(text: string = TIMES[0]): Result<CsvForm['times']> {
  const known = TIMES.find((one) => one === text);
  return known === undefined
    ? failure(`${quote(text)} is unknown; ${listKnown('form', text, TIMES)}`)
    : success(known);
}
