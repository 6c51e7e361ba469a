import { BUCKET_WIDTHS_MS, bucketOf } from '../../domain/buckets.js';
import type { CallerType } from '../../domain/caller.js';

/** Where each type's number stands in a delta and in a row. */
export const TYPE_INDEX = { web: 0, api: 1, other: 2 } as const satisfies Record<CallerType, number>;

export type TypeIndex = (typeof TYPE_INDEX)[CallerType];

/** What one transaction adds to one bucket, by `TYPE_INDEX`. */
type Delta = [web: number, api: number, other: number];

/** Collects what newly recorded queries add to the counters, so that each counter is written once a transaction. */
export class CounterDeltas {
  readonly #projects = new Map<number, Map<number, Delta>[]>();

  add(project: number, timeMs: number, type: TypeIndex): void {
    let levels = this.#projects.get(project);
    if (levels === undefined) {
      levels = BUCKET_WIDTHS_MS.map(() => new Map<number, Delta>());
      this.#projects.set(project, levels);
    }
    for (const [level, buckets] of levels.entries()) {
      const bucket = bucketOf(timeMs, level);
      const delta = buckets.get(bucket);
      if (delta !== undefined) {
        delta[type]++;
      } else {
        const first: Delta = [0, 0, 0];
        first[type] = 1;
        buckets.set(bucket, first);
      }
    }
  }

  /** Flat rows of (project, level, bucket, web, api, other), in the order of the table's key. */
  rows(): number[] {
    const rows: number[] = [];
    for (const [project, levels] of [...this.#projects].sort(byNumber)) {
      for (const [level, buckets] of levels.entries()) {
        for (const [bucket, delta] of [...buckets].sort(byNumber))
          rows.push(project, level, bucket, ...delta);
      }
    }
    return rows;
  }
}

function byNumber(a: readonly [number, unknown], b: readonly [number, unknown]): number {
  return a[0] - b[0];
}
