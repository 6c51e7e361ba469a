import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isCall } from '../grpc/message.js';
import { HttpError } from './errors.js';

/**
 * The headers of every response, from OWASP's REST Security Cheat Sheet. They are constant, because computing them for each
 * request took 8% of an export.
 */
export const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** RFC 6797, section 7.2: only over HTTPS. */
const OVER_HTTPS = {
  ...SECURITY_HEADERS,
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
} as const;

export type SecurityHeaders = typeof SECURITY_HEADERS | typeof OVER_HTTPS;

/** Those of an answer. `protocol` is that of the request, if one was read. */
export function securityHeaders(publicUrl: string | undefined, protocol?: string): SecurityHeaders {
  const isHttps = publicUrl?.startsWith('https:') === true || protocol === 'https';
  return isHttps ? OVER_HTTPS : SECURITY_HEADERS;
}

/** Sets the security headers on every response. Routes that serve pages replace some of them. */
export function addSecurityHeaders(app: FastifyInstance, publicUrl: string | undefined): void {
  app.addHook('onRequest', ({ protocol }, reply, done) => {
    reply.headers(securityHeaders(publicUrl, protocol));
    done();
  });
}

/**
 * Refuses requests whose target or end is not certain. RFC 9112, section 3.2: Node's own answer to a missing Host has no body, and of
 * two Hosts or two keys it takes the first: a proxy might check the other.
 */
export function requireClearHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw, method, originalUrl }, reply, done) => {
    // RFC 9112, section 3.2.4. The router would take it for the path `/`.
    if (originalUrl === '*' && method !== 'OPTIONS') {
      return done(new HttpError(400, 'Only OPTIONS may ask for `*`; send the path of a route.'));
    }
    const unclear = findFramingProblem(raw);
    if (unclear !== undefined) reply.header('connection', 'close');
    const problem = unclear ?? findHeaderProblem(raw);
    done(problem === undefined ? undefined : new HttpError(400, problem));
  });
}

/** RFC 9112, section 6.1. Node's parser lets through what a proxy in front may end elsewhere. */
function findFramingProblem(raw: IncomingMessage): string | undefined {
  // HTTP/2 has frames.
  if (isCall({ raw })) return undefined;
  const { headers, httpVersion } = raw;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'The request is not valid HTTP/1.1.';
  const encoding = headers['transfer-encoding'];
  if (encoding === undefined) return undefined;
  if (httpVersion === '1.0') return 'HTTP/1.0 has no Transfer-Encoding; send a Content-Length.';
  return encoding.toLowerCase() === 'chunked' ? undefined : 'The Transfer-Encoding must be chunked, once.';
}

/** RFC 3986, section 3.2.2, and a port. Answers contain it. */
const HOST = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(:\d*)?$/i;

function findHeaderProblem({ rawHeaders, httpVersion, headers }: IncomingMessage): string | undefined {
  const hosts = countHeaders(rawHeaders, 'host');
  if (hosts > 1) return 'The request has more than one Host header.';
  if (hosts === 0 && httpVersion === '1.1') return 'The request has no Host header.';
  if (!HOST.test(headers.host ?? '')) return 'The Host header is not the name of a host.';
  const keys = countHeaders(rawHeaders, 'authorization');
  return keys > 1 ? 'The request has more than one Authorization header.' : undefined;
}

function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at];
    if (sent?.length === name.length && sent.toLowerCase() === name) count++;
  }
  return count;
}
