import { BoundedCache } from '../../../shared/bounded-cache.js';
import type { Steps } from '../../../shared/steps.js';
import type { ReadSnapshot } from './read-snapshot.js';

/** Caches what a reading connection has read until any connection commits. So no value is older than the last commit. */
export class VersionedCache<T> {
  readonly #version: ReadSnapshot;
  readonly #values: BoundedCache<string, T>;
  #seen: number | undefined;

  constructor(version: ReadSnapshot, entriesMax: number) {
    this.#version = version;
    this.#values = new BoundedCache(entriesMax);
  }

  /** The cached value for `name`, or the one that `read` returns. */
  get(name: string, read: () => T): T {
    return this.#version.run((version) => this.#valuesOf(version).getOrCreate(name, read));
  }

  /** As `get`, for a value that is read in steps, within one snapshot. */
  *getInSteps(name: string, read: () => Steps<T>): Steps<T> {
    const found = this.#version.run((version) => this.#valuesOf(version).get(name));
    if (found !== undefined) return found;
    const value = yield* read();
    this.#values.set(name, value);
    return value;
  }

  #valuesOf(version: number): BoundedCache<string, T> {
    if (version !== this.#seen) this.#values.clear();
    this.#seen = version;
    return this.#values;
  }
}
