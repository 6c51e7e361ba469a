/**
 * A redirect, such as one of a proxy to https, makes a GET of a POST, and clients leave out the key on the way (RFC 9110, section
 * 15.4). Whoever reads only that the key is missing looks for the fault in the wrong place.
 */
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the path takes `POST` from programs. */
    takesPost?: boolean;
  }
}

/** What to say of a refused request that may be the rest of a redirected `POST`. */
export function redirectHint(request: FastifyRequest, publicUrl: string | undefined): string | undefined {
  const { method, headers, routeOptions, protocol } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  const isRest = isRead || (method === 'POST' && !hasBody(request));
  if (routeOptions.config?.takesPost !== true || !isRest) return undefined;
  // Only the sender itself reads this, so its proxy need not be trusted.
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : protocol;
  const base = publicUrl ?? `${scheme}://${headers.host ?? ''}`;
  const path = (publicUrl === undefined ? request.originalUrl : request.url).replace(/\?.*/s, '');
  return `if you sent a POST with a key, a redirect has made this ${method} of it: send it to ${base}${path} itself`;
}

/** HTTP/2 need not announce a body. */
const hasBody = ({ headers, raw }: FastifyRequest) =>
  raw.httpVersionMajor > 1 ||
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] ?? '0') !== '0';
