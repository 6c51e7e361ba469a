/** Counts of attempts. On the writer thread, within the transaction that is open. */
import { type Attempt, expiredWindowsMax } from '../../ports/throttles.js';
import type { Prepare } from './audit-log.js';
import type { ThrottleOperation } from './operations.js';

const TAKE = `INSERT INTO login_throttle AS kept (key, attempts, resets_at) VALUES (?1, 1, ?4 + ?3)
  ON CONFLICT (key) DO UPDATE SET
    attempts = CASE WHEN kept.resets_at <= ?4 THEN 1 ELSE kept.attempts + 1 END,
    resets_at = CASE WHEN kept.resets_at <= ?4 THEN excluded.resets_at ELSE kept.resets_at END
  WHERE kept.resets_at <= ?4 OR kept.attempts < ?2
  RETURNING resets_at AS resetsAt`;

const REMOVE_EXPIRED = `DELETE FROM login_throttle
  WHERE key IN (SELECT key FROM login_throttle WHERE resets_at <= ? LIMIT ${expiredWindowsMax})`;

export function runThrottleOperation(prepare: Prepare, operation: ThrottleOperation): Attempt | undefined {
  const { kind, key } = operation;
  if (kind === 'takeAttempt') return take(prepare, operation);
  if (kind === 'resetAttempts') prepare('DELETE FROM login_throttle WHERE key = ?').run(key);
  else {
    const giveBack = `UPDATE login_throttle SET attempts = attempts - 1
      WHERE key = ? AND resets_at = ? AND attempts > 0`;
    prepare(giveBack).run(key, operation.resetsAt);
  }
  return undefined;
}

function take(
  prepare: Prepare,
  { key, limit: { attemptsMax, windowMs }, nowMs }: Extract<ThrottleOperation, { kind: 'takeAttempt' }>,
): Attempt {
  prepare(REMOVE_EXPIRED).run(nowMs);
  const taken = prepare(TAKE).get(key, attemptsMax, windowMs, nowMs);
  if (taken !== undefined) return { isAllowed: true, resetsAt: Number(taken.resetsAt) };
  const full = prepare('SELECT resets_at AS resetsAt FROM login_throttle WHERE key = ?').get(key);
  return { isAllowed: false, resetsAt: Number(full.resetsAt) };
}
