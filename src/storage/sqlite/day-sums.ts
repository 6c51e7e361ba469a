/** Whole days of a project, added up in memory: any number of them is summed by two look-ups. */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import { BUCKET_WIDTHS_MS } from '../../domain/buckets.js';
import type { TypeCounts } from '../../domain/counts.js';
import type { Connection } from './connection.js';

export const DAY_MS = 86_400_000;

const dayLevel = BUCKET_WIDTHS_MS.indexOf(DAY_MS);

/** Reading all days costs as much as some counts: only where that many were asked for since the last commit. */
const asksMin = 16;

/** Eleven years in which every day has queries: a millisecond to read. Where there are more, they are not kept. */
const daysMax = 4_000;

/** Of all projects together: 32 megabytes. Then all are dropped. */
const keptDaysMax = 1_000_000;

interface Kept {
  asks: number;
  sums: DaySums | undefined;
}

/** What is kept of days, for as long as nobody has committed anything. */
export class KeptDays {
  readonly #read: StatementSyncInstance;
  readonly #projects = new Map<string, Kept>();
  #keptDays = 0;
  #seen: number | undefined;

  constructor(db: Connection) {
    this.#read = db.prepare(`
      SELECT bucket, web, api, other FROM type_counter
      WHERE project = (SELECT number FROM project WHERE id = ?) AND level = ${dayLevel} ORDER BY bucket LIMIT ?`);
    this.#read.setReturnArrays(true);
  }

  /** All days of the project as of this version, which the connection must be reading; undefined where they are not kept. */
  of(projectId: string, version: number): DaySums | undefined {
    if (version !== this.#seen || this.#keptDays > keptDaysMax) {
      this.#projects.clear();
      this.#keptDays = 0;
      this.#seen = version;
    }
    let kept = this.#projects.get(projectId);
    if (kept === undefined) {
      kept = { asks: 0, sums: undefined };
      this.#projects.set(projectId, kept);
      // A project that is asked for once costs something, too.
      this.#keptDays++;
    }
    kept.asks++;
    if (kept.asks === asksMin) kept.sums = this.#sumsOf(projectId);
    return kept.sums;
  }

  #sumsOf(projectId: string): DaySums | undefined {
    const rows = this.#read.all(projectId, daysMax + 1) as unknown as Row[];
    if (rows.length > daysMax) return undefined;
    this.#keptDays += rows.length;
    return new DaySums(rows);
  }
}

type Row = readonly [day: number, web: number, api: number, other: number];

export class DaySums {
  readonly #days: Float64Array;
  /** Of all days before the one of the same index, and at the end of all. */
  readonly #web: Float64Array;
  readonly #api: Float64Array;
  readonly #other: Float64Array;

  /** Days are numbered as buckets are, and come in order. */
  constructor(rows: readonly Row[]) {
    this.#days = new Float64Array(rows.length);
    this.#web = new Float64Array(rows.length + 1);
    this.#api = new Float64Array(rows.length + 1);
    this.#other = new Float64Array(rows.length + 1);
    for (const [at, [day, web, api, other]] of rows.entries()) {
      this.#days[at] = day;
      this.#web[at + 1] = numberAt(this.#web, at) + web;
      this.#api[at + 1] = numberAt(this.#api, at) + api;
      this.#other[at + 1] = numberAt(this.#other, at) + other;
    }
  }

  /** From the day `first` on, without the day `end`. */
  sum(first: number, end: number): TypeCounts {
    const [from, to] = [this.#daysBefore(first), this.#daysBefore(end)];
    const between = (sums: Float64Array): number => numberAt(sums, to) - numberAt(sums, from);
    return { web: between(this.#web), api: between(this.#api), other: between(this.#other) };
  }

  /** How many of the days are before this one. */
  #daysBefore(day: number): number {
    let [low, high] = [0, this.#days.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numberAt(this.#days, middle) < day) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Throws nothing, and is no number where there is none: which would be seen. */
function numberAt(numbers: Float64Array, index: number): number {
  return numbers[index] ?? Number.NaN;
}
