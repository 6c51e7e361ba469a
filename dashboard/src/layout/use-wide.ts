/** Whether there is room for the navigation beside the page. `app-layout.css` draws the line at the same width. */
import { useSyncExternalStore } from 'react';

const query = '(min-width: 60rem)';

export function useWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}
