/** Limits what members may try often, such as guessing ids. The counts hold for all processes and nodes. */
import { createHash } from 'node:crypto';
import { secondMs } from '../../domain/time/duration.js';
import type { Throttles } from '../../storage/ports/throttles.js';
import { HttpError } from '../server/errors.js';

interface AttemptLimit {
  /** What is counted, and whose. */
  readonly subject: string;
  readonly attemptsMax: number;
  readonly windowSeconds: number;
  /** The message above the limit. */
  readonly message: string;
}

/** Counts an attempt. Throws `429` above the limit. The result takes the attempt back. */
export async function takeAttempt(
  throttles: Throttles,
  nowMs: number,
  { subject, attemptsMax, windowSeconds, message }: AttemptLimit,
): Promise<() => Promise<void>> {
  const key = createHash('sha256').update(subject).digest('base64url');
  const limit = { attemptsMax, windowMs: windowSeconds * secondMs };
  const { isAllowed, resetsAt } = await throttles.take(key, limit, nowMs);
  if (isAllowed) return () => throttles.giveBack(key, resetsAt);
  const seconds = Math.ceil((resetsAt - nowMs) / secondMs);
  throw new HttpError(429, message, { 'retry-after': String(seconds) });
}
