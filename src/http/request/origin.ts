/** Whether a request comes from a page of this server. */
import type { FastifyRequest } from 'fastify';
import { HttpError } from '../server/errors.js';

const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

/**
 * Protects against cross-site request forgery: `403` for a change that comes from a page of another site. Browsers send the
 * origin with every such request (Fetch, "Origin header"; OWASP's CSRF Prevention Cheat Sheet, "Verifying Origin With
 * Standard Headers"). It must be that of the public URL; without one, that of the host that the request names.
 */
export function requireSameOrigin(publicUrl: string | undefined) {
  const where = publicUrl === undefined ? '' : `, which is at ${publicUrl}`;
  return async (request: FastifyRequest): Promise<void> => {
    if (SAFE.includes(request.method)) return;
    const site = request.headers['sec-fetch-site'];
    if (!isOwnOrigin(request, publicUrl) || (site !== undefined && site !== 'same-origin'))
      throw new HttpError(403, `The request does not come from a page of this server${where}.`);
  };
}

/** `403` for a request that a browser sends for a page of another site; programs send no origin. */
export function refuseForeignOrigin(publicUrl: string | undefined) {
  return async (request: FastifyRequest): Promise<void> => {
    if (request.headers.origin === undefined || isOwnOrigin(request, publicUrl)) return;
    throw new HttpError(
      403,
      'Pages of other sites may not send this request; programs send it without Origin.',
    );
  };
}

function isOwnOrigin({ headers, protocol }: FastifyRequest, publicUrl: string | undefined): boolean {
  const { origin = '', host = '' } = headers;
  if (!URL.canParse(origin)) return false;
  return publicUrl === undefined
    ? isOriginOfHost(new URL(origin), host, protocol)
    : new URL(origin).origin === publicUrl;
}

/**
 * Whether the origin is that of the `Host` header. Other headers that name a host are not read, because proxies pass on what
 * clients send. A request over HTTP may come from a page over HTTPS, because an unknown proxy may have terminated it.
 */
function isOriginOfHost(origin: URL, host: string, protocol: string): boolean {
  if (!(protocol === 'https' ? ['https:'] : ['http:', 'https:']).includes(origin.protocol)) return false;
  // The same parser drops a default port from both.
  const requested = `${origin.protocol}//${host}`;
  return URL.canParse(requested) && new URL(requested).host === origin.host;
}
