/** Upper ends of the buckets, in seconds: from an export on one file to a recording that waited for a full disk. */
export const BOUNDS_SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/** One line of a histogram, as the library of metrics takes it. */
export interface HistogramValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

const msInSecond = 1000;

/**
 * How long things took, in buckets. The library's own histogram makes a text of the labels with every observation, which
 * takes longer than a twentieth of an export; this is a few comparisons.
 */
export class Durations {
  /** Not added up; the last is for all that is longer. */
  readonly #counts = new Float64Array(BOUNDS_SECONDS.length + 1);
  #sumSeconds = 0;

  observe(ms: number): void {
    const seconds = ms / msInSecond;
    let at = 0;
    while (at < BOUNDS_SECONDS.length && seconds > (BOUNDS_SECONDS[at] ?? 0)) at++;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sumSeconds += seconds;
  }

  /** Lines of the histogram `name`: of each bucket, which has all shorter ones in it, the sum, and the count. */
  values(name: string, labels: Readonly<Record<string, string>> = {}): HistogramValue[] {
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
