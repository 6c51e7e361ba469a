import { CallerStatsError, ConnectionError, errorOf } from './errors.js';
import type { Platform } from './platform.js';

/** A server that asks for more is asked once an hour. */
const retryAfterMsMax = 3_600_000;

/** Sends a request and gives what the JSON of its answer holds. Rejects with a `CallerStatsError`. */
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
    throw new ConnectionError(`There was no answer of ${new URL(url).origin}: ${reasonOf(cause)}`, { cause });
  }
  const body = parsed(text);
  if (!response.ok) {
    throw errorOf(response.status, body, retryAfterMs(response.headers.get('retry-after'), now()));
  }
  if (body === undefined) {
    throw new CallerStatsError('The answer is not JSON: is the url that of a caller-stats server?', {
      status: response.status,
    });
  }
  return body;
}

/** The address of an operation of a project. */
export function addressOf(url: string, projectId: string, operation: string): string {
  if (!/^https?:\/\/[^/?#]+[^?#]*$/.test(url)) {
    throw new RangeError(`url: ${JSON.stringify(url)} is no address, as https://stats.example.com`);
  }
  return `${url.replace(/\/+$/, '')}/v1/analytics/${encodeURIComponent(projectId)}/assistant/${operation}`;
}

/**
 * The header that a key is sent in. White space around a key, as files that hold one end with, is no part of it. Throws
 * before a platform's `fetch` would, whose words have the whole header in them, and so the key.
 */
export function authorizationOf(key: string | undefined): string {
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a platform's `fetch` rejects with says little itself; the reason is behind it. */
function reasonOf(error: unknown): string {
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: { message?: unknown } };
  return String(cause?.message || message || error);
}
