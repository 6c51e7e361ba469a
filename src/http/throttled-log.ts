import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../domain/time/clock.js';

const intervalMs = 10_000;

/** Logs a warning that could occur with every request: at most one line in ten seconds. */
export class ThrottledLog {
  readonly #clock: Clock;
  #writtenAt: number | undefined;
  #unwritten = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Writes the warning with the number of those left out since the last one, or leaves it out. */
  warn(log: FastifyBaseLogger, fields: object, message: string): void {
    const now = this.#clock.now();
    // A clock that was set back must not silence the warning.
    if (this.#writtenAt !== undefined && Math.abs(now - this.#writtenAt) < intervalMs) {
      this.#unwritten++;
      return;
    }
    log.warn({ ...fields, unwritten: this.#unwritten }, message);
    this.#writtenAt = now;
    this.#unwritten = 0;
  }
}
