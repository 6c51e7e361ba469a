import { loopShare } from './fair-share.js';
import type { Steps } from './steps.js';

/**
 * Pauses long work after so many steps, so that the event loop does other work in between. Counts steps and not milliseconds, so
 * that the same work always has the same pauses.
 */
export class Pauses {
  readonly #stepsMax: number;
  readonly #pause: () => Promise<void>;
  #steps = 0;

  /** `pause` resolves when the work goes on. */
  constructor(stepsMax: number, pause: () => Promise<void> = nextTurn) {
    this.#stepsMax = stepsMax;
    this.#pause = pause;
  }

  /** Call it after each step, or after work like so many. If it returns a promise, wait for it. */
  take(steps = 1): Promise<void> | undefined {
    this.#steps += steps;
    if (this.#steps < this.#stepsMax) return undefined;
    this.#steps = 0;
    return this.#pause();
  }
}

/** Resolves after the event loop has done its other work, and recordings have had their share of it. */
export function nextTurn(): Promise<void> {
  return loopShare.step();
}

/** Takes each step in a turn of its own, unless `pauses` say otherwise. */
export async function finishWithPauses<T>(steps: Steps<T>, pauses = new Pauses(1)): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await pauses.take();
  }
}
