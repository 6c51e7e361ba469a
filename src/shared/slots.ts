/** Runs a few tasks at a time. The others wait for their turn: owners take turns, and the tasks of one are first come, first served. */
export class Slots {
  readonly #owners = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  readonly #waitingMax: number;
  readonly #runningMax: number;
  #free: number;

  /** Of one owner, at most `runningMax` tasks run, and beyond `waitingMax` waiting ones `isFull` is true. */
  constructor(count: number, waitingMax = Number.POSITIVE_INFINITY, runningMax = count) {
    this.#free = count;
    this.#waitingMax = waitingMax;
    this.#runningMax = runningMax;
  }

  /** Whether one more task of this owner would be too many. */
  isFull(owner = ''): boolean {
    const { running, waiting } = this.#of(owner);
    return !this.#hasRoom(running) && waiting.length >= this.#waitingMax;
  }

  /** If `signal` is aborted before the task begins, this rejects with its reason. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal, owner = ''): Promise<T> {
    await this.enter(signal, owner);
    try {
      return await task();
    } finally {
      this.leave(owner);
    }
  }

  /** Waits for the turn of a task. Call `leave` when it has ended. */
  async enter(signal?: AbortSignal, owner = ''): Promise<void> {
    signal?.throwIfAborted();
    if (this.#hasRoom(this.#of(owner).running)) this.#take(owner);
    else await this.#wait(signal, owner);
  }

  leave(owner = ''): void {
    const own = this.#of(owner);
    this.#owners.set(owner, { ...own, running: own.running - 1 });
    this.#free++;
    this.#forget(owner);
    const next = this.#next();
    if (next === undefined) return;
    const begin = this.#of(next).waiting.shift();
    this.#take(next);
    begin?.();
  }

  /** Whose turn it is: of those with the fewest running tasks, the one that had none for longest. */
  #next(): string | undefined {
    let next: string | undefined;
    for (const [owner, { running, waiting }] of this.#owners) {
      if (waiting.length === 0 || !this.#hasRoom(running)) continue;
      if (next === undefined || running < this.#of(next).running) next = owner;
    }
    return next;
  }

  #of(owner: string) {
    return this.#owners.get(owner) ?? { running: 0, waiting: [] };
  }

  #hasRoom(running: number): boolean {
    return this.#free > 0 && running < this.#runningMax;
  }

  /** The owner's other tasks come after those of all others. */
  #take(owner: string): void {
    const { running, waiting } = this.#of(owner);
    this.#owners.delete(owner);
    this.#owners.set(owner, { running: running + 1, waiting });
    this.#free--;
  }

  #forget(owner: string): void {
    const { running, waiting } = this.#of(owner);
    if (running === 0 && waiting.length === 0) this.#owners.delete(owner);
  }

  #wait(signal: AbortSignal | undefined, owner: string): Promise<void> {
    const own = this.#of(owner);
    this.#owners.set(owner, own);
    const { waiting } = own;
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(begin), 1);
        this.#forget(owner);
        reject(signal?.reason);
      };
      waiting.push(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }
}
