/** Which keys matter, in what order, and when one deserves a warning. */
import type { Key } from '../../api/types.js';

const DAY_MS = 86_400_000;

/** Sooner than this, an expiry is a warning. */
const soonDays = 7;

/** A disabled key can be enabled again: it is still in use, in a way. */
export function isInUse({ status }: Key): boolean {
  return status === 'active' || status === 'disabled';
}

/** Newest first. */
export function sortKeys(keys: readonly Key[]): Key[] {
  return keys.toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
}

export interface Expiry {
  readonly kind: 'none' | 'later' | 'soon' | 'past';
  /** Whole days that are left, rounded up; 0 where none are. */
  readonly daysLeft: number;
}

export function expiryOf({ expiresAt }: Pick<Key, 'expiresAt'>, now: number): Expiry {
  if (expiresAt === null) return { kind: 'none', daysLeft: 0 };
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) return { kind: 'past', daysLeft: 0 };
  const daysLeft = Math.ceil(left / DAY_MS);
  return { kind: daysLeft <= soonDays ? 'soon' : 'later', daysLeft };
}

/** Whether something has used a key within the last day, and will notice when it is gone. */
export function isBusy({ lastUsedAt }: Pick<Key, 'lastUsedAt'>, now: number): boolean {
  return lastUsedAt !== null && now - Date.parse(lastUsedAt) < DAY_MS;
}
