import { BoundedCache } from '../../../shared/bounded-cache.js';
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
    return this.#version.run((version) => {
      if (version !== this.#seen) this.#values.clear();
      this.#seen = version;
      return this.#values.getOrCreate(name, read);
    });
  }
}
