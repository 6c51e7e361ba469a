/**
 * Every error that an HTTP client can get has the same shape: `{error, details?: [{message}]}`. This file maps domain errors
 * to statuses; a test compares its table with the docs.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { CallerStatsError, type ErrorCode } from '../../domain/errors.js';
import { type RefusalReason, reasonOfProblem } from '../../domain/ingestion/refusals.js';
import { codeLockSeconds, detailBytesMax, detailsMax, retryAfterSeconds } from '../../domain/limits.js';
import { redirectHint } from './redirects.js';

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
export function unauthenticated(message: string, challenge = 'Bearer'): HttpError {
  return new HttpError(401, message, { 'www-authenticate': challenge });
}

/** The same for an unknown project and for one of another organization, so that clients cannot tell them apart. */
export function noSuchProject(): CallerStatsError {
  return new CallerStatsError('not_found', 'There is no such project.');
}

/** The server or its store cannot respond now, and the client should try again. */
export class UnavailableError extends HttpError {
  constructor(message: string, ...details: string[]) {
    super(503, message, { 'retry-after': String(retryAfterSeconds) }, details);
  }
}

/** The server refuses the request because of its load. `Admission` logs that, at most once in ten seconds. */
export class LoadSheddingError extends UnavailableError {}

/** The status of each domain error code. */
export const STATUS_OF_CODE: Readonly<Record<ErrorCode, number>> = {
  invalid: 400,
  not_found: 404,
  already_exists: 409,
  unavailable: 503,
  busy: 503,
  wrong_credentials: 401,
  too_many_attempts: 429,
};

/** Of a store's error, which may contain a file name or an address. The log has that. */
export const STORE_UNAVAILABLE = 'The store cannot answer now; try again.';

/** Headers that a status must have. RFC 9110, section 15.5.2, requires a challenge, but no scheme is registered for cookies. */
const HEADERS_OF_CODE: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, string>>>>> = {
  wrong_credentials: { 'www-authenticate': 'Cookie' },
  too_many_attempts: { 'retry-after': String(codeLockSeconds) },
};

/** Errors of the framework, with messages for clients instead of its own. */
const FRAMEWORK_ERRORS: ReadonlyMap<string, readonly [status: number, message: string]> = new Map([
  [
    'FST_ERR_BAD_URL',
    [400, 'The URL is malformed: a % in it begins no character of UTF-8; write % itself as %25.'],
  ],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', [400, 'The body is not as long as its Content-Length says.']],
  ['FST_ERR_CTP_BODY_TOO_LARGE', [413, 'The body is too large; send less at a time.']],
]);

/** Names the types that the route takes. */
function unsupportedType({ routeOptions }: FastifyRequest): HttpError {
  const { content = {} } = (routeOptions.schema?.body ?? {}) as { readonly content?: object };
  const types = Object.keys(content).join(' or ') || 'application/json';
  return new HttpError(415, `The Content-Type is not supported; send ${types}.`);
}

function toHttpError(error: unknown, request: FastifyRequest): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof CallerStatsError) {
    if (error.code === 'unavailable') return new UnavailableError(STORE_UNAVAILABLE);
    if (error.code === 'busy') return new LoadSheddingError(error.message);
    return new HttpError(
      STATUS_OF_CODE[error.code],
      error.message,
      HEADERS_OF_CODE[error.code],
      error.details,
    );
  }
  const { code, statusCode, headers } = error as Partial<FastifyError> & {
    readonly headers?: Readonly<Record<string, string>>;
  };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedType(request);
  const known = FRAMEWORK_ERRORS.get(code ?? '');
  if (known !== undefined) return new HttpError(...known);
  // Of files: RFC 9110, sections 13.1 and 14.2.
  if (statusCode === 412)
    return new HttpError(412, 'The file is another one than If-Match or If-Unmodified-Since asks for.');
  if (statusCode === 416) {
    const range = { 'content-range': headers?.['Content-Range'] ?? 'bytes */0' };
    return new HttpError(416, 'The file does not have the bytes that Range asks for.', range);
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new HttpError(400, 'The request is malformed.');
  return new HttpError(500, `The server failed. Its log says more under ${request.id}.`);
}

/** Why a recording request was refused whose key and project are right. */
function reasonsOf({ status, details }: HttpError): readonly RefusalReason[] {
  switch (status) {
    case 400:
      return details.length === 0 ? ['no-body'] : [...new Set(firstDetails(details).map(reasonOfProblem))];
    case 409:
      return ['counts-differ'];
    case 413:
      return ['too-large'];
    case 415:
      return ['media-type'];
    case 429:
      return ['rate-limit'];
    case 503:
      return ['overload'];
    default:
      return [status >= 500 ? 'failure' : 'invalid'];
  }
}

/** The body of an error. Many clients show `error` alone, so it also says the first of the details. */
export function errorBody(error: string, details: readonly string[] = []) {
  const [first, ...others] = details;
  if (first === undefined) return { error };
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const summary = `${withoutPeriod(error)}: ${withoutPeriod(first)}${more}.`.replace(/\?\.$/, '?');
  return { error: summary, details: firstDetails(details).map((message) => ({ message })) };
}

function withoutPeriod(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/** As many details as the limits allow; then a last one says how many were left out. */
function firstDetails(details: readonly string[]): readonly string[] {
  let bytes = 0;
  const fits = (detail: string, at: number) => {
    bytes += Buffer.byteLength(detail);
    return at < detailsMax && bytes <= detailBytesMax;
  };
  const leftOutFrom = details.findIndex((detail, at) => !fits(detail, at));
  if (leftOutFrom === -1) return details;
  return [...details.slice(0, leftOutFrom), `and ${details.length - leftOutFrom} more problems`];
}

/** Fastify's error handler. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl?: string,
): FastifyReply {
  const answer = toHttpError(error, request);
  const { status, headers, message } = answer;
  const isKeyMissing = status === 401 && request.headers.authorization === undefined;
  const hint = isKeyMissing || status === 405 ? redirectHint(request, publicUrl) : undefined;
  const details = hint === undefined ? answer.details : [hint];
  const { key, project } = request;
  if (key !== null) request.refusal ??= { reasons: reasonsOf(answer), key, projectId: project?.id ?? null };
  if (status >= 500 && !(answer instanceof LoadSheddingError))
    request.log.error({ err: error, reqId: request.id }, 'request failed');
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', ...headers })
    .send(errorBody(message, details));
}
