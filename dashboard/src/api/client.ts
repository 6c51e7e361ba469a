/** The HTTP client of the dashboard. */
import { queryOptions } from '@tanstack/react-query';
import { basePath } from '../navigation/base-path.js';
import { dropEarly, takeEarly } from './early.js';
import { organizationPath } from './paths.js';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Failure {
  readonly status: number;
  readonly message: string;
  readonly details?: readonly string[];
  readonly retryAfterMs?: number | null;
  readonly code?: string | null;
}

/** A failed request. The message is a sentence for the user. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** One sentence per problem. `name: must not be empty` is about the field `name`. */
  readonly details: readonly string[];
  /** Seconds from the `Retry-After` header, or null. */
  readonly retryAfterMs: number | null;
  /** Tells the error from others of its status; null for most. */
  readonly code: string | null;

  constructor({ status, message, details = [], retryAfterMs = null, code = null }: Failure) {
    super(message);
    this.status = status;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
    this.code = code;
  }

  /** Whether retrying the same request soon may succeed. */
  get passes(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

let authorization: string | undefined;

/** Sends the ticket of a share link with all requests until the page is closed. */
export function sendTicket(ticket: string): void {
  authorization = `Bearer ${ticket}`;
}

/** Sends a request and returns the parsed JSON, or undefined if the response has no body. */
export async function request<T>(
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  if (method === 'GET') {
    const early = await takeEarly<T>(path);
    if (early !== undefined) return early;
  } else {
    dropEarly();
  }
  const response = await send(method, path, body, signal);
  const text = await response.text().catch(() => '');
  const answer = parse(text);
  if (response.ok && (text === '' || answer !== undefined)) return answer as T;
  throw toApiError(response, answer);
}

/** What a GET request returns; the cache keeps it by its path. */
export function getQuery<T>(path: string) {
  return queryOptions({
    queryKey: [path],
    queryFn: ({ signal }) => request<T>('GET', path, undefined, signal),
  });
}

/** One of an organization's lists, such as its `keys`. */
export function listQuery<T>(organizationId: string, list: string) {
  return getQuery<T>(`${organizationPath(organizationId)}/${list}`);
}

async function send(
  method: Method,
  path: string,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await fetch(`${basePath}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError({
      status: 0,
      message: 'The server cannot be reached. Check your connection, and that the server is running.',
    });
  }
}

function toApiError(response: Response, answer: unknown): ApiError {
  const { error, details } = (answer ?? {}) as { error?: unknown; details?: { message: string }[] };
  return new ApiError({
    status: response.ok ? 502 : response.status,
    message:
      typeof error === 'string'
        ? error
        : `Something between here and the server answered ${response.status}. Try again in a moment.`,
    details: Array.isArray(details) ? details.map(({ message }) => message) : [],
    retryAfterMs: parseRetryAfter(response.headers.get('retry-after')),
    code: response.headers.get('x-error-code'),
  });
}

function parseRetryAfter(header: string | null): number | null {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
