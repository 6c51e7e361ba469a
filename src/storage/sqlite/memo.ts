import type { DataVersion } from './data-version.js';

/** Answers kept at once; then all are dropped. More than there are keys and projects in use. */
const entriesMax = 10_000;

/** Keeps answers of a reading connection for as long as nobody has committed anything: none is older than the last commit. */
export class Memo<T> {
  readonly #version: DataVersion;
  readonly #answers = new Map<string, T | undefined>();
  #seen: number | undefined;

  constructor(version: DataVersion) {
    this.#version = version;
  }

  /** The answer kept for `name`, or what `read` gives. Nothing is kept like anything else, and takes the same time. */
  get(name: string, read: () => T | undefined): T | undefined {
    return this.#version.during((version) => {
      if (version !== this.#seen || this.#answers.size >= entriesMax) {
        this.#answers.clear();
        this.#seen = version;
      }
      if (this.#answers.has(name)) return this.#answers.get(name);
      const answer = read();
      this.#answers.set(name, answer);
      return answer;
    });
  }
}
