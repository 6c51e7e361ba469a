/** Counts of attempts, for every SQL database. Each method is one transaction. */
import { type Attempt, type AttemptLimit, expiredWindowsMax, type Throttles } from '../ports/throttles.js';
import { SqlTables } from './tables.js';

export class SqlThrottleChanges extends SqlTables implements Throttles {
  readonly #table = this.table('login_throttle');

  async take(key: string, { attemptsMax, windowMs }: AttemptLimit, nowMs: number): Promise<Attempt> {
    // A window that ends later was begun by a clock that was ahead. Clocks of several servers differ by less than a window.
    const isOver = '(kept.resets_at <= $4 OR kept.resets_at > $5)';
    const taken = await this.get<{ resetsAt: number }>(
      `INSERT INTO ${this.#table} AS kept (key, attempts, resets_at) VALUES ($1, 1, $3)
       ON CONFLICT (key) DO UPDATE SET
         attempts = CASE WHEN ${isOver} THEN 1 ELSE kept.attempts + 1 END,
         resets_at = CASE WHEN ${isOver} THEN excluded.resets_at ELSE kept.resets_at END
       WHERE ${isOver} OR kept.attempts < $2
       RETURNING resets_at AS "resetsAt"`,
      [key, attemptsMax, nowMs + windowMs, nowMs, nowMs + 2 * windowMs],
    );
    const find = `SELECT resets_at AS "resetsAt" FROM ${this.#table} WHERE key = $1`;
    const row = taken ?? (await this.get<{ resetsAt: number }>(find, [key]));
    await this.session.run(
      `DELETE FROM ${this.#table} WHERE key IN (SELECT key FROM ${this.#table} WHERE resets_at <= $1
       LIMIT ${expiredWindowsMax} ${this.dialect.lock('UPDATE SKIP LOCKED')})`,
      [nowMs],
    );
    // Without a row, another transaction has just reset the window.
    return { isAllowed: taken !== undefined, resetsAt: row?.resetsAt ?? nowMs };
  }

  async giveBack(key: string, resetsAt: number): Promise<void> {
    await this.session.run(
      `UPDATE ${this.#table} SET attempts = attempts - 1 WHERE key = $1 AND resets_at = $2 AND attempts > 0`,
      [key, resetsAt],
    );
  }

  async reset(key: string): Promise<void> {
    await this.session.run(`DELETE FROM ${this.#table} WHERE key = $1`, [key]);
  }
}
