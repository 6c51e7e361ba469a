/**
 * Every error that an HTTP client can get has the same shape: `{error, details?: [{message}]}`. This file maps domain errors
 * to statuses; a test compares its table with the docs.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { CallerStatsError, type ErrorCode } from '../domain/errors.js';
import { codeLockSeconds, retryAfterSeconds } from '../domain/limits.js';

export interface ErrorBody {
  readonly error: string;
  readonly details?: readonly { readonly message: string }[];
}

/** An error of HTTP itself, such as a wrong method or media type. Rules of the domain throw `CallerStatsError`. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: readonly string[];

  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    details: readonly string[] = [],
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.details = details;
  }
}

/** RFC 6750, section 3. The header only asks for a key; the body says what is wrong with the one that was sent. */
export function unauthenticated(message: string): HttpError {
  return new HttpError(401, message, { 'www-authenticate': 'Bearer' });
}

/** The credentials are valid, but do not allow this. */
export function forbidden(message: string): HttpError {
  return new HttpError(403, message);
}

/** The same for an unknown project and for one of another organization, so that clients cannot tell them apart. */
export function noSuchProject(): HttpError {
  return new HttpError(404, 'There is no such project.');
}

/** The server or its store cannot respond now, and the client should try again. */
export function unavailable(message: string): HttpError {
  return new HttpError(503, message, { 'retry-after': String(retryAfterSeconds) });
}

/** A recording that is still in progress may succeed after this response. */
export function tooLate(): HttpError {
  return unavailable(
    'The server could not answer in time; try again. What was to be recorded may have been: repeating it is safe.',
  );
}

/** The response of `/readyz` when a part of the server fails. The failure has been logged. */
export function notReady(trouble: string): HttpError {
  const headers = { 'retry-after': String(retryAfterSeconds) };
  return new HttpError(503, 'The server is not ready.', headers, [trouble]);
}

/** The server refuses the request because of its load. `Admission` logs this, at most once in ten seconds. */
export class LoadSheddingError extends HttpError {
  constructor(message: string) {
    super(503, message, { 'retry-after': String(retryAfterSeconds) });
  }
}

/** The status of each domain error code. */
export const STATUS_OF_CODE: Readonly<Record<ErrorCode, number>> = {
  invalid: 400,
  not_found: 404,
  already_exists: 409,
  unavailable: 503,
  wrong_credentials: 401,
  too_many_attempts: 429,
};

/** Headers that a status must have. RFC 9110, section 15.5.2, requires a challenge, but no scheme is registered for cookies. */
const HEADERS_OF_CODE: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, string>>>>> = {
  wrong_credentials: { 'www-authenticate': 'Cookie' },
  too_many_attempts: { 'retry-after': String(codeLockSeconds) },
};

/** Errors of the framework, with messages for clients instead of its own. */
const FRAMEWORK_ERRORS: ReadonlyMap<string, readonly [status: number, message: string]> = new Map([
  ['FST_ERR_BAD_URL', [400, 'The URL is malformed.']],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', [400, 'The body is not as long as its Content-Length says.']],
  ['FST_ERR_CTP_BODY_TOO_LARGE', [413, 'The body is too large; send less at a time.']],
  [
    'FST_ERR_CTP_INVALID_MEDIA_TYPE',
    [415, 'The Content-Type is not supported; send application/json or application/x-ndjson.'],
  ],
]);

/** Maps an error to a response. Logs nothing. */
function toAnswer(
  error: unknown,
  requestId: string,
): { status: number; headers: Readonly<Record<string, string>>; body: ErrorBody } {
  if (error instanceof HttpError)
    return { status: error.status, headers: error.headers, body: errorBody(error.message, error.details) };
  if (error instanceof CallerStatsError) {
    // The store's own message may contain a file name.
    if (error.code === 'unavailable')
      return toAnswer(unavailable('The store cannot answer now; try again.'), requestId);
    return {
      status: STATUS_OF_CODE[error.code],
      headers: HEADERS_OF_CODE[error.code] ?? {},
      body: errorBody(error.message, error.details),
    };
  }
  const { code, statusCode } = error as Partial<FastifyError>;
  const [status, message] = FRAMEWORK_ERRORS.get(code ?? '') ?? [];
  if (status !== undefined && message !== undefined) return { status, headers: {}, body: errorBody(message) };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return { status: 400, headers: {}, body: errorBody('The request is malformed.') };
  }
  return {
    status: 500,
    headers: {},
    body: errorBody(`The server failed. Its log says more under ${requestId}.`),
  };
}

export function errorBody(error: string, details: readonly string[] = []): ErrorBody {
  return details.length === 0 ? { error } : { error, details: details.map((message) => ({ message })) };
}

/** Fastify's error handler. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = toAnswer(error, request.id);
  if (status >= 500 && !(error instanceof LoadSheddingError))
    request.log.error({ err: error, reqId: request.id }, 'request failed');
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', ...headers })
    .send(body);
}
