import { BUCKET_WIDTHS_MS, bucketAt, bucketWidthMs, ROW_LEVELS } from '../../../domain/counting/buckets.js';
import { mapTypes } from '../../../domain/counting/counts.js';
import { CALLER_TYPES, type CallerType } from '../../../domain/queries/caller.js';

/** The index of each type in a row. */
export const TYPE_INDEX = mapTypes((type) => CALLER_TYPES.indexOf(type));

/** The type of the caller with this number. */
export const typeOfNumber = (caller: number): CallerType =>
  CALLER_TYPES[Math.min(caller, TYPE_INDEX.other)] as CallerType;

/** The queries and imported counts that a transaction added to one project, or removed from it, as columns, which cost far less than objects. */
export interface Recorded {
  readonly times: number[];
  readonly types: number[];
  readonly callers: number[];
  /** The number of queries of imported counts and corrections, by their index. All other entries are one query. */
  queries: number[] | undefined;
}

/** The same in the order of time, each with the level from which on it is counted. */
export class Placed {
  readonly times: number[] = [];
  readonly types: number[] = [];
  readonly callers: number[] = [];
  readonly queries: number[] = [];
  readonly levels: number[] = [];

  add(level: number, timeMs: number, type: number, caller: number, queries: number): void {
    this.levels.push(level);
    this.times.push(timeMs);
    this.types.push(type);
    this.callers.push(caller);
    this.queries.push(queries);
  }
}

/** What a transaction adds to counters of one project and level. Both arrays are flat, and in the order of the table's key. */
export interface CounterRows {
  readonly project: number;
  readonly level: number;
  /** (bucket, and a number for each of `CALLER_TYPES`) */
  readonly types: number[];
  /** (bucket, caller, queries), for callers of type other only. */
  readonly callers: number[];
}

const typesLength = 1 + CALLER_TYPES.length;
const callersLength = 3;

/** Adds up new queries and imported counts, so that each counter is written once per transaction. */
export class CounterDeltas {
  readonly #projects = new Map<number, Recorded>();
  #removes = false;

  /** Whether counters may become zero. */
  get removes(): boolean {
    return this.#removes;
  }

  /** Adds a query or, with `queries`, so many of an imported count. Removes them if the number is negative. */
  add(project: number, timeMs: number, type: number, caller: number, queries?: number): void {
    let recorded = this.#projects.get(project);
    if (recorded === undefined) {
      recorded = { times: [], types: [], callers: [], queries: undefined };
      this.#projects.set(project, recorded);
    }
    recorded.times.push(timeMs);
    recorded.types.push(type);
    recorded.callers.push(caller);
    if (queries !== undefined) {
      if (queries < 0) this.#removes = true;
      recorded.queries ??= [];
      recorded.queries[recorded.times.length - 1] = queries;
    }
  }

  /**
   * `place` finds the levels. In the order of the tables' keys; one part at a time, because all rows of a large import would take much memory.
   */
  *rows(place: (project: number, recorded: Recorded) => Placed): Generator<CounterRows> {
    for (const [project, recorded] of [...this.#projects].sort(byNumber)) {
      const placed = place(project, sortByTime(recorded));
      for (const level of ROW_LEVELS) yield rowsOf(project, level - 1, placed);
      let rows = rowsOf(project, Math.max(...ROW_LEVELS), placed);
      yield rows;
      while (rows.level < BUCKET_WIDTHS_MS.length - 1) {
        rows = widen(rows);
        yield rows;
      }
    }
  }
}

/** Sorted by time, the queries of a bucket of any width are adjacent. */
function sortByTime(recorded: Recorded): Recorded {
  const { times, types, callers, queries } = recorded;
  const isInOrder = times.every((time, at) => at === 0 || (times[at - 1] ?? 0) <= time);
  if (isInOrder) return recorded;
  const order = [...times.keys()].sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
  const sorted = <Value>(column: readonly Value[]) => order.map((at) => column[at] as Value);
  return {
    times: sorted(times),
    types: sorted(types),
    callers: sorted(callers),
    queries: queries && sorted(queries),
  };
}

/** The rows of a level to which not all queries belong. */
function rowsOf(
  project: number,
  level: number,
  { times, types, callers, queries, levels }: Placed,
): CounterRows {
  const rows = new RowSums(project, level);
  for (let at = 0; at < times.length; at++) {
    if ((levels[at] as number) > level) continue;
    const type = types[at] as number;
    const added = queries[at] as number;
    rows.begin(bucketAt(times[at] as number, level));
    rows.add(type, added);
    if (type === TYPE_INDEX.other) rows.addCaller(callers[at] as number, added);
  }
  return rows.end();
}

/** The rows of the next wider level: each of its buckets is several adjacent ones. */
function widen({ project, level, types, callers }: CounterRows): CounterRows {
  const ratio = bucketWidthMs(level + 1) / bucketWidthMs(level);
  const rows = new RowSums(project, level + 1);
  let caller = 0;
  for (let at = 0; at < types.length; at += typesLength) {
    const bucket = types[at] as number;
    rows.begin(Math.floor(bucket / ratio));
    for (let type = 0; type < CALLER_TYPES.length; type++) rows.add(type, types[at + 1 + type] as number);
    for (; callers[caller] === bucket; caller += callersLength)
      rows.addCaller(callers[caller + 1] as number, callers[caller + 2] as number);
  }
  return rows.end();
}

/** Sums up the rows of a level, bucket by bucket. */
class RowSums {
  readonly #rows: CounterRows;
  readonly #callers = new Map<number, number>();

  constructor(project: number, level: number) {
    this.#rows = { project, level, types: [], callers: [] };
  }

  /** What is added then belongs to this bucket, which is not before the last one. */
  begin(bucket: number): void {
    const { types } = this.#rows;
    if (types[types.length - typesLength] === bucket) return;
    this.#endBucket();
    types.push(bucket, 0, 0, 0);
  }

  add(type: number, queries: number): void {
    const { types } = this.#rows;
    const at = types.length - CALLER_TYPES.length + type;
    types[at] = (types[at] as number) + queries;
  }

  addCaller(caller: number, queries: number): void {
    this.#callers.set(caller, (this.#callers.get(caller) ?? 0) + queries);
  }

  end(): CounterRows {
    this.#endBucket();
    return this.#rows;
  }

  #endBucket(): void {
    if (this.#callers.size === 0) return;
    const { types, callers } = this.#rows;
    const bucket = types[types.length - typesLength] as number;
    // Mostly there is at most one.
    const sorted = this.#callers.size > 1 ? [...this.#callers].sort(byNumber) : this.#callers;
    for (const [caller, sum] of sorted) callers.push(bucket, caller, sum);
    this.#callers.clear();
  }
}

function byNumber(a: readonly [number, unknown], b: readonly [number, unknown]): number {
  return a[0] - b[0];
}
