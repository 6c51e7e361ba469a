/** Runs a few tasks at a time. The others wait for their turn, first come, first served. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  readonly #waitingMax: number;
  #free: number;

  /** Beyond `waitingMax` waiting tasks, `isFull` is true. */
  constructor(count: number, waitingMax = Number.POSITIVE_INFINITY) {
    this.#free = count;
    this.#waitingMax = waitingMax;
  }

  /** Whether one more task would be too many. */
  get isFull(): boolean {
    return this.#free === 0 && this.#waiting.length >= this.#waitingMax;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  /** Waits for the turn of a task. Call `leave` when it has ended. */
  async enter(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
