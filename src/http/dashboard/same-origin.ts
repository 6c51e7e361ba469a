import type { FastifyRequest } from 'fastify';
import { forbidden } from '../errors.js';

const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

/**
 * Refuses changes that a page of another site makes a browser send, with the cookie that the browser adds: `403`. Every
 * browser names the origin of such requests (Fetch, "Origin header"; OWASP's CSRF Prevention Cheat Sheet, "Verifying
 * Origin With Standard Headers"). It is told by its host: a proxy may have taken HTTPS off.
 */
export async function requireSameOrigin({ method, headers, host }: FastifyRequest): Promise<void> {
  if (SAFE.includes(method)) return;
  const { origin, 'sec-fetch-site': site } = headers;
  if (!isOfHost(origin, host) || (site !== undefined && site !== 'same-origin')) {
    throw forbidden('The request does not come from a page of this server.');
  }
}

function isOfHost(origin: string | undefined, host: string): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  // Through the same parser, so that a port which goes without saying is no difference.
  const asked = `${protocol}//${host}`;
  return URL.canParse(asked) && new URL(asked).host === named;
}
