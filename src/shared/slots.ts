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

  /** If `signal` is aborted before the task begins, this rejects with its reason. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.enter(signal);
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  /** Waits for the turn of a task. Call `leave` when it has ended. */
  async enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      this.#waiting.push(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }
}
