/** Where to go after signing in. */

/**
 * The page named by `?to=`, if it belongs to this dashboard. A link to the sign-in page must not redirect to another
 * site.
 */
export function safeDestination(to: string | null, origin: string): string {
  if (to === null || !isPath(to)) return '/';
  try {
    const url = new URL(to, origin);
    // `/..//other.test` has the path `//other.test`, which the browser would read as a host.
    if (url.origin !== origin || !isPath(url.pathname) || url.pathname === '/sign-in') return '/';
    return `${url.pathname}${url.search}`;
  } catch {
    return '/';
  }
}

/** Whether browsers read it as a path of the same host. */
function isPath(to: string): boolean {
  return /^\/(?![/\\])/.test(to);
}

/** The URL of the sign-in page that returns to the current page. */
export function signInFor(path: string, query: string): string {
  const to = query === '' ? path : `${path}?${query.replace(/^\?/, '')}`;
  return to === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(to)}`;
}
