/**
 * Makes one call for all who ask for the same in one turn of the event loop. The call begins after the last of them has asked,
 * so nobody gets an answer that was true only before.
 */
export class SharedCalls<T> {
  readonly #asked = new Map<string, Promise<T>>();
  /** Resolves when all have asked, for all keys at once. */
  #turn: Promise<void> | undefined;

  ask(key: string, call: () => Promise<T>): Promise<T> {
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    this.#turn ??= new Promise((resolve) => setImmediate(() => this.#endTurn(resolve)));
    const answer = this.#turn.then(call);
    this.#asked.set(key, answer);
    return answer;
  }

  #endTurn(resolve: () => void): void {
    this.#asked.clear();
    this.#turn = undefined;
    resolve();
  }
}
