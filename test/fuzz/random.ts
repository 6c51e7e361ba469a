import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Spreads consecutive numbers over 32 bits (Knuth's multiplicative hashing). */
const goldenRatio = 0x9e3779b1;

/** Random choices that depend only on a seed and a number, so that a request can be repeated without earlier ones. */
export class Random {
  readonly #generator;

  constructor(seed: number, number: number) {
    this.#generator = xoroshiro128plus(Math.imul(number + 1, goldenRatio) ^ seed);
  }

  /** A whole number from 0 to `end` - 1. */
  int(end: number): number {
    return uniformInt(this.#generator, 0, end - 1);
  }

  /** True with a probability of 1 / `times`. */
  oneIn(times: number): boolean {
    return this.int(times) === 0;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  /** One of the names, with probabilities in proportion to their weights. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries<number>(weights);
    let left = this.int(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name as Name;
    }
    throw new Error('the sum of the weights is 0');
  }

  times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }
}
