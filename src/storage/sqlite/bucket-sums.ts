import { widthOf } from '../../domain/buckets.js';
import type { TypeCounts } from '../../domain/counts.js';
import type { DateRange } from '../../domain/date-range.js';

export type CounterRow = readonly [bucket: number, web: number, api: number, other: number];

/** Counters of one level, added up, so that any number of adjacent ones is summed by two look-ups. */
export class BucketSums {
  readonly #widthMs: number;
  readonly #buckets: Float64Array;
  /** Of all counters before the one of the same index, and at the end of all. */
  readonly #web: Float64Array;
  readonly #api: Float64Array;
  readonly #other: Float64Array;

  /** All counters that there are of the level, or of a stretch that no range asked for leaves; in order. */
  constructor(level: number, rows: readonly CounterRow[]) {
    this.#widthMs = widthOf(level);
    this.#buckets = Float64Array.from(rows, ([bucket]) => bucket);
    this.#web = addedUp(rows.map(([, web]) => web));
    this.#api = addedUp(rows.map(([, , api]) => api));
    this.#other = addedUp(rows.map(([, , , other]) => other));
  }

  /** What the whole buckets within a range add up to, and what is left of it at its ends. */
  cut({ from, to }: DateRange): { readonly sum: TypeCounts; readonly rest: readonly DateRange[] } {
    const first = Math.ceil(from / this.#widthMs);
    const end = Math.floor(to / this.#widthMs);
    if (first >= end) return { sum: { web: 0, api: 0, other: 0 }, rest: from < to ? [{ from, to }] : [] };
    const [begin, stop] = [first * this.#widthMs, end * this.#widthMs];
    return {
      sum: this.#sum(this.#before(first), this.#before(end)),
      rest: [...(from < begin ? [{ from, to: begin }] : []), ...(stop < to ? [{ from: stop, to }] : [])],
    };
  }

  #sum(from: number, to: number): TypeCounts {
    const between = (sums: Float64Array): number => numberAt(sums, to) - numberAt(sums, from);
    return { web: between(this.#web), api: between(this.#api), other: between(this.#other) };
  }

  /** How many counters there are of buckets before this one. */
  #before(bucket: number): number {
    let [low, high] = [0, this.#buckets.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numberAt(this.#buckets, middle) < bucket) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Zero, and then the sum of the first number, of the first two, and so on. */
function addedUp(numbers: readonly number[]): Float64Array {
  let sum = 0;
  return Float64Array.from([0, ...numbers], (number) => {
    sum += number;
    return sum;
  });
}

/** Of an index that there is. */
function numberAt(numbers: Float64Array, index: number): number {
  return numbers[index] ?? Number.NaN;
}
