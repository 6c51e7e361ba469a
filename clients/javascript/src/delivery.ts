import type { RequestError } from '../../../src/shared/api-client.js';

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
  { status, retryAfterMs }: RequestError,
  failures: number,
  random: number,
  { retryBaseMs, retryMaxMs }: BackoffOptions,
): number {
  const boundMs = Math.min(retryMaxMs, retryBaseMs * 2 ** (failures - 1));
  if (retryAfterMs !== undefined) return retryAfterMs + random * retryBaseMs;
  const isTemporary = [0, 408, 429].includes(status) || status >= 500;
  return isTemporary ? random * boundMs : ((1 + random) * retryMaxMs) / 2;
}

/** Compressing shorter bodies does not pay off. */
const compressedCharactersMin = 1024;

/** Compresses a long body with gzip if the platform supports it. */
export async function compress(text: string): Promise<string | ArrayBuffer> {
  if (text.length < compressedCharactersMin || !globalThis.CompressionStream) return text;
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
}
