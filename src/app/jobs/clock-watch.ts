/**
 * Notices a clock that jumps. Jobs that remove data and send messages then wait, because most such clocks are wrong and soon
 * corrected, and a removed row or a sent message cannot be taken back.
 */
import { CallerStatsError } from '../../domain/errors.js';
import { clockJumpMsMin, clockTrustedMs } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';

interface ClockWatchOptions {
  readonly clock: Clock;
  /** A clock that nobody sets. */
  readonly monotonicMs: () => number;
  readonly log: { warn(fields: object, message: string): void };
}

export class ClockWatch implements Clock {
  readonly #options: ClockWatchOptions;
  /** How much later the clock is than the monotonic one. */
  #offsetMs: number;
  #jump: { readonly offsetMs: number; readonly sinceMs: number } | undefined;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    this.#offsetMs = options.clock.now() - options.monotonicMs();
  }

  /** Throws `unavailable` unless the clock is right, so that a job notices a jump in the middle of its step. */
  now(): number {
    if (this.isRight()) return this.#options.clock.now();
    throw new CallerStatsError('unavailable', 'The clock of the machine has jumped, and may be wrong.');
  }

  /** False while the clock shows another time than it should, until it has done so for `clockTrustedMs`. Says in the log when that changes. */
  isRight(): boolean {
    const { clock, monotonicMs, log } = this.#options;
    const sinceMs = monotonicMs();
    const offsetMs = clock.now() - sinceMs;
    if (isNear(offsetMs, this.#offsetMs)) {
      if (this.#jump !== undefined) log.warn({}, 'the clock is right again: jobs go on');
      this.#jump = undefined;
      // Clocks are also corrected slowly.
      this.#offsetMs = offsetMs;
      return true;
    }
    if (this.#jump === undefined || !isNear(offsetMs, this.#jump.offsetMs)) {
      this.#jump = { offsetMs, sinceMs };
      const fields = { seconds: Math.round((offsetMs - this.#offsetMs) / 1000) };
      log.warn(
        fields,
        'the clock jumped: retention, notifications and clean-ups wait until it is right, or has kept this time for an hour',
      );
    }
    if (sinceMs - this.#jump.sinceMs < clockTrustedMs) return false;
    log.warn({}, 'the clock has kept its new time for an hour: jobs go on');
    this.#jump = undefined;
    this.#offsetMs = offsetMs;
    return true;
  }
}

const isNear = (oneMs: number, otherMs: number): boolean => Math.abs(oneMs - otherMs) < clockJumpMsMin;
