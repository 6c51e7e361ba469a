/** The current time for components. */
import { useSyncExternalStore } from 'react';
import { now } from './clock.js';

/** The current time, rounded down to steps: a component renders again only when the step changes. */
export function useNow(stepMs = 5_000): number {
  return useSyncExternalStore(
    (listener) => {
      const timer = setInterval(listener, Math.min(stepMs, 1_000));
      // Browsers pause the timers of hidden pages; update when the page becomes visible.
      document.addEventListener('visibilitychange', listener);
      return () => {
        clearInterval(timer);
        document.removeEventListener('visibilitychange', listener);
      };
    },
    () => Math.floor(now() / stepMs) * stepMs,
  );
}
