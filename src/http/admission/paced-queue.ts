/** Processes recordings in small portions, so that a read waits for one portion and not for all recordings. */

/** The size of a portion, and the time between two. */
export interface Pace {
  readonly count: number;
  readonly bytes: number;
  /** Undefined: the next portion follows in the next turn of the event loop. */
  readonly everyMs?: number;
}

/** The recording work of one turn of the event loop: one or two milliseconds on a small machine. Smaller portions cost more in all. */
export const RECORDING_PACE: Pace = { count: 32, bytes: 64 * 1024 };

/**
 * A hundred refusals per second, and more with `credit`. Refusing costs nearly as much as recording a single query, so senders
 * that retry at once must not slow down the recordings that were accepted.
 */
export const REFUSAL_PACE: Pace = { count: 2, bytes: 0, everyMs: 20 };

/** The largest credit that can accumulate. */
const creditMax = 20;

/**
 * Lets a portion of the waiting calls through, first come, first served; then the event loop does its other work; then follows
 * the next portion. Without `everyMs` no time is lost: if there is no other work, the next portion follows at once.
 */
export class PacedQueue {
  readonly #waiting: { readonly bytes: number; readonly go: () => void }[] = [];
  readonly #pace: Pace;
  #scheduled = false;
  #credit = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** The number of callers that wait. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Resolves when it is the caller's turn. `bytes` is the size of its work. */
  next(bytes = 0): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, go: resolve });
      this.#schedule();
    });
  }

  /** Enlarges the next portion. Fractions add up. */
  credit(count: number): void {
    this.#credit = Math.min(this.#credit + count, creditMax);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const { everyMs } = this.#pace;
    if (everyMs === undefined) setImmediate(() => this.#turn());
    else setTimeout(() => this.#turn(), everyMs);
  }

  #turn(): void {
    this.#scheduled = false;
    const extra = Math.floor(this.#credit);
    this.#credit -= extra;
    let [count, bytes] = [0, 0];
    for (const one of this.#waiting.slice(0, this.#pace.count + extra)) {
      bytes += one.bytes;
      if (count > 0 && bytes > this.#pace.bytes) break;
      count++;
    }
    for (const { go } of this.#waiting.splice(0, count)) go();
    if (this.#waiting.length > 0) this.#schedule();
  }
}
