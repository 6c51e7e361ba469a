/**
 * Makes one call for all who ask for the same in one turn of the event loop. The call begins after the last of them has asked,
 * so nobody gets an answer that was true only before.
 */
export class SharedCalls<T> {
  readonly #asked = new Map<string, Promise<T>>();

  ask(key: string, call: () => Promise<T>): Promise<T> {
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const answer = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#asked.delete(key);
      return call();
    });
    this.#asked.set(key, answer);
    return answer;
  }
}
