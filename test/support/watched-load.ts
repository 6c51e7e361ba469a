/** Work that goes on by itself, and whoever waits for it to come so far. */
export class WatchedLoad {
  readonly #waiting = new Set<() => void>();
  readonly #done: Promise<unknown>;

  /** `done` is the end of the work; where it fails, so does all that waits. */
  constructor(done: Promise<unknown>) {
    this.#done = done;
    done.catch(() => {});
  }

  /** Resolves at the end; rejects with what the work failed with. */
  async end(): Promise<void> {
    await this.#done;
  }

  /** Resolves as soon as `holds` does; rejects where the work ends by a failure. */
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

  /** To be called when anything has changed that somebody may wait for. */
  look(): void {
    for (const look of this.#waiting) look();
  }
}
