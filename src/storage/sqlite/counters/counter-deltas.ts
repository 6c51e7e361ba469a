import { BUCKET_WIDTHS_MS, bucketAt, bucketWidthMs } from '../../../domain/counting/buckets.js';
import { mapTypes } from '../../../domain/counting/counts.js';
import { CALLER_TYPES } from '../../../domain/queries/caller.js';

/** The index of each type in a row. */
export const TYPE_INDEX = mapTypes((type) => CALLER_TYPES.indexOf(type));

/** The queries and imported counts that a transaction added to one project, or removed from it, as columns, which cost far less than objects. */
interface Recorded {
  readonly times: number[];
  readonly types: number[];
  readonly callers: number[];
  /** The number of queries of imported counts and corrections, by their index. All other entries are one query. */
  queries: number[] | undefined;
}

/** What a transaction adds to counters of one project and level. Both arrays are flat, and in the order of the table's key. */
export interface CounterRows {
  /** (project, level, bucket, and a number for each of `CALLER_TYPES`) */
  readonly types: number[];
  /** (project, level, bucket, caller, queries), for callers of type other only. */
  readonly callers: number[];
}

const ZEROS: readonly number[] = CALLER_TYPES.map(() => 0);

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

  /** In the order of the tables' keys. One part at a time, because all rows of a large import would take much memory. */
  *rows(): Generator<CounterRows> {
    for (const [project, recorded] of [...this.#projects].sort(byNumber)) {
      const sorted = sortByTime(recorded);
      for (const level of BUCKET_WIDTHS_MS.keys()) yield rowsOfLevel(project, level, sorted);
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

function rowsOfLevel(project: number, level: number, sorted: Recorded): CounterRows {
  const rows: CounterRows = { types: [], callers: [] };
  const { times, types, callers, queries } = sorted;
  const others = new Map<number, number>();
  for (let at = 0; at < times.length; ) {
    const bucket = bucketAt(times[at] ?? 0, level);
    const endMs = (bucket + 1) * bucketWidthMs(level);
    const sums = [...ZEROS];
    for (; (times[at] ?? endMs) < endMs; at++) {
      const type = types[at] as number;
      const caller = callers[at] as number;
      const added = queries?.[at] ?? 1;
      sums[type] = (sums[type] ?? 0) + added;
      if (type === TYPE_INDEX.other) others.set(caller, (others.get(caller) ?? 0) + added);
    }
    rows.types.push(project, level, bucket, ...sums);
    // Mostly there is at most one.
    const sortedOthers = others.size > 1 ? [...others].sort(byNumber) : others;
    for (const [caller, sum] of sortedOthers) rows.callers.push(project, level, bucket, caller, sum);
    others.clear();
  }
  return rows;
}

function byNumber(a: readonly [number, unknown], b: readonly [number, unknown]): number {
  return a[0] - b[0];
}
