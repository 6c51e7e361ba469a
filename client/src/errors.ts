/** The errors of the client: one class for each case that callers handle differently. */

/** The base class of all request errors. An aborted request rejects with the reason of its `AbortSignal` instead. */
export class CallerStatsError extends Error {
  override name = 'CallerStatsError';
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** The server's `details`: one message per problem, starting with the parameter or field it is about. */
  readonly details: readonly string[];
  /** Milliseconds to wait before retrying, from `Retry-After`; at most one hour. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status = 0, details = [], retryAfterMs, cause }: ErrorOptions = {}) {
    super(message, { cause });
    this.status = status;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}

interface ErrorOptions {
  readonly status?: number;
  readonly details?: readonly string[];
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** 400: a parameter or the body is invalid; see `details`. */
export class InvalidRequestError extends CallerStatsError {
  override name = 'InvalidRequestError';
}

/** 401: the key is missing, unknown, expired, disabled, revoked or of the wrong type. */
export class AuthenticationError extends CallerStatsError {
  override name = 'AuthenticationError';
}

/** 403: the key is valid, but not from this address or not for this operation. */
export class PermissionError extends CallerStatsError {
  override name = 'PermissionError';
}

/** 404: the project does not exist or belongs to another organization, or `url` is not a caller-stats server. */
export class NotFoundError extends CallerStatsError {
  override name = 'NotFoundError';
}

/** 429: too many requests; see `retryAfterMs`. */
export class RateLimitError extends CallerStatsError {
  override name = 'RateLimitError';
}

/** 5xx: the server failed, is overloaded or is shutting down. Retrying later is safe. */
export class ServerError extends CallerStatsError {
  override name = 'ServerError';
}

/** No response: the connection was refused or reset, or timed out. `cause` is the platform's error. */
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

/** The error for a response: the status determines the class, the body the message. */
export function toError(status: number, body: unknown, retryAfterMs: number | undefined): CallerStatsError {
  const { error, details } = (body ?? {}) as { error?: unknown; details?: unknown };
  const messages = Array.isArray(details) ? details.map((detail) => String(detail?.message)) : [];
  const ErrorClass = classes[status] ?? (status >= 500 ? ServerError : CallerStatsError);
  return new ErrorClass([error ?? `The server answered ${status}.`, ...messages].join(' '), {
    status,
    details: messages,
    retryAfterMs,
  });
}
