/** The keyboard shortcuts, and the matching of typed keys. */

export const SHORTCUTS = [
  { keys: 'g o', name: 'overview', label: 'Go to the overview' },
  { keys: 'g k', name: 'keys', label: 'Go to API keys' },
  { keys: 'g i', name: 'sources', label: 'Go to the sources' },
  { keys: 'g c', name: 'corrections', label: 'Go to the corrections' },
  { keys: 'g s', name: 'settings', label: 'Go to the project’s settings' },
  { keys: 'g m', name: 'members', label: 'Go to members' },
  { keys: 'g l', name: 'audit', label: 'Go to the audit log' },
  { keys: 'g a', name: 'account', label: 'Go to your account' },
  { keys: 'p', name: 'projects', label: 'Switch project' },
  { keys: 'r', name: 'range', label: 'Choose the range' },
  { keys: 'c', name: 'compare', label: 'Compare with another period' },
  { keys: 't', name: 'theme', label: 'Light or dark' },
  { keys: '?', name: 'help', label: 'Show keyboard shortcuts' },
] as const;

export type Shortcut = (typeof SHORTCUTS)[number]['name'];

/** A two-key sequence must be completed within this time. */
const sequenceMs = 1_500;

export interface Typed {
  readonly key: string;
  readonly at: number;
}

export interface Step {
  /** The completed shortcut. */
  readonly shortcut: Shortcut | null;
  /** The state to pass in with the next key. */
  readonly pending: Typed | null;
}

/** Matches a key, given the key before it. */
export function step(pending: Typed | null, typed: Typed): Step {
  const before = pending !== null && typed.at - pending.at <= sequenceMs ? `${pending.key} ` : '';
  const find = (keys: string): Shortcut | undefined => SHORTCUTS.find((one) => one.keys === keys)?.name;
  const shortcut = find(before + typed.key) ?? find(typed.key) ?? null;
  if (shortcut !== null) return { shortcut, pending: null };
  const begins = SHORTCUTS.some(({ keys }) => keys.startsWith(`${typed.key} `));
  return { shortcut: null, pending: begins ? typed : null };
}
