import { callerName } from '../../../src/domain/queries/caller-detection.js';

/** A query to the assistant, as passed to `record`. */
export interface Query {
  /**
   * Your id of the message or turn, unique within the project: 1 to 128 characters. A number is refused: pass `String(id)`.
   * Recording the same id again does not count it again.
   */
  readonly id: string;
  /** `web`, `api`, or the name of an integration or SDK: 1 to 64 of `a-z 0-9 . _ -`. */
  readonly caller: string;
  /** When the query was sent: RFC 3339 with seconds and offset, or a `Date`. Default: now. */
  readonly occurredAt?: string | Date | undefined;
}

/** A query as sent to the server. */
export interface QueuedQuery {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: string;
}

/** The server's rules; a test compares them. Checking here avoids requests that the server would reject. */
const idPattern = /^[^\0\p{Cs}]{1,128}$/u;
/** Only limits the memory of a query; the server parses the time. */
const occurredAtPattern = /^.{1,64}$/s;

/** Queries of one time share its text, which is a third of what a query takes. */
let latest: string;

/** Validates a query and fills in its time. Returns a message if it is invalid. */
export function toQueuedQuery(query: Query, nowMs: number): QueuedQuery | string {
  const { id, caller, occurredAt = new Date(nowMs) } = query ?? {};
  if (!isText(id, idPattern)) return `id: ${show(id)} is not a string of 1 to 128 characters`;
  if (!isText(caller, callerName))
    return `caller: ${show(caller)} is not "web", "api" or a name of 1 to 64 of a-z 0-9 . _ -`;
  // Of an invalid Date it is null.
  const time = occurredAt instanceof Date ? occurredAt.toJSON() : occurredAt;
  if (!isText(time, occurredAtPattern))
    return `occurredAt: ${show(occurredAt)} is not a valid Date or RFC 3339 time`;
  if (time !== latest) latest = time;
  return { id, caller, occurredAt: latest };
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

/** A value for a message. */
function show(value: unknown): string {
  const text = String(value).slice(0, 64);
  return typeof value === 'string' ? JSON.stringify(text) : text;
}
