/** A question that somebody asked the assistant, as its host tells the recorder. */
export interface Query {
  /**
   * Your own id of the message or turn, unique within the project: 1 to 128 characters. It is counted once, however
   * often it is recorded.
   */
  readonly id: string;
  /** `web`, `api`, or the name of an integration or SDK: 1 to 64 of `a-z 0-9 . _ -`. */
  readonly caller: string;
  /** When it was asked: RFC 3339 with seconds and offset, or a `Date`. The time of the call, unless given. */
  readonly occurredAt?: string | Date | undefined;
}

/** A query as it is sent. */
export interface QueuedQuery {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: string;
}

/** The service's own rules, which a test holds these to: what it would refuse costs no request. */
const idPattern = /^[^\0\p{Cs}]{1,128}$/u;
const callerPattern = /^[a-z0-9._-]{1,64}$/;
/** No more than keeps the memory that a query takes bounded; whether it is a time, the service says. */
const occurredAtPattern = /^.{1,64}$/s;

/** Makes of a host's query what is sent, or says in words what is wrong with it. */
export function queuedQuery(query: Query, nowMs: number): QueuedQuery | string {
  const { id, caller, occurredAt = new Date(nowMs) } = query ?? {};
  if (!isText(id, idPattern)) return 'id: is not a string of 1 to 128 characters';
  if (!isText(caller, callerPattern))
    return 'caller: is not "web", "api" or a name of 1 to 64 of a-z 0-9 . _ -';
  const time =
    occurredAt instanceof Date && !Number.isNaN(+occurredAt) ? occurredAt.toISOString() : occurredAt;
  if (!isText(time, occurredAtPattern))
    return 'occurredAt: is neither a valid Date nor an RFC 3339 date-time';
  return { id, caller, occurredAt: time };
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}
