import { BUCKET_WIDTHS_MS, bucketOf } from '../../domain/buckets.js';

/** What one transaction adds to one bucket, by caller type: web, api, other. */
type Delta = [web: number, api: number, other: number];

/** Collects what newly recorded queries add to the counters, so that each counter is written once a transaction. */
export class CounterDeltas {
  readonly #projects = new Map<number, Map<number, Delta>[]>();

  /** `type` is the index of the caller's type: 0 web, 1 api, 2 other. */
  add(project: number, timeMs: number, type: 0 | 1 | 2): void {
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
