/** Rotation: a successor takes over from a key, which lives on for a grace period. */
import { keyGraceDaysMax } from '../limits.js';
import { failure, quote, type Result, success } from '../result.js';
import { dayMs, hourMs, minuteMs } from '../time/duration.js';
import { type ApiKey, keyStatus } from './api-key.js';

/** How long a rotated key goes on working unless told otherwise. */
export const DEFAULT_GRACE = '24h';

const unitsMs = { m: minuteMs, h: hourMs, d: dayMs } as const;

/** Reads a grace period, as `30m`, `24h`, `7d`, or `0` for none, in milliseconds. */
export function parseGrace(text: string): Result<number> {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text === '0' ? '0m' : text) ?? [];
  if (unit === undefined) {
    return failure(`${quote(text)} is not a time such as 30m, 24h or 7d, or 0`);
  }
  const graceMs = Number(number) * unitsMs[unit as keyof typeof unitsMs];
  return graceMs > keyGraceDaysMax * unitsMs.d
    ? failure(`${quote(text)} is longer than ${keyGraceDaysMax} days`)
    : success(graceMs);
}

/** What a rotation gives the successor and leaves to the old key. */
export interface Rotation {
  /** The successor's expiry: as long a life as the old key was given, from now on. */
  readonly successorExpiresAt: number | null;
  /** The old key's: after the grace period, but never later than it would have expired anyway. */
  readonly expiresAt: number;
}

/**
 * Plans the rotation of a key. Refuses one that does not work any more (make a new one instead), and one that was
 * rotated before: its successor is the one to rotate. `lifeMsMax` bounds the successor's life; null for no bound.
 */
export function planRotation(
  key: ApiKey,
  {
    nowMs,
    graceMs,
    lifeMsMax,
  }: { readonly nowMs: number; readonly graceMs: number; readonly lifeMsMax: number | null },
): Result<Rotation> {
  const status = keyStatus(key, nowMs);
  if (status !== 'active') return failure(`is ${status}; only a key that works can be rotated`);
  if (key.successorId !== null)
    return failure(`was rotated already; rotate its successor ${key.successorId}`);
  const lifeMs = key.expiresAt === null ? null : key.expiresAt - key.createdAt;
  const bounded = lifeMsMax === null ? lifeMs : Math.min(lifeMs ?? lifeMsMax, lifeMsMax);
  return success({
    successorExpiresAt: bounded === null ? null : nowMs + bounded,
    expiresAt: Math.min(key.expiresAt ?? Number.POSITIVE_INFINITY, nowMs + graceMs),
  });
}
