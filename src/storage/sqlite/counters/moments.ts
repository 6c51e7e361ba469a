/**
 * Queries that are kept one by one: the narrow counters of a quiet bucket would take several times as much space, and as long to
 * write. `ROW_LEVELS` are the levels of such buckets. Each keeps a limited number, so that what cuts one reads few.
 *
 * Which query is where does not matter: those of a level are in its counters and all wider ones, and all others in the narrower
 * ones as well.
 */
import { bucketWidthMs, ROW_LEVELS } from '../../../domain/counting/buckets.js';

/** 20 bits for the milliseconds since the start of the bucket, and as many for the number of the caller. */
export const momentBytes = 5;
const callerEnd = 2 ** 20;

/** A row of a thousand bytes would need a page of its own. */
export const momentsMax = 190;

/** Any other caller is in the narrow counters. */
export const isKept = (caller: number): boolean => caller < callerEnd;

/** Widest first. */
export const KEPT_LEVELS = [...ROW_LEVELS].sort((a, b) => b - a);

export function writeMoment(bytes: Uint8Array, at: number, sinceStartMs: number, caller: number): void {
  bytes[at] = sinceStartMs >> 12;
  bytes[at + 1] = sinceStartMs >> 4;
  bytes[at + 2] = (sinceStartMs << 4) | (caller >> 16);
  bytes[at + 3] = caller >> 8;
  bytes[at + 4] = caller;
}

/** Those of a bucket. */
export function readMoments(
  level: number,
  bucket: number,
  bytes: Uint8Array,
  each: (timeMs: number, caller: number) => void,
): void {
  const startMs = bucket * bucketWidthMs(level);
  const byte = (at: number) => bytes[at] as number;
  for (let at = 0; at + momentBytes <= bytes.length; at += momentBytes) {
    const sinceStartMs = (byte(at) << 12) | (byte(at + 1) << 4) | (byte(at + 2) >> 4);
    each(startMs + sinceStartMs, ((byte(at + 2) & 15) << 16) | (byte(at + 3) << 8) | byte(at + 4));
  }
}
