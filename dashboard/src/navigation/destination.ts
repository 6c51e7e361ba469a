/** Where to go after signing in. */

/**
 * The page that `?to=` names, if it is one of this dashboard: a link to the sign-in page must not be able to send
 * anybody to another site.
 */
export function destinationOf(to: string | null, origin: string): string {
  if (to === null || !/^\/(?![/\\])/.test(to)) return '/';
  try {
    const url = new URL(to, origin);
    if (url.origin !== origin || url.pathname === '/sign-in') return '/';
    return `${url.pathname}${url.search}`;
  } catch {
    return '/';
  }
}

/** The sign-in page that comes back to where one was. */
export function signInFor(path: string, query: string): string {
  const to = query === '' ? path : `${path}?${query.replace(/^\?/, '')}`;
  return to === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(to)}`;
}
