/** Counts from another system, for history that exists only as counts: how many queries a caller sent within a span. */
import { CallerStatsError } from '../errors.js';
import { formatQuantity, formatTime } from '../format.js';
import {
  importedCountMax,
  importedSourceCharactersMax,
  importedSpanDaysMax,
  occurredAtAheadMsMax,
  unknownItemNamesMax,
} from '../limits.js';
import { callerProblems } from '../queries/query.js';
import { collectProblems, failure, prefixProblems, type Result, success } from '../result.js';
import { unknownNameMessages } from '../suggest.js';
import { parseTimestamp, YEAR_ZERO_MS } from '../time/date-time.js';
import { dayMs } from '../time/duration.js';
import type { DateRange } from './date-range.js';

/**
 * All its queries are counted at `start`. Of one source and caller, no two spans overlap, so that no query counts twice.
 */
export interface ImportedCount {
  /** The name of the system that counted the queries. */
  readonly source: string;
  readonly caller: string;
  /** Start of the span, inclusive, and its end, exclusive. Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /** The number of queries; it may be 0. */
  readonly count: number;
}

/** A count to import. Where a copy says on which UTC day it arrived first, that stays known. */
export interface ArrivingCount extends ImportedCount {
  readonly day?: number | null | undefined;
}

/** The spans that a time cuts, together: from the first start to the last end, with all their queries. */
export type CutSpan = Pick<ImportedCount, 'start' | 'end' | 'count'>;

export function joinCuts(one: CutSpan | undefined, { start, end, count }: CutSpan): CutSpan {
  if (one === undefined) return { start, end, count };
  return { start: Math.min(one.start, start), end: Math.max(one.end, end), count: one.count + count };
}

const IMPORTED_COUNT_FIELDS = ['source', 'caller', 'start', 'end', 'count'] as const;

/** The pattern of a source: a name or a URL, without spaces. */
export const SOURCE_PATTERN = `^[!-~]{1,${importedSourceCharactersMax}}$`;

const sourcePattern = new RegExp(SOURCE_PATTERN);

/** The problems of a source's name. */
export function sourceProblems(source: unknown): string[] {
  if (source === undefined) return ['source: is missing; name the system that counted the queries'];
  if (typeof source !== 'string') return ['source: is not a string'];
  return sourcePattern.test(source)
    ? []
    : [`source: is not 1 to ${importedSourceCharactersMax} ASCII characters without spaces`];
}

/** Parses a count from JSON. Reports every problem, each beginning with the field's name. */
export function parseImportedCount(input: unknown, nowMs: number): Result<ImportedCount> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return failure(`is not a count: send an object with ${IMPORTED_COUNT_FIELDS.join(', ')}`);
  }
  const { source, caller, start, end, count, ...rest } = input as Record<string, unknown>;
  const [from, to] = [parseTime('start', start), parseTime('end', end)];
  const problems = [
    ...sourceProblems(source),
    ...callerProblems(caller),
    ...collectProblems(from, to),
    ...(from.ok && to.ok ? spanProblems({ from: from.value, to: to.value }, nowMs) : []),
    ...countProblems(count),
    ...unknownNameMessages('field', Object.keys(rest), IMPORTED_COUNT_FIELDS, unknownItemNamesMax),
  ];
  if (problems.length > 0 || !from.ok || !to.ok) return failure(...problems);
  return success({
    source: source as string,
    caller: caller as string,
    start: from.value,
    end: to.value,
    count: count as number,
  });
}

function parseTime(field: string, value: unknown): Result<number> {
  if (value === undefined) return failure(`${field}: is missing`);
  if (typeof value !== 'string') return failure(`${field}: is not a string`);
  return prefixProblems(field, parseTimestamp(value));
}

/** The problems of a span. */
export function spanProblems({ from, to }: DateRange, nowMs: number): string[] {
  if (from < YEAR_ZERO_MS) return ['start: lies before the year 0000 in UTC'];
  if (from > nowMs + occurredAtAheadMsMax) return ["start: lies more than a day ahead of the server's clock"];
  if (to <= from) return ['end: does not lie after start'];
  // Finding the spans that a bound cuts takes longer, the longer spans may be.
  if (to - from > importedSpanDaysMax * dayMs)
    return [`end: lies more than ${importedSpanDaysMax} days after start`];
  return [];
}

/** The problems of a number of queries. */
export function countProblems(count: unknown): string[] {
  if (count === undefined) return ['count: is missing'];
  return Number.isInteger(count) && Number(count) >= 0 && Number(count) <= importedCountMax
    ? []
    : [`count: is not a whole number from 0 to ${importedCountMax}`];
}

/** A count that cannot be imported, and the different one that is there already. */
export interface Conflict {
  readonly sent: ImportedCount;
  readonly present: Pick<ImportedCount, 'start' | 'end' | 'count'>;
}

/** Whether two counts of one source and caller contradict each other: their spans overlap, and they are not the same. */
export function contradicts(sent: ImportedCount, present: Conflict['present']): boolean {
  if (sent.start >= present.end || present.start >= sent.end) return false;
  return sent.start !== present.start || sent.end !== present.end || sent.count !== present.count;
}

/**
 * The counts in the order of source, caller and start, without repeated ones. Throws `already_exists` if two of them
 * contradict each other.
 */
export function distinctCounts<Count extends ImportedCount>(counts: readonly Count[]): Count[] {
  const distinct: Count[] = [];
  const conflicts: Conflict[] = [];
  for (const sent of counts.toSorted(inOrderOfSpans)) {
    const present = distinct.at(-1);
    if (present?.source !== sent.source || present.caller !== sent.caller || present.end <= sent.start)
      distinct.push(sent);
    else if (contradicts(sent, present)) conflicts.push({ sent, present });
  }
  if (conflicts.length > 0) throw conflictError(conflicts);
  return distinct;
}

function inOrderOfSpans(a: ImportedCount, b: ImportedCount): number {
  return inOrder(a.source, b.source) || inOrder(a.caller, b.caller) || a.start - b.start || a.end - b.end;
}

function inOrder(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

/** How many conflicts an error names; it counts all of them. */
const conflictsNamedMax = 100;

/** The error for counts that contradict others. Names the first of them. */
export function conflictError(conflicts: readonly Conflict[]): CallerStatsError {
  const named = conflicts.slice(0, conflictsNamedMax).map(describeConflict);
  const more = conflicts.length - named.length;
  return new CallerStatsError(
    'already_exists',
    `Nothing was imported: ${formatQuantity(conflicts.length, 'count')} ${conflicts.length === 1 ? 'contradicts one' : 'contradict others'} ` +
      'of the same source and caller. Import corrected counts under another source only if they are not counted yet.',
    { details: more > 0 ? [...named, `and ${formatQuantity(more, 'more conflict')}`] : named },
  );
}

function describeConflict({ sent, present }: Conflict): string {
  const { source, caller, count } = sent;
  const span = ({ start, end }: Conflict['present']) => `${formatTime(start)} to ${formatTime(end)}`;
  const other =
    sent.start === present.start && sent.end === present.end
      ? 'the count already there is'
      : `overlaps the span ${span(present)}, whose count is`;
  return `${source}, caller ${caller}, ${span(sent)}: the count sent is ${count}; ${other} ${present.count}`;
}
