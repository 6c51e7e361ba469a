/** Counts of attempts. On the writer thread, within the transaction that is open. */
import { type Attempt, expiredWindowsMax } from '../../ports/throttles.js';
import type { Statements } from '../statements.js';
import type { Operations } from './operations.js';

const TAKE = `INSERT INTO login_throttle AS kept (key, attempts, resets_at) VALUES (?1, 1, ?4 + ?3)
  ON CONFLICT (key) DO UPDATE SET
    attempts = CASE WHEN kept.resets_at <= ?4 THEN 1 ELSE kept.attempts + 1 END,
    resets_at = CASE WHEN kept.resets_at <= ?4 THEN excluded.resets_at ELSE kept.resets_at END
  WHERE kept.resets_at <= ?4 OR kept.attempts < ?2
  RETURNING resets_at AS resetsAt`;

const REMOVE_EXPIRED = `DELETE FROM login_throttle
  WHERE key IN (SELECT key FROM login_throttle WHERE resets_at <= ? LIMIT ${expiredWindowsMax})`;

interface Window {
  readonly resetsAt: number;
}

export function takeAttempt(
  statements: Statements,
  { key, limit: { attemptsMax, windowMs }, nowMs }: Operations['takeAttempt']['input'],
): Attempt {
  statements.run(REMOVE_EXPIRED, [nowMs]);
  const taken = statements.get<Window>(TAKE, [key, attemptsMax, windowMs, nowMs]);
  if (taken !== undefined) return { isAllowed: true, resetsAt: taken.resetsAt };
  const full = statements.get<Window>('SELECT resets_at AS resetsAt FROM login_throttle WHERE key = ?', [
    key,
  ]);
  if (full === undefined) throw new Error('Invariant violated: a refused attempt has a window.');
  return { isAllowed: false, resetsAt: full.resetsAt };
}

export function giveBackAttempt(
  statements: Statements,
  { key, resetsAt }: Operations['giveBackAttempt']['input'],
): void {
  statements.run(
    'UPDATE login_throttle SET attempts = attempts - 1 WHERE key = ? AND resets_at = ? AND attempts > 0',
    [key, resetsAt],
  );
}

export function resetAttempts(statements: Statements, { key }: Operations['resetAttempts']['input']): void {
  statements.run('DELETE FROM login_throttle WHERE key = ?', [key]);
}
