import type { FastifyRequest } from 'fastify';

/** What comes behind the type of a key, in any spelling of a URL, whole or cut. */
const HIDDEN = /(?<=(?:admin|recording)(?:_|%5f))[0-9a-z]{5,}/gi;

/**
 * What the log says of a request. No headers: a key stands in one. Whoever sends it somewhere else by mistake, in the
 * URL for one, does not find it in the log either: no more is left of it than a list of keys shows.
 */
export function loggedRequest({ method, url, host, ip }: FastifyRequest): Readonly<Record<string, string>> {
  return { method, url: withoutKeys(url), host: withoutKeys(host), remoteAddress: withoutKeys(ip) };
}

function withoutKeys(text: string): string {
  return text.replaceAll(HIDDEN, (hidden) => `${hidden.slice(0, 4)}…`);
}
