/** Recording in small portions, so that whoever reads waits for a portion and never for all that is being recorded. */

/** What one turn of the event loop does of it: a millisecond or two on a small machine. */
const perTurn = { count: 8, bytes: 64 * 1024 };

interface Waiting {
  readonly bytes: number;
  readonly go: () => void;
}

/**
 * Lets through a few of those that wait, first come first served, then everything else that the event loop has to do, then
 * the next few. Loses no time: where nobody else has anything to do, the next turn begins at once.
 */
export class Turns {
  #waiting: Waiting[] = [];
  #scheduled = false;

  /** Resolves when it is the caller's turn. `bytes` is how much there is to be done. */
  next(bytes = 0): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, go: resolve });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const portion = portionOf(this.#waiting);
      this.#waiting = this.#waiting.slice(portion.length);
      for (const { go } of portion) go();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}

/** As many of the first as fit one turn, and at least one. */
function portionOf(waiting: readonly Waiting[]): readonly Waiting[] {
  let bytes = 0;
  for (const [index, one] of waiting.slice(0, perTurn.count).entries()) {
    bytes += one.bytes;
    if (index > 0 && bytes > perTurn.bytes) return waiting.slice(0, index);
  }
  return waiting.slice(0, perTurn.count);
}
