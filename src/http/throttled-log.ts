import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../domain/time/clock.js';

const intervalMs = 10_000;

/** A warning that could come with every request, and must not fill the log: at most one line in ten seconds. */
export class ThrottledLog {
  readonly #clock: Clock;
  #writtenAt: number | undefined;
  #unwritten = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Writes it, with how many like it were left out since the last; or leaves it out. */
  warn(log: FastifyBaseLogger, fields: object, message: string): void {
    const now = this.#clock.now();
    // A clock that was set back must not silence it.
    if (this.#writtenAt !== undefined && Math.abs(now - this.#writtenAt) < intervalMs) {
      this.#unwritten++;
      return;
    }
    log.warn({ ...fields, unwritten: this.#unwritten }, message);
    this.#writtenAt = now;
    this.#unwritten = 0;
  }
}
