/** Counts what arrives, by kind and by what became of it. */
import { type Delivery, type IngestionCounts, SOURCE_KINDS } from '../../domain/ingestion/source-counts.js';
import type { MetricLine } from './durations.js';

/** The labels of the counts. */
const OUTCOMES = {
  recorded: 'recorded',
  duplicates: 'duplicate',
  rejected: 'rejected',
  unmatched: 'unmatched',
  refused: 'refused',
} as const satisfies Partial<Record<keyof IngestionCounts, string>>;

const COUNTS = Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[];

export class ArrivalCounts {
  readonly #counts = new Map<string, number>();

  add({ kind, counts }: Delivery): void {
    for (const name of COUNTS) {
      const key = `${kind} ${name}`;
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + (counts[name] ?? 0));
    }
  }

  /** All of them from the start, so that a rate begins at 0. */
  toLines(): MetricLine[] {
    return SOURCE_KINDS.flatMap((signal) =>
      COUNTS.map((name) => ({
        labels: { signal, outcome: OUTCOMES[name] },
        value: this.#counts.get(`${signal} ${name}`) ?? 0,
      })),
    );
  }
}
