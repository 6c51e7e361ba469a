/**
 * Requests to a caller-stats server and their errors: for the client package, which contains this file, and for commands
 * with `--url`. Imports nothing and uses web standards only.
 */

/** What a request needs of its platform. */
export interface Transport {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: () => number;
}

export const hourMs = 3_600_000;

/**
 * Sends a request and returns the parsed JSON of the response. Rejects with a `RequestError`. Redirects are errors: following one
 * drops the key if the address differs, and sends a `POST` as a `GET`. `onHeaders` gets those of any response.
 */
export async function request(
  { fetch, now }: Transport,
  url: string,
  init: RequestInit,
  onHeaders?: (headers: Headers) => void,
): Promise<unknown> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { redirect: 'manual', ...init });
    onHeaders?.(response.headers);
    text = await response.text();
  } catch (cause) {
    throw new ConnectionError(`No response from ${new URL(url).origin}: ${failureReason(cause)}`, {
      cause,
    });
  }
  const body = parseJson(text);
  if (!response.ok || body === undefined) throw toError(response, text, body, { url, nowMs: now() });
  return body;
}

/** The URL of an operation of a project. */
export function operationUrl(url: string, projectId: string, operation: string): string {
  if (!/^https?:[^?#]+$/i.test(url) || !URL.canParse(url)) {
    throw new RangeError(`url: ${JSON.stringify(url)} is not a URL such as https://stats.example.com`);
  }
  return `${url.replace(/\/+$/, '')}/v1/analytics/${encodeURIComponent(projectId)}/assistant/${operation}`;
}

/**
 * The `Authorization` header for a key. Whitespace around the key is ignored: files usually end with a line break.
 * Malformed keys throw here because the error message of `fetch` would contain the key.
 */
export function authorizationHeader(key: string | undefined): string {
  const bare = key?.trim() ?? '';
  if (!/^[!-~]+$/.test(bare)) throw new RangeError('key: is not a key');
  return `Bearer ${bare}`;
}

/** `Retry-After` (RFC 9110, 10.2.3) is a number of seconds or a date. Longer waits are cut to one hour. */
function parseRetryAfter(value: string, nowMs: number): number | undefined {
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), hourMs);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Failed = { message?: unknown; cause?: { message?: unknown; code?: unknown } } | null;

/** The errors of `fetch` are unspecific; the reason is in their `cause`. */
export function failureReason(error: unknown): string {
  const failed = error as Failed;
  return `${failed?.cause?.message || failed?.cause?.code || failed?.message || failed}`;
}

/**
 * The base class of all request errors. An aborted request rejects with the reason of its `AbortSignal` instead. Users of the
 * client package know it by the name that the package exports.
 */
export class RequestError extends Error {
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
export class InvalidRequestError extends RequestError {
  override name = 'InvalidRequestError';
}

/** 401: the key is missing, unknown, expired, disabled, revoked or of the wrong type. */
export class AuthenticationError extends RequestError {
  override name = 'AuthenticationError';
}

/** 403: the key is valid, but not from this address or not for this operation. */
export class PermissionError extends RequestError {
  override name = 'PermissionError';
}

/** 404: the project does not exist or belongs to another organization, or `url` is not a caller-stats server. */
export class NotFoundError extends RequestError {
  override name = 'NotFoundError';
}

/** 429: too many requests; see `retryAfterMs`. */
export class RateLimitError extends RequestError {
  override name = 'RateLimitError';
}

/** 5xx: the server failed, is overloaded or is shutting down. Retrying later is safe. */
export class ServerError extends RequestError {
  override name = 'ServerError';
}

/** No response: the connection was refused or reset, or timed out. `cause` is the platform's error. */
export class ConnectionError extends RequestError {
  override name = 'ConnectionError';
}

const classes: Readonly<Record<number, typeof RequestError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  429: RateLimitError,
};

/** The error for a response: the status determines the class, the body the message. */
function toError(
  { status, headers, type }: Response,
  text: string,
  body: unknown,
  { url, nowMs }: { readonly url: string; readonly nowMs: number },
): RequestError {
  const { error, details } = (body ?? {}) as { error?: unknown; details?: unknown };
  const messages = Array.isArray(details) ? details.map((detail) => String(detail?.message)) : [];
  const retryAfterMs = parseRetryAfter(headers.get('retry-after') ?? '', nowMs);
  const ErrorClass = classes[status] ?? (status >= 500 ? ServerError : RequestError);
  if ((status >= 300 && status < 400) || type === 'opaqueredirect')
    return new RequestError(redirectMessage(url, headers.get('location')), { status });
  // `error` is about the first of the details. Other bodies are such as a proxy's error page.
  const message =
    messages.join(' ') ||
    (error ?? `The server answered ${status}, not as caller-stats does: ${text.slice(0, 200)}`);
  return new ErrorClass(`${message}`, { status, details: messages, retryAfterMs });
}

/** Names the target without its query, which may hold secrets. */
function redirectMessage(url: string, location: string | null): string {
  const from = new URL(url).origin;
  const to = location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const address = to && to.origin + to.pathname;
  const [server, rest] = address?.split('/v1/analytics/') ?? [];
  const help = rest
    ? `Use the address ${server} instead.`
    : 'Something else than caller-stats answers there.';
  return `${from} redirects to ${address ?? 'another address'}, and redirects are not followed. ${help}`;
}
