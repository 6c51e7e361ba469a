/**
 * The token of a one-time address, `/join#TOKEN`. It is taken out of the address bar as soon as it is read, so that it
 * stays in no history, screenshot or copied address, and lives only in memory.
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

/** Takes the token out of the address now, and whenever one is pasted into an open page. Call it before rendering. */
export function watchForTokens(): void {
  take();
  addEventListener('hashchange', take);
}

/** The token that a page was opened with. */
export function useToken(page: '/set-up' | '/join' | '/reset'): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => tokens.get(page) ?? null,
  );
}
