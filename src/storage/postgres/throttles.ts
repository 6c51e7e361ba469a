/** Counts of attempts on PostgreSQL. */
import type { Attempt, AttemptLimit, Throttles } from '../ports/throttles.js';
import type { Session } from './database.js';
import type { Statements } from './statements.js';

export interface PostgresThrottlesOptions {
  readonly statements: Statements;
  readonly transaction: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
}

export class PostgresThrottles implements Throttles {
  readonly #statements: Statements;
  readonly #transaction: PostgresThrottlesOptions['transaction'];

  constructor({ statements, transaction }: PostgresThrottlesOptions) {
    this.#statements = statements;
    this.#transaction = transaction;
  }

  async take(key: string, { attemptsMax, windowMs }: AttemptLimit, nowMs: number): Promise<Attempt> {
    const { takeAttempt, findAttempts, removeExpiredAttempts } = this.#statements;
    return this.#transaction(async (session) => {
      const [taken] = await session.query(takeAttempt, [key, attemptsMax, nowMs + windowMs, nowMs]);
      const [row] = taken === undefined ? await session.query(findAttempts, [key]) : [taken];
      await session.query(removeExpiredAttempts, [nowMs]);
      // A window that somebody else reset meanwhile is over.
      return { isAllowed: taken !== undefined, resetsAt: Number(row?.['resetsAt'] ?? nowMs) };
    });
  }

  async giveBack(key: string, resetsAt: number): Promise<void> {
    await this.#transaction((session) => session.query(this.#statements.giveBackAttempt, [key, resetsAt]));
  }

  async reset(key: string): Promise<void> {
    await this.#transaction((session) => session.query(this.#statements.resetAttempts, [key]));
  }
}
