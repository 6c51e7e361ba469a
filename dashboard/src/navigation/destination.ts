/** Where to go after signing in. */
import { toOwnPath } from '../../../src/domain/own-path.js';

/** The page named by `?to=`, if it belongs to this dashboard: a link to the sign-in page must not redirect to another site. */
export function safeDestination(to: string | null): string {
  const path = toOwnPath(to ?? '') ?? '/';
  return path.split('?')[0] === '/sign-in' ? '/' : path;
}

/** The URL of the sign-in page that returns to the current page. */
export function signInFor(path: string, query: string): string {
  const to = query === '' ? path : `${path}?${query.replace(/^\?/, '')}`;
  return to === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(to)}`;
}
