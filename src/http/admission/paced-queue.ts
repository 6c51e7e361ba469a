/** Recording in small portions, so that whoever reads waits for a portion and never for all that is being recorded. */

/** How much is let through at once, and when the next. */
export interface Pace {
  readonly count: number;
  readonly bytes: number;
  /** Milliseconds from one turn to the next; undefined for the next turn of the event loop. */
  readonly everyMs?: number;
}

/** What one turn of the event loop does of recording: a millisecond or two on a small machine. */
export const RECORDING_PACE: Pace = { count: 8, bytes: 64 * 1024 };

/**
 * A hundred refusals a second, and more with `credit`: who asks again at once after each must not take the processor away from
 * what is accepted.
 */
export const REFUSAL_PACE: Pace = { count: 2, bytes: 0, everyMs: 20 };

/** What was not needed for long is not spent at once. */
const creditMax = 20;

interface Waiting {
  readonly bytes: number;
  readonly go: () => void;
}

/**
 * Lets through a few of those that wait, first come first served, then everything else that the event loop has to do, then
 * the next few. Without `everyMs` it loses no time: where nobody else has anything to do, the next turn begins at once.
 */
export class PacedQueue {
  #waiting: Waiting[] = [];
  readonly #pace: Pace;
  #scheduled = false;
  #credit = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** Resolves when it is the caller's turn. `bytes` is how much there is to be done. */
  next(bytes = 0): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, go: resolve });
      this.#schedule();
    });
  }

  /** Lets through more at the next turn; a fraction waits for the turn that makes it whole. */
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
    const more = Math.floor(this.#credit);
    this.#credit -= more;
    const portion = takePortion(this.#waiting, { ...this.#pace, count: this.#pace.count + more });
    this.#waiting = this.#waiting.slice(portion.length);
    for (const { go } of portion) go();
    if (this.#waiting.length > 0) this.#schedule();
  }
}

/** As many of the first as fit one turn, and at least one. */
function takePortion(waiting: readonly Waiting[], pace: Pace): readonly Waiting[] {
  let bytes = 0;
  const most = waiting.slice(0, pace.count);
  for (const [index, one] of most.entries()) {
    bytes += one.bytes;
    if (index > 0 && bytes > pace.bytes) return most.slice(0, index);
  }
  return most;
}
