import { keyLifeDaysMax } from '../limits.js';
import { failure, quote, type Result, success } from '../result.js';
import { parseBound } from '../time/date-time.js';
import { dayMs } from '../time/duration.js';

/** How long a key lives unless its maker says otherwise (contract, part 2). */
export const DEFAULT_EXPIRY = '90d';

/**
 * When a key made at `nowMs` expires: after whole days (`90d`), on a date or at a date-time as in a range's
 * bound, or `never` (null).
 */
export function parseExpiry(text: string, nowMs: number): Result<number | null> {
  if (text === 'never') return success(null);
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const latest = nowMs + keyLifeDaysMax * dayMs;
  const time = days === undefined ? parseBound(text) : success(nowMs + Number(days) * dayMs);
  if (!time.ok) return failure(`${quote(text)} is none of: days as 90d, a date as 2027-01-31, never`);
  if (time.value <= nowMs) return failure(`${quote(text)} is not in the future`);
  if (time.value > latest)
    return failure(`${quote(text)} is more than ${keyLifeDaysMax} days away; say never if you mean it`);
  return time;
}

/**
 * When a key made at `nowMs` expires, where keys may not live longer than `lifeMsMax` (null for no bound). What was
 * asked for and is longer is refused; where nothing was asked for it is the usual time, or the bound if that is shorter.
 */
export function parseExpiryWithin(
  text: string | undefined,
  nowMs: number,
  lifeMsMax: number | null,
): Result<number | null> {
  const expiry = parseExpiry(text ?? DEFAULT_EXPIRY, nowMs);
  if (!expiry.ok || lifeMsMax === null) return expiry;
  const latest = nowMs + lifeMsMax;
  if (expiry.value !== null && expiry.value <= latest) return expiry;
  return text === undefined
    ? success(latest)
    : failure(`is later than the longest life of a key allows: ${new Date(latest).toISOString()}`);
}

/** The longest life that keys may be given, as `365d` or `none`, in milliseconds; null for no bound. */
export function parseKeyLife(text: string): Result<number | null> {
  if (text === 'none') return success(null);
  const days = Number(/^(\d{1,5})d$/.exec(text)?.[1] ?? Number.NaN);
  return days >= 1 && days <= keyLifeDaysMax
    ? success(days * dayMs)
    : failure(`is not 1d to ${keyLifeDaysMax}d, or none`);
}
