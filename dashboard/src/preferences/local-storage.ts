/** Small choices that outlive a visit: a theme, the last project. Never a key, a token or anything of an account. */

const prefix = 'caller-stats.';

export type Remembered = 'theme' | 'organization' | 'project' | 'shortcuts';

/** What was remembered; null for nothing, and where the browser keeps nothing. */
export function recall(name: Remembered): string | null {
  try {
    return localStorage.getItem(prefix + name);
  } catch {
    return null;
  }
}

/** Remembers, or with null forgets. */
export function remember(name: Remembered, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, value);
  } catch {
    // Storage is turned off: the choice lasts as long as the page.
  }
}
