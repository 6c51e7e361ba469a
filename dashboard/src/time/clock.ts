/** The time, for whatever on screen changes as it passes. The only place of the dashboard that looks at a clock. */
import { useSyncExternalStore } from 'react';

export function now(): number {
  return Date.now();
}

/** The time, in steps: a component that uses it is drawn again when the step changes, and not in between. */
export function useNow(stepMs = 5_000): number {
  return useSyncExternalStore(
    (listener) => {
      const timer = setInterval(listener, Math.min(stepMs, 1_000));
      // A hidden page's timers sleep; what it shows is put right as soon as it is looked at.
      document.addEventListener('visibilitychange', listener);
      return () => {
        clearInterval(timer);
        document.removeEventListener('visibilitychange', listener);
      };
    },
    () => Math.floor(Date.now() / stepMs) * stepMs,
  );
}
