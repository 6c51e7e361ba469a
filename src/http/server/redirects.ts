/**
 * A redirect, such as one of a proxy to https, makes a GET of a POST unless its status is 307 or 308, and clients leave out the key on
 * the way (RFC 9110, section 15.4). Whoever reads only that the key is missing looks for the fault in the wrong place.
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
  const { method, headers, routeOptions, protocol, raw } = request;
  if (routeOptions.config?.takesPost !== true || !['GET', 'HEAD', 'POST'].includes(method)) return undefined;
  // Only gRPC speaks HTTP/2 with this server, and does not redirect.
  if (raw.httpVersionMajor > 1) return undefined;
  const isWhole = method === 'POST' && hasBody(request);
  // Only the sender itself reads this, so its proxy need not be trusted.
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : protocol;
  const base = publicUrl ?? `${scheme}://${headers.host ?? ''}`;
  const path = (publicUrl === undefined ? request.originalUrl : request.url).replace(/\?.*/s, '');
  const lost = isWhole
    ? 'if you sent a key, a redirect has left it out'
    : `if you sent a POST with a key, a redirect has made this ${method} of it`;
  return `${lost}; send it to ${base}${path} itself`;
}

const hasBody = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
