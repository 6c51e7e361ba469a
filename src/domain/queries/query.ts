import {
  likelyTimeMsMin,
  occurredAtAheadMsMax,
  queryIdCharactersMax,
  unknownItemNamesMax,
} from '../limits.js';
import { isLongerThan } from '../names.js';
import { failure, prefixProblems, type Result, success } from '../result.js';
import { unknownNameMessages } from '../suggest.js';
import { parseTimestamp, YEAR_ZERO_MS } from '../time/date-time.js';
import { CALLER_FORM, CALLER_PATTERN, isCallerName } from './caller.js';

/** One question to the assistant. Nothing else about it is ever stored. */
export interface Query {
  /** The sender's own message or turn id, unique within the project. Compared byte for byte. */
  readonly id: string;
  /** `web`, `api`, or the name of an integration or SDK. */
  readonly caller: string;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly occurredAt: number;
}

/** The only fields accepted in a query. */
export const QUERY_FIELDS = ['id', 'caller', 'occurredAt'] as const;

/**
 * Parses one query from JSON or CSV. `nowMs` is the time of receipt: the query's time if it names none, and the reference
 * for times in the future. Unknown fields are refused, because a mistyped `occuredAt` would otherwise count the query as
 * of now. Reports every problem, each beginning with the field's name.
 */
export function parseQuery(input: unknown, nowMs: number): Result<Query> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return failure('is not a query: send an object with id, caller and, optionally, occurredAt');
  }
  const { id, caller, occurredAt } = input as Record<string, unknown>;
  const time = parseOccurredAt(occurredAt, nowMs);
  const problems = [
    ...idProblems(id),
    ...callerProblems(caller),
    ...(time.ok ? [] : time.problems),
    ...unknownNameMessages('field', Object.keys(input), QUERY_FIELDS, unknownItemNamesMax),
  ];
  if (problems.length > 0 || !time.ok) return failure(...problems);
  return success({ id: id as string, caller: caller as string, occurredAt: time.value });
}

export function isQueryId(id: string): boolean {
  return idProblems(id).length === 0;
}

function idProblems(id: unknown): string[] {
  if (id === undefined) return ['id: is missing'];
  if (typeof id !== 'string') return ['id: is not a string'];
  if (id === '') return ['id: is empty'];
  if (isLongerThan(id, queryIdCharactersMax))
    return [`id: is longer than ${queryIdCharactersMax} characters`];
  // Stores cannot hold U+0000 or half a surrogate pair, and replacing them could make two ids the same.
  if (id.includes('\0') || !id.isWellFormed()) return ['id: has a NUL character or half a surrogate pair'];
  return [];
}

/** The problems of a caller's name. */
export function callerProblems(caller: unknown): string[] {
  if (caller === undefined)
    return ['caller: is missing; send "web", "api", or the name of an integration or SDK'];
  if (typeof caller !== 'string') return ['caller: is not a string'];
  return isCallerName(caller) ? [] : [`caller: is not ${CALLER_FORM} (${CALLER_PATTERN})`];
}

/** The problem of a time before `likelyTimeMsMin` that a program measured. */
export function unlikelyTimeProblem(time: string): string {
  const first = new Date(likelyTimeMsMin).toISOString();
  return `occurredAt: lies before ${first}: ${time} is a time in another unit, or of a clock that was not set`;
}

function parseOccurredAt(occurredAt: unknown, nowMs: number): Result<number> {
  if (occurredAt === undefined) return success(nowMs);
  if (typeof occurredAt !== 'string') return failure('occurredAt: is not a string');
  const time = prefixProblems('occurredAt', parseTimestamp(occurredAt));
  if (!time.ok) return time;
  if (time.value > nowMs + occurredAtAheadMsMax) {
    return failure("occurredAt: lies more than a day ahead of the server's clock");
  }
  // An offset makes this possible, and RFC 3339 could not write the time in UTC.
  if (time.value < YEAR_ZERO_MS) return failure('occurredAt: lies before the year 0000 in UTC');
  return time;
}
