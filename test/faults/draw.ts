/** Random choices. The same seed and name give the same choices, independent of choices elsewhere. */
import { createHash } from 'node:crypto';

export class Draw {
  readonly #name: string;
  #drawn = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** Independent choices for a part of the run. */
  of(part: string | number): Draw {
    return new Draw(`${this.#name}/${part}`);
  }

  /** An integer from 0 to `end` - 1; `end` is at most 2^32. */
  below(end: number): number {
    const hash = createHash('sha256')
      .update(`${this.#name}#${this.#drawn++}`)
      .digest();
    return hash.readUInt32BE() % end;
  }

  /** True with a probability of 1 in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('there is nothing to choose from');
    return item;
  }

  /** The same items in another order. */
  shuffled<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: this.below(2 ** 32) }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }
}
