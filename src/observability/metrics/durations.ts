import { secondMs } from '../../domain/time/duration.js';

/** Upper bounds of the buckets: from an export on SQLite to a recording that waits for a full disk. */
export const BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5] as const;

/** One line of a metric. Only the lines of a histogram have names of their own. */
export interface MetricLine {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A histogram of durations. The library's own takes 5% of the time of an export, because it joins labels each time. */
export class Durations {
  /** Per bucket, not cumulative. The last is for durations above all bounds. */
  readonly #counts = new Float64Array(BOUNDS_SECONDS.length + 1);
  #sumSeconds = 0;

  observe(ms: number): void {
    const seconds = ms / secondMs;
    let at = 0;
    while (at < BOUNDS_SECONDS.length && seconds > (BOUNDS_SECONDS[at] ?? 0)) at++;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sumSeconds += seconds;
  }

  /** The lines of the histogram: cumulative buckets, the sum and the count. */
  toLines(name: string, labels: MetricLine['labels'] = {}): MetricLine[] {
    const ends = [...BOUNDS_SECONDS, '+Inf'];
    let count = 0;
    const buckets = ends.map((le, at) => {
      count += this.#counts[at] ?? 0;
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sumSeconds },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
