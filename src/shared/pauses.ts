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

/** Resolves after the event loop has done its other work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Work in steps, each of about a millisecond. */
export type Steps<T> = Generator<void, T>;

/** As many are made in about a millisecond. */
const itemsInStep = 500;

/** What `map` returns. */
export function* mapInSteps<T, Result>(
  items: readonly T[],
  toResult: (item: T, at: number) => Result,
): Steps<Result[]> {
  const results: Result[] = [];
  for (const [at, item] of items.entries()) {
    results.push(toResult(item, at));
    if (at % itemsInStep === itemsInStep - 1) yield;
  }
  return results;
}

/** Takes all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Takes each step in a turn of its own, unless `pauses` say otherwise. */
export async function finishWithPauses<T>(steps: Steps<T>, pauses = new Pauses(1)): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await pauses.take();
  }
}
