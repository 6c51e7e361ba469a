import { CallerStatsError, ConnectionError, toError } from './errors.js';
import type { Platform } from './platform.js';

/** Longer waits in `Retry-After` are cut to one hour. */
const retryAfterMsMax = 3_600_000;

/** Sends a request and returns the parsed JSON of the response. Rejects with a `CallerStatsError`. */
export async function request(
  { fetch, now }: Pick<Platform, 'fetch' | 'now'>,
  url: string,
  init: RequestInit,
): Promise<unknown> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, init);
    text = await response.text();
  } catch (cause) {
    throw new ConnectionError(`No response from ${new URL(url).origin}: ${failureReason(cause)}`, {
      cause,
    });
  }
  const body = parseJson(text);
  if (!response.ok) {
    throw toError(response.status, body, retryAfterMs(response.headers.get('retry-after'), now()));
  }
  if (body === undefined) {
    throw new CallerStatsError('The response is not JSON. Is url a caller-stats server?', {
      status: response.status,
    });
  }
  return body;
}

/** The URL of an operation of a project. */
export function operationUrl(url: string, projectId: string, operation: string): string {
  if (!/^https?:\/\/[^/?#]+[^?#]*$/.test(url)) {
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

/** `Retry-After` (RFC 9110, 10.2.3) is a number of seconds or a date. */
function retryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), retryAfterMsMax);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The errors of `fetch` are unspecific; the reason is in their `cause`. */
function failureReason(error: unknown): string {
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: { message?: unknown } };
  return String(cause?.message || message || error);
}

interface BackoffOptions {
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
}

/**
 * Milliseconds until the next try: exponential backoff with full jitter, so that clients that failed together do not
 * retry together. A `Retry-After` is respected, plus jitter. A rejected key or project takes time to fix, so the client
 * waits for at least half of `retryMaxMs`.
 *
 * @param failures consecutive failures, at least 1
 */
export function backoffMs(
  { status, retryAfterMs }: CallerStatsError,
  failures: number,
  random: number,
  { retryBaseMs, retryMaxMs }: BackoffOptions,
): number {
  const boundMs = Math.min(retryMaxMs, retryBaseMs * 2 ** (failures - 1));
  if (retryAfterMs !== undefined) return retryAfterMs + random * retryBaseMs;
  const isTemporary = status === 0 || status === 408 || status === 429 || status >= 500;
  return isTemporary ? random * boundMs : ((1 + random) * retryMaxMs) / 2;
}

/** Compressing shorter bodies does not pay off. */
const compressedCharactersMin = 1024;

/** Compresses a long body with gzip if the platform supports it. */
export async function compress(text: string): Promise<string | ArrayBuffer> {
  if (text.length < compressedCharactersMin || typeof CompressionStream === 'undefined') return text;
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
}
