/** Light or dark: the user's choice, or the system's. `public/theme.js` applies it before the first paint. */
import { useSyncExternalStore } from 'react';
import { recall, remember } from './local-storage.js';

const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

const listeners = new Set<() => void>();

function read(): Theme {
  return THEMES.find((one) => one === document.documentElement.dataset['theme']) ?? 'system';
}

/** Applies and stores a theme. */
export function setTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  remember('theme', theme === 'system' ? null : theme);
  for (const listener of listeners) listener();
}

/** Toggles between light and dark, and returns the new theme. */
export function toggleTheme(): Theme {
  const stored = read();
  const isDark =
    stored === 'dark' || (stored === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  const theme = isDark ? 'light' : 'dark';
  setTheme(theme);
  return theme;
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, read);
}

/** Applies a theme that was chosen in another tab. */
export function followOtherTabs(): void {
  addEventListener('storage', () => {
    const stored = recall('theme');
    setTheme(THEMES.find((one) => one === stored) ?? 'system');
  });
}
