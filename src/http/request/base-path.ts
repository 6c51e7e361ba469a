/**
 * The path that stands before every other path of the service, for a proxy that has more than one service under one host
 * and hands paths on as they came. Requests are freed of it before anything looks at them, so routes know nothing of it;
 * whatever leads a client back here (links, redirects, cookies, documents) gets it put before.
 */

/** `/stats` with no slash behind it; '' where the service has the host to itself. */
export type BasePath = '' | `/${string}`;

/** Where no route is. */
const nowhere = '/-';

/** A request's URL without the base path; undefined for one outside of it. */
export function withinBasePath(url: string, basePath: BasePath): string | undefined {
  if (!url.startsWith(basePath)) return undefined;
  const rest = url.slice(basePath.length);
  // `/statsother` is something else.
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : undefined;
}

/** The framework's option that takes the base path off; one outside of it leads nowhere. */
export function rewriteBelow(basePath: BasePath): {
  rewriteUrl?: (request: { readonly url?: string | undefined }) => string;
} {
  if (basePath === '') return {};
  return { rewriteUrl: ({ url = '' }) => withinBasePath(url, basePath) ?? nowhere };
}
