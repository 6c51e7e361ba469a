/** How long keys live: the expiry of a new key, and the rotation that replaces an old one. */
import { keyGraceDaysMax, keyLifeDaysMax, keyNoticeDays, keyUseDays } from '../limits.js';
import { failure, quote, type Result, success } from '../result.js';
import { parseBound } from '../time/date-time.js';
import { dayMs, hourMs, minuteMs } from '../time/duration.js';
import { type ApiKey, type KeyType, keyStatus, type NewKey } from './api-key.js';

/**
 * The expiry of a new key unless the request names one. A recording key has no end unless somebody wants one: queries sent
 * after it would be lost, and a stolen recording key reads nothing.
 */
export const DEFAULT_EXPIRIES: Readonly<Record<KeyType, string>> = {
  admin: '90d',
  recording: 'never',
  reading: '90d',
};

/** The same where the administrator limits the life of keys to `lifeMsMax`; null for no limit. */
export function defaultExpiry(type: KeyType, lifeMsMax: number | null): string {
  const expiry = DEFAULT_EXPIRIES[type];
  if (lifeMsMax === null) return expiry;
  return `${Math.min(expiry === 'never' ? keyLifeDaysMax : Number.parseInt(expiry, 10), lifeMsMax / dayMs)}d`;
}

/** How long a rotated key keeps working unless the request says otherwise. */
export const DEFAULT_GRACE = '24h';

/**
 * Parses the expiry of a key created at `nowMs`: whole days (`90d`), a date or date-time as in the bound of a range, or
 * `never` (null).
 */
export function parseExpiry(text: string, nowMs: number): Result<number | null> {
  if (text === 'never') return success(null);
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const latest = nowMs + keyLifeDaysMax * dayMs;
  const time = days === undefined ? parseBound(text) : success(nowMs + Number(days) * dayMs);
  if (!time.ok) return failure(`${quote(text)} is not a number of days (90d), a date (2027-01-31) or never`);
  if (time.value <= nowMs) return failure(`${quote(text)} is not in the future`);
  return time.value <= latest
    ? time
    : failure(`${quote(text)} is more than ${keyLifeDaysMax} days away; use never for a key without end`);
}

/** The same where the administrator limits the life of keys to `lifeMsMax`; null for no limit. */
export function parseExpiryWithin(
  text: string,
  nowMs: number,
  lifeMsMax: number | null,
): Result<number | null> {
  const expiry = parseExpiry(text, nowMs);
  if (!expiry.ok || lifeMsMax === null) return expiry;
  const latest = nowMs + lifeMsMax;
  if (expiry.value !== null && expiry.value <= latest) return expiry;
  return failure(`is later than the longest life of a key allows: ${new Date(latest).toISOString()}`);
}

/** Parses the longest life of keys, `365d` or `none`, to milliseconds; null for no limit. */
export function parseKeyLife(text: string): Result<number | null> {
  if (text === 'none') return success(null);
  const days = Number(/^(\d{1,5})d$/.exec(text)?.[1] ?? Number.NaN);
  return days >= 1 && days <= keyLifeDaysMax
    ? success(days * dayMs)
    : failure(`is not 1d to ${keyLifeDaysMax}d, or none`);
}

const unitsMs = { m: minuteMs, h: hourMs, d: dayMs } as const;

/** Parses a grace period such as `30m`, `24h`, `7d` or `0` to milliseconds. */
export function parseGrace(text: string): Result<number> {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text === '0' ? '0m' : text) ?? [];
  if (unit === undefined) return failure(`${quote(text)} is not a time such as 30m, 24h or 7d, or 0`);
  const graceMs = Number(number) * unitsMs[unit as keyof typeof unitsMs];
  return graceMs > keyGraceDaysMax * dayMs
    ? failure(`${quote(text)} is longer than ${keyGraceDaysMax} days`)
    : success(graceMs);
}

/** Which keys are announced because they will expire. */
export interface ExpiryNotice {
  /** They expire after the first time, and not after the second one. */
  readonly from: number;
  readonly until: number;
  readonly usedSince: number;
}

/** `nextMs` is when there is the next occasion to announce them. */
export function expiryNotice(nowMs: number, nextMs = nowMs): ExpiryNotice {
  const until = Math.max(nowMs + keyNoticeDays * dayMs, nextMs + 7 * dayMs);
  return { from: nowMs, until, usedSince: nowMs - keyUseDays * dayMs };
}

/** Whether a key that expires at this time is announced now. */
export function isExpiringSoon(expiresAt: number | null, nowMs: number): expiresAt is number {
  return expiresAt !== null && expiresAt <= expiryNotice(nowMs).until;
}

/** The changes of a rotation. */
export interface Rotation {
  /** Like the old key, with as long a life as that was created with, counted from now. */
  readonly successor: NewKey;
  /** The old key expires after the grace period, but never later than before. */
  readonly expiresAt: number;
}

/**
 * Plans the rotation of a key. Fails for a key that no longer works (create a new one instead) and for a key that was
 * rotated before (rotate its successor). `lifeMsMax` limits the successor's life; null for no limit.
 */
export function planRotation(
  key: ApiKey,
  times: { readonly nowMs: number; readonly graceMs: number; readonly lifeMsMax: number | null },
): Result<Rotation> {
  const { nowMs, graceMs, lifeMsMax } = times;
  const status = keyStatus(key, nowMs);
  if (status !== 'active') return failure(`is ${status}; only an active key can be rotated`);
  if (key.successorId !== null)
    return failure(`was already rotated; rotate its successor ${key.successorId}`);
  const lifeMs = key.expiresAt === null ? null : key.expiresAt - key.createdAt;
  const bounded = lifeMsMax === null ? lifeMs : Math.min(lifeMs ?? lifeMsMax, lifeMsMax);
  const { organizationId, projectId, type, name, scopes, allow } = key;
  const expiresAt = bounded === null ? null : nowMs + bounded;
  return success({
    successor: { organizationId, projectId, type, name, scopes, allow, expiresAt },
    expiresAt: Math.min(key.expiresAt ?? Number.POSITIVE_INFINITY, nowMs + graceMs),
  });
}
