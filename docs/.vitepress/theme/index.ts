/** VitePress's own theme with the fonts that the reader's machine has. */
import DefaultTheme from 'vitepress/theme-without-fonts';
import Layout from './layout.vue';
import './style.css';

/** Where the browser blocks site data, reading these names fails, and with it the search: it gets a memory of this page instead. */
function replaceBlockedStorage(): void {
  for (const name of ['localStorage', 'sessionStorage'] as const) {
    try {
      window[name].getItem('');
    } catch {
      const kept = new Map<string, string>();
      const value = {
        getItem: (key: string) => kept.get(key) ?? null,
        setItem: (key: string, text: string) => kept.set(key, text),
        removeItem: (key: string) => kept.delete(key),
      };
      Object.defineProperty(window, name, { value });
    }
  }
}

// Before VitePress's own code looks for the theme that the reader chose.
if (!import.meta.env.SSR) replaceBlockedStorage();

export default { extends: DefaultTheme, Layout };
