/**
 * The errors that cross module borders. The code is for programs, the message for people, the cause for the log. HTTP
 * maps each code to a status in one table, the command line to an exit status.
 */
export type ErrorCode =
  /** The input breaks a rule; `details` lists every violation. */
  | 'invalid'
  /** The thing does not exist, or the caller must not learn that it does. */
  | 'not_found'
  /** The id is taken. */
  | 'already_exists'
  /** The store cannot do it now (locked, full, closing); the same call may succeed later. */
  | 'unavailable'
  /** The process has too much to do for this now; the same call may succeed later. */
  | 'busy'
  /** A password, code or session that is not the right one. */
  | 'wrong_credentials'
  /** Too many wrong codes in a row. */
  | 'too_many_attempts';

export class CallerStatsError extends Error {
  override readonly name = 'CallerStatsError';
  readonly code: ErrorCode;
  /** One sentence per violation; empty except for `invalid`. */
  readonly details: readonly string[];

  constructor(
    code: ErrorCode,
    message: string,
    { details = [], cause }: { details?: readonly string[]; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

/** Whether the same call may succeed later. */
export function isUnavailable(error: unknown): error is CallerStatsError {
  return error instanceof CallerStatsError && (error.code === 'unavailable' || error.code === 'busy');
}

/** An error for people: its message, with its cause unless the message has it already, then a line for each detail. */
export function describeError(error: CallerStatsError): string[] {
  const cause = describeCause(error);
  const shown = error.message.includes(cause) ? '' : ` (${cause})`;
  return [`${error.message}${shown}`, ...error.details.map((detail) => `  ${detail}`)];
}

/** Node's error of several failed addresses has no message of its own. */
function describeCause({ cause }: CallerStatsError): string {
  if (!(cause instanceof Error)) return '';
  return cause instanceof AggregateError ? cause.errors.map(String).join('; ') : cause.message;
}
