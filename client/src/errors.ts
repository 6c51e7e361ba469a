/** What can go wrong between a client and its server: one class for each thing that a program does about it. */

/** The base of every error that a request ends with, apart from an `AbortSignal`'s own reason. */
export class CallerStatsError extends Error {
  override name = 'CallerStatsError';
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** The server's `details`: a message for each thing that was wrong, each beginning with what it is about. */
  readonly details: readonly string[];
  /** How long the server asked to wait, from `Retry-After`, in milliseconds; at most an hour. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status = 0, details = [], retryAfterMs, cause }: ErrorFacts = {}) {
    super(message, { cause });
    this.status = status;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What is known of an error beside its message. */
export interface ErrorFacts {
  readonly status?: number;
  readonly details?: readonly string[];
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** 400: a parameter or the body is invalid; `details` says what. */
export class InvalidRequestError extends CallerStatsError {
  override name = 'InvalidRequestError';
}

/** 401: no key, or one that is unknown, expired, disabled, revoked or of the wrong type. */
export class AuthenticationError extends CallerStatsError {
  override name = 'AuthenticationError';
}

/** 403: a valid key, from an address or for a purpose that it is not meant for. */
export class PermissionError extends CallerStatsError {
  override name = 'PermissionError';
}

/** 404: no such project, or another organization's; or a `url` that is not that of a server. */
export class NotFoundError extends CallerStatsError {
  override name = 'NotFoundError';
}

/** 429: too many requests; `retryAfterMs` says for how long to wait. */
export class RateLimitError extends CallerStatsError {
  override name = 'RateLimitError';
}

/** 5xx: the server failed, is busy or is stopping. To ask again later does no harm. */
export class ServerError extends CallerStatsError {
  override name = 'ServerError';
}

/** There was no answer: refused, reset, or not in time. `cause` is what the platform says. */
export class ConnectionError extends CallerStatsError {
  override name = 'ConnectionError';
}

const classes: Readonly<Record<number, typeof CallerStatsError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  429: RateLimitError,
};

/** The error of an answer: its class from the status, its words from the body where that has any. */
export function errorOf(status: number, body: unknown, retryAfterMs: number | undefined): CallerStatsError {
  const { error, details } = (body ?? {}) as { error?: unknown; details?: unknown };
  const messages = Array.isArray(details) ? details.map((detail) => String(detail?.message)) : [];
  const ErrorClass = classes[status] ?? (status >= 500 ? ServerError : CallerStatsError);
  return new ErrorClass([error ?? `The server answered ${status}.`, ...messages].join(' '), {
    status,
    details: messages,
    retryAfterMs,
  });
}
