import type { DataVersion } from './read-snapshot.js';

/** Keeps answers of a reading connection for as long as nobody has committed anything: none is older than the last commit. */
export class Memo<T> {
  readonly #version: DataVersion;
  readonly #entriesMax: number;
  readonly #answers = new Map<string, T>();
  #seen: number | undefined;

  /** `entriesMax` are kept at once; then all are dropped. */
  constructor(version: DataVersion, entriesMax: number) {
    this.#version = version;
    this.#entriesMax = entriesMax;
  }

  /** The answer kept for `name`, or what `read` gives. */
  get(name: string, read: () => T): T {
    return this.#version.during((version) => {
      if (version !== this.#seen || this.#answers.size >= this.#entriesMax) {
        this.#answers.clear();
        this.#seen = version;
      }
      if (this.#answers.has(name)) return this.#answers.get(name) as T;
      const answer = read();
      this.#answers.set(name, answer);
      return answer;
    });
  }
}
