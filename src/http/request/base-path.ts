/**
 * The prefix of every path of the service, for a proxy that has several services under one host and passes paths unchanged.
 * It is removed from requests before routing, so routes do not know it, and added to everything that leads a client back
 * here: links, redirects, cookies, documents.
 */

/** `/stats`, without a slash at the end; '' if the service has the host to itself. */
export type BasePath = '' | `/${string}`;

/** What describes a path stands before it, outside of the base path (RFC 8414, RFC 9728). */
const WELL_KNOWN = /^(\/\.well-known\/oauth-[a-z-]+)(\/.*)$/;

/** A path without a route. */
const nowhere = '/-';

/** A request's URL without the base path; undefined if it is outside the base path. */
export function withinBasePath(url: string, basePath: BasePath): string | undefined {
  if (!url.startsWith(basePath)) return undefined;
  const rest = url.slice(basePath.length);
  // `/statsother` is outside of `/stats`.
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : undefined;
}

/** The URL for routing, without the base path. URLs outside of it match no route. */
export function rewriteBelow(url: string, basePath: BasePath): string {
  if (basePath === '') return url;
  const [, known = '', path = url] = WELL_KNOWN.exec(url) ?? [];
  const within = withinBasePath(path, basePath);
  return within === undefined ? nowhere : `${known}${known === '' ? within : within.replace(/^\/$/, '')}`;
}
