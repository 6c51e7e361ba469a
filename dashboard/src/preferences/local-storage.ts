/** Preferences that persist, such as the theme and the last project. Never keys, tokens or account data. */

/** Unit tests load this module without a browser. */
const page = globalThis as unknown as {
  readonly localStorage: {
    getItem(name: string): string | null;
    setItem(name: string, value: string): void;
    removeItem(name: string): void;
  };
};

const prefix = 'caller-stats.';

export type Remembered = 'theme' | 'organization' | 'project' | 'shortcuts' | 'weekStart';

/** The stored value; null if there is none or storage is disabled. */
export function recall(name: Remembered): string | null {
  try {
    return page.localStorage.getItem(prefix + name);
  } catch {
    return null;
  }
}

/** Stores a value; null removes it. */
export function remember(name: Remembered, value: string | null): void {
  try {
    if (value === null) page.localStorage.removeItem(prefix + name);
    else page.localStorage.setItem(prefix + name, value);
  } catch {
    // Storage is disabled: the choice lasts until the page is closed.
  }
}
