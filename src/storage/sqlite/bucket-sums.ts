import { widthOf } from '../../domain/buckets.js';
import type { TypeCounts } from '../../domain/counts.js';
import type { DateRange } from '../../domain/date-range.js';

export type CounterRow = readonly [bucket: number, web: number, api: number, other: number];

/** Whole numbers that never fall, from zero on. */
type Ascending = Uint32Array | Float64Array;

/** Counters of one level, added up, so that any number of adjacent ones is summed by two look-ups. */
export class BucketSums {
  readonly #widthMs: number;
  readonly #first: number;
  /** From the first on. */
  readonly #buckets: Ascending;
  /** Of all counters before the one of the same index, and at the end of all. */
  readonly #web: Ascending;
  readonly #api: Ascending;
  readonly #other: Ascending;

  /** All counters that there are of the level, or of a stretch that no range asked for leaves; in order. */
  constructor(level: number, rows: readonly CounterRow[]) {
    this.#widthMs = widthOf(level);
    const first = rows[0]?.[0] ?? 0;
    this.#first = first;
    this.#buckets = packed(rows.map(([bucket]) => bucket - first));
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
    const between = (sums: Ascending): number => numberAt(sums, to) - numberAt(sums, from);
    return { web: between(this.#web), api: between(this.#api), other: between(this.#other) };
  }

  /** How many counters there are of buckets before this one. */
  #before(bucket: number): number {
    const wanted = bucket - this.#first;
    let [low, high] = [0, this.#buckets.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numberAt(this.#buckets, middle) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Zero, and then the sum of the first number, of the first two, and so on. */
function addedUp(numbers: readonly number[]): Ascending {
  let sum = 0;
  const sums = numbers.map((number) => {
    sum += number;
    return sum;
  });
  return packed([0, ...sums]);
}

const uint32Max = 2 ** 32 - 1;

/** In half the memory wherever that is enough: very nearly always. */
function packed(numbers: readonly number[]): Ascending {
  return (numbers.at(-1) ?? 0) <= uint32Max ? Uint32Array.from(numbers) : Float64Array.from(numbers);
}

/** Of an index that there is. */
function numberAt(numbers: Ascending, index: number): number {
  return numbers[index] ?? Number.NaN;
}
