/**
 * The token of a one-time link, `/join#TOKEN`. It is removed from the address bar right away, so that it does not end
 * up in the history, screenshots or copied URLs. It stays in memory only.
 */
import { useSyncExternalStore } from 'react';
import { withoutBasePath } from './base-path.js';

const PAGES = ['/set-up', '/join', '/reset'];

const tokens = new Map<string, string>();
const listeners = new Set<() => void>();

function take(): void {
  const { pathname, hash } = location;
  const page = withoutBasePath(pathname);
  if (!PAGES.includes(page) || hash.length < 2) return;
  tokens.set(page, hash.slice(1));
  history.replaceState(history.state, '', pathname);
  for (const listener of listeners) listener();
}

/** Reads the token now and whenever a link is pasted into an open page. Call it before rendering. */
export function watchForTokens(): void {
  take();
  addEventListener('hashchange', take);
}

/** The token that the page was opened with. */
export function useToken(page: '/set-up' | '/join' | '/reset'): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => tokens.get(page) ?? null,
  );
}
