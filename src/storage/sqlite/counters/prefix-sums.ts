import { bucketWidthMs } from '../../../domain/counting/buckets.js';
import type { TypeCounts } from '../../../domain/counting/counts.js';

export type CounterRow = readonly [bucket: number, web: number, api: number, other: number];

/** Counts that are being added up. */
export type Sum = { -readonly [Type in keyof TypeCounts]: number };

/** Whole numbers from zero on. */
type Numbers = Uint32Array | Float64Array;

/** In a sum. */
const types = 3;

/** Counters of one level, added up, so that any number of adjacent ones is summed by two look-ups. */
export class PrefixSums {
  readonly widthMs: number;
  readonly #first: number;
  /** Those that have counters, from the first on. None where each of them has its place, which is found without a search. */
  readonly #buckets: Numbers | undefined;
  /** Of all counters before each place, and at the end of all; the three of a place beside each other, for one is read with the others. */
  readonly #sums: Numbers;
  readonly #places: number;

  /** All counters that there are of the level, or of a stretch that no range asked for leaves; in order. */
  constructor(level: number, rows: readonly CounterRow[]) {
    this.widthMs = bucketWidthMs(level);
    const first = rows[0]?.[0] ?? 0;
    const length = (rows.at(-1)?.[0] ?? first) - first + 1;
    // A place for each takes three numbers, and one for those that have counters four.
    const isDense = length * types <= rows.length * (types + 1);
    this.#first = first;
    this.#places = isDense ? length : rows.length;
    this.#buckets = isDense ? undefined : packed(Float64Array.from(rows, ([bucket]) => bucket - first));
    this.#sums = addedUp(rows, this.#places, isDense ? (bucket) => bucket - first : (_bucket, row) => row);
  }

  /** Adds what the counters of the buckets from the first to before the end add up to. */
  addTo(sum: Sum, first: number, end: number): void {
    const [from, to] = [types * this.#placesBefore(first), types * this.#placesBefore(end)];
    sum.web += this.#between(from, to);
    sum.api += this.#between(from + 1, to + 1);
    sum.other += this.#between(from + 2, to + 2);
  }

  /** Of all types. */
  queriesIn(bucket: number): number {
    const sum = { web: 0, api: 0, other: 0 };
    this.addTo(sum, bucket, bucket + 1);
    return sum.web + sum.api + sum.other;
  }

  #between(from: number, to: number): number {
    return numberAt(this.#sums, to) - numberAt(this.#sums, from);
  }

  /** How many places there are of buckets before this one. */
  #placesBefore(bucket: number): number {
    const wanted = bucket - this.#first;
    if (this.#buckets === undefined) return Math.min(Math.max(wanted, 0), this.#places);
    let [low, high] = [0, this.#places];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numberAt(this.#buckets, middle) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function addedUp(
  rows: readonly CounterRow[],
  places: number,
  placeOf: (bucket: number, row: number) => number,
): Numbers {
  const sums = new Float64Array(types * (places + 1));
  for (const [row, [bucket, web, api, other]] of rows.entries()) {
    sums.set([web, api, other], types * (placeOf(bucket, row) + 1));
  }
  for (let at = types; at < sums.length; at++) sums[at] = numberAt(sums, at) + numberAt(sums, at - types);
  return packed(sums);
}

const uint32Max = 2 ** 32 - 1;

/** In half the memory wherever that is enough: very nearly always. */
function packed(numbers: Float64Array): Numbers {
  return numbers.every((number) => number <= uint32Max) ? Uint32Array.from(numbers) : numbers;
}

/** Of an index that there is. */
function numberAt(numbers: Numbers, index: number): number {
  return numbers[index] ?? Number.NaN;
}
