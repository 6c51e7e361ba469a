import { BUCKET_WIDTHS_MS, bucketOf } from '../../domain/buckets.js';
import type { CallerType } from '../../domain/caller.js';

/** Where each type's number stands in a delta and in a row. */
export const TYPE_INDEX = { web: 0, api: 1, other: 2 } as const satisfies Record<CallerType, number>;

export type TypeIndex = (typeof TYPE_INDEX)[CallerType];

/** What one transaction adds to one bucket. */
interface Delta {
  /** By `TYPE_INDEX`. */
  readonly types: [web: number, api: number, other: number];
  /** Of type other, by the number of their caller. */
  callers: Map<number, number> | undefined;
}

/** Collects what newly recorded queries add to the counters, so that each counter is written once a transaction. */
export class CounterDeltas {
  readonly #projects = new Map<number, Map<number, Delta>[]>();

  add(project: number, timeMs: number, type: TypeIndex, caller: number): void {
    let levels = this.#projects.get(project);
    if (levels === undefined) {
      levels = BUCKET_WIDTHS_MS.map(() => new Map<number, Delta>());
      this.#projects.set(project, levels);
    }
    for (const [level, buckets] of levels.entries()) {
      const bucket = bucketOf(timeMs, level);
      let delta = buckets.get(bucket);
      if (delta === undefined) {
        delta = { types: [0, 0, 0], callers: undefined };
        buckets.set(bucket, delta);
      }
      delta.types[type]++;
      if (type === TYPE_INDEX.other) {
        delta.callers ??= new Map();
        delta.callers.set(caller, (delta.callers.get(caller) ?? 0) + 1);
      }
    }
  }

  /** Flat rows of (project, level, bucket, web, api, other), in the order of the table's key. */
  typeRows(): number[] {
    const rows: number[] = [];
    for (const [project, level, bucket, { types }] of this.#inOrder())
      rows.push(project, level, bucket, ...types);
    return rows;
  }

  /** Flat rows of (project, level, bucket, caller, queries), in the order of the table's key. */
  callerRows(): number[] {
    const rows: number[] = [];
    for (const [project, level, bucket, { callers = [] }] of this.#inOrder()) {
      for (const [caller, queries] of [...callers].sort(byNumber))
        rows.push(project, level, bucket, caller, queries);
    }
    return rows;
  }

  *#inOrder(): Generator<readonly [project: number, level: number, bucket: number, delta: Delta]> {
    for (const [project, levels] of [...this.#projects].sort(byNumber)) {
      for (const [level, buckets] of levels.entries()) {
        for (const [bucket, delta] of [...buckets].sort(byNumber)) yield [project, level, bucket, delta];
      }
    }
  }
}

function byNumber(a: readonly [number, unknown], b: readonly [number, unknown]): number {
  return a[0] - b[0];
}
