import type { Platform } from './platform.js';

/** Of Node's timers; those of other platforms are numbers. */
interface Timer {
  ref?: () => void;
  unref?: () => void;
}

/** A wait that can be cut short. One at a time. */
export class Pause {
  readonly #platform: Platform;
  #timer: Timer | undefined;
  #resolve: (() => void) | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** @param holds whether the process lives on for it: else its end would never come while the server is away */
  wait(ms: number, holds: boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#timer = this.#platform.setTimeout(() => this.wake(), ms) as Timer;
      if (!holds) this.#timer.unref?.();
    });
  }

  /** From now on the process lives on for it. */
  hold(): void {
    this.#timer?.ref?.();
  }

  /** Ends the wait, if there is one. */
  wake(): void {
    this.#platform.clearTimeout(this.#timer as never);
    this.#timer = undefined;
    this.#resolve?.();
  }
}
