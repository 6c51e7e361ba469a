/** Which keys are in use, their order, and when to warn about expiry. */
import { keyNoticeDays } from '../../../../src/domain/limits.js';
import { dayMs } from '../../../../src/domain/time/duration.js';
import type { Key } from '../../api/types.js';

/** Disabled keys count as in use, because they can be enabled again. */
export function isInUse({ status }: Key): boolean {
  return status === 'active' || status === 'disabled';
}

/** Newest first. */
export function sortKeys(keys: readonly Key[]): Key[] {
  return keys.toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
}

export interface Expiry {
  readonly kind: 'none' | 'later' | 'soon' | 'past';
  /** Days left, rounded up; 0 if expired. */
  readonly daysLeft: number;
}

export function keyExpiry({ expiresAt }: Pick<Key, 'expiresAt'>, now: number): Expiry {
  if (expiresAt === null) return { kind: 'none', daysLeft: 0 };
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) return { kind: 'past', daysLeft: 0 };
  const daysLeft = Math.ceil(left / dayMs);
  return { kind: daysLeft <= keyNoticeDays ? 'soon' : 'later', daysLeft };
}

/** Whether a key was used within the last day, so that revoking it would break something. */
export function isBusy({ lastUsedAt }: Pick<Key, 'lastUsedAt'>, now: number): boolean {
  return lastUsedAt !== null && now - Date.parse(lastUsedAt) < dayMs;
}
