import { bucketWidthMs } from '../../../domain/counting/buckets.js';
import { zeroCounts } from '../../../domain/counting/counts.js';
import { CALLER_TYPES, type CallerType } from '../../../domain/queries/caller.js';

export type CounterRow = readonly [bucket: number, web: number, api: number, other: number];

/** Non-negative integers. */
type Numbers = Uint32Array | Float64Array;

const types = CALLER_TYPES.length;

/** Prefix sums of the counters of one level, so that two look-ups sum adjacent counters, no matter how many. */
export class PrefixSums {
  readonly widthMs: number;
  readonly #first: number;
  /** The non-empty buckets, relative to the first. Undefined if the sums are dense: then no search is needed. */
  readonly #buckets: Numbers | undefined;
  /** The sums of all counters before each index, and of all. The three types are adjacent, because they are read together. */
  readonly #sums: Numbers;
  readonly #length: number;

  /** `rows` has all counters of the level, or of the period that is asked for, in order. */
  constructor(level: number, rows: readonly CounterRow[]) {
    this.widthMs = bucketWidthMs(level);
    const first = rows[0]?.[0] ?? 0;
    const span = (rows.at(-1)?.[0] ?? first) - first + 1;
    // A dense entry takes three numbers, a sparse one four.
    const isDense = span * types <= rows.length * (types + 1);
    this.#first = first;
    this.#length = isDense ? span : rows.length;
    this.#buckets = isDense ? undefined : pack(Float64Array.from(rows, ([bucket]) => bucket - first));
    this.#sums = sumUp(rows, this.#length, isDense ? (bucket) => bucket - first : (_bucket, row) => row);
  }

  /** Adds the counters of the buckets from `first` (included) to `end` (excluded). */
  addTo(sum: Record<CallerType, number>, first: number, end: number): void {
    const [from, to] = [types * this.#indexOf(first), types * this.#indexOf(end)];
    sum.web += this.#between(from, to);
    sum.api += this.#between(from + 1, to + 1);
    sum.other += this.#between(from + 2, to + 2);
  }

  /** Of all types. */
  queriesIn(bucket: number): number {
    const sum = zeroCounts();
    this.addTo(sum, bucket, bucket + 1);
    return sum.web + sum.api + sum.other;
  }

  #between(from: number, to: number): number {
    return numberAt(this.#sums, to) - numberAt(this.#sums, from);
  }

  /** The number of entries before this bucket. */
  #indexOf(bucket: number): number {
    const wanted = bucket - this.#first;
    if (this.#buckets === undefined) return Math.min(Math.max(wanted, 0), this.#length);
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numberAt(this.#buckets, middle) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function sumUp(
  rows: readonly CounterRow[],
  length: number,
  indexOf: (bucket: number, row: number) => number,
): Numbers {
  const sums = new Float64Array(types * (length + 1));
  for (const [row, [bucket, web, api, other]] of rows.entries()) {
    sums.set([web, api, other], types * (indexOf(bucket, row) + 1));
  }
  for (let at = types; at < sums.length; at++) sums[at] = numberAt(sums, at) + numberAt(sums, at - types);
  return pack(sums);
}

/** Halves the memory if all numbers fit into 32 bits. */
function pack(numbers: Float64Array): Numbers {
  return numbers.every((number) => number < 2 ** 32) ? Uint32Array.from(numbers) : numbers;
}

function numberAt(numbers: Numbers, index: number): number {
  const number = numbers[index];
  if (number === undefined) throw new Error(`Invariant violated: there is no sum ${index}.`);
  return number;
}
