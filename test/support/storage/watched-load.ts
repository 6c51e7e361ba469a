/** Lets callers wait for a state of work that runs in the background. */
export class WatchedLoad {
  readonly #waiting = new Set<() => void>();
  readonly #done: Promise<unknown>;

  /** `done` is the end of the work. If it rejects, all waits do. */
  constructor(done: Promise<unknown>) {
    this.#done = done;
    done.catch(() => {});
  }

  /** Waits for the end of the work. Rejects if it failed. */
  async end(): Promise<void> {
    await this.#done;
  }

  /** Waits until `holds` returns true. Rejects if the work fails. */
  async until(holds: () => boolean): Promise<void> {
    let look = (): void => {};
    const held = new Promise<void>((resolve) => {
      look = () => {
        if (holds()) resolve();
      };
    });
    this.#waiting.add(look);
    look();
    await Promise.race([held, this.#done]).finally(() => this.#waiting.delete(look));
  }

  /** To be called after every change of the state. */
  look(): void {
    for (const look of this.#waiting) look();
  }
}
