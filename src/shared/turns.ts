import { nextTurn } from './pauses.js';

/** Runs pieces of work one at a time, each in a turn of the event loop of its own, so that other work comes in between. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all that was passed before. */
  next<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(nextTurn).then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
