/** Preferences that persist, such as the theme and the last project. Never keys, tokens or account data. */

const prefix = 'caller-stats.';

export type Remembered = 'theme' | 'organization' | 'project' | 'shortcuts';

/** The stored value; null if there is none or storage is disabled. */
export function recall(name: Remembered): string | null {
  try {
    return localStorage.getItem(prefix + name);
  } catch {
    return null;
  }
}

/** Stores a value; null removes it. */
export function remember(name: Remembered, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, value);
  } catch {
    // Storage is disabled: the choice lasts until the page is closed.
  }
}
