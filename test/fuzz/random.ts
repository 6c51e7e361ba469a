import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Spreads neighbouring numbers over all 32 bits: the golden ratio of them, as in Knuth's multiplicative hashing. */
const goldenRatio = 0x9e3779b1;

/** Choices that follow from a seed and a number alone, so that any one request can be made again without those before it. */
export class Random {
  readonly #generator;

  constructor(seed: number, number: number) {
    this.#generator = xoroshiro128plus(Math.imul(number + 1, goldenRatio) ^ seed);
  }

  /** A whole number from 0 up to, and without, `end`. */
  int(end: number): number {
    return uniformInt(this.#generator, 0, end - 1);
  }

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.int(times) === 0;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries<number>(weights);
    let left = this.int(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name as Name;
    }
    throw new Error('the weights add up to nothing');
  }

  times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }
}
