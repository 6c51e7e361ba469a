import { callerCharactersMax, occurredAtAheadMsMax, queryIdCharactersMax } from '../limits.js';
import { failure, type Result, success } from '../result.js';
import { unknownNameMessage } from '../suggest.js';
import { parseTimestamp, YEAR_ZERO_MS } from '../time/date-time.js';
import { CALLER_PATTERN, isCallerName } from './caller.js';

/** A question that somebody asked the assistant. Nothing else about it is ever kept. */
export interface Query {
  /** The sender's own message or turn id, unique within the project. Compared byte for byte. */
  readonly id: string;
  /** Where it came from: `web`, `api`, or the name of an integration or SDK. */
  readonly caller: string;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly occurredAt: number;
}

/** The fields of a query as senders write it: the only ones that are accepted. */
export const QUERY_FIELDS = ['id', 'caller', 'occurredAt'] as const;

const unknownFieldsNamedMax = 5;

/**
 * Reads one query as it was sent (an object made by a JSON or CSV parser). `nowMs` is the time of receipt: the
 * query's time if it has none, and what a time in the future is measured against.
 *
 * Unknown fields are refused, not ignored: a mistyped `occuredAt` would otherwise count the query now.
 * Problems begin with the field's name; all of them are reported.
 */
export function parseQuery(input: unknown, nowMs: number): Result<Query> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return failure('is not a query: send an object with id, caller and, optionally, occurredAt');
  }
  const { id, caller, occurredAt, ...rest } = input as Record<string, unknown>;
  const time = parseOccurredAt(occurredAt, nowMs);
  const problems = [
    ...idProblems(id),
    ...callerProblems(caller),
    ...(time.ok ? [] : time.problems),
    ...unknownFields(Object.keys(rest)),
  ];
  if (problems.length > 0 || !time.ok) return failure(...problems);
  return success({ id: id as string, caller: caller as string, occurredAt: time.value });
}

/** Names a few: there could be as many as fit a body. */
function unknownFields(names: readonly string[]): string[] {
  const named = names
    .slice(0, unknownFieldsNamedMax)
    .map((name) => unknownNameMessage('field', name, QUERY_FIELDS));
  const more = names.length - named.length;
  return more === 0 ? named : [...named, `and ${more} more unknown fields`];
}

function idProblems(id: unknown): string[] {
  if (id === undefined) return ['id: is missing'];
  if (typeof id !== 'string') return ['id: is not a string'];
  if (id === '') return ['id: is empty'];
  // Cheap first: a string has never more code points than UTF-16 units.
  if (id.length > queryIdCharactersMax && [...id].length > queryIdCharactersMax) {
    return [`id: is longer than ${queryIdCharactersMax} characters`];
  }
  // Stores cut a text at U+0000 or refuse it, and cannot write half a surrogate pair: two such ids would become one.
  if (id.includes('\0') || !id.isWellFormed()) return ['id: has a NUL character or half a surrogate pair'];
  return [];
}

function callerProblems(caller: unknown): string[] {
  if (caller === undefined)
    return ['caller: is missing; send "web", "api", or the name of an integration or SDK'];
  if (typeof caller !== 'string') return ['caller: is not a string'];
  if (!isCallerName(caller)) {
    return [
      `caller: is not "web", "api" or a name of 1 to ${callerCharactersMax} of a-z 0-9 . _ - (${CALLER_PATTERN})`,
    ];
  }
  return [];
}

function parseOccurredAt(occurredAt: unknown, nowMs: number): Result<number> {
  if (occurredAt === undefined) return success(nowMs);
  if (typeof occurredAt !== 'string') return failure('occurredAt: is not a string');
  const time = parseTimestamp(occurredAt);
  if (!time.ok) return failure(...time.problems.map((problem) => `occurredAt: ${problem}`));
  if (time.value > nowMs + occurredAtAheadMsMax) {
    return failure("occurredAt: lies more than a day ahead of the server's clock");
  }
  // Only an offset can say so; in UTC it could not be written down again.
  if (time.value < YEAR_ZERO_MS) return failure('occurredAt: lies before the year 0000 in UTC');
  return time;
}
