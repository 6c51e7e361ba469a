/** Counts what arrives, by kind and by what became of it. */
import { REFUSAL_REASONS, type RefusalReason } from '../../domain/ingestion/refusals.js';
import {
  type Delivery,
  type IngestionCounts,
  SOURCE_KINDS,
  type SourceKind,
} from '../../domain/ingestion/source-counts.js';
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

type Counts = Record<keyof typeof OUTCOMES, number>;

export class ArrivalCounts {
  readonly #counts = Object.fromEntries(
    SOURCE_KINDS.map((kind) => [kind, Object.fromEntries(COUNTS.map((name) => [name, 0]))]),
  ) as Readonly<Record<SourceKind, Counts>>;

  readonly #refused = new Map<SourceKind, Map<RefusalReason, number>>(
    SOURCE_KINDS.map((kind) => [kind, new Map(REFUSAL_REASONS.map((reason) => [reason, 0]))]),
  );

  add({ kind, counts, refusals = [] }: Delivery): void {
    const sums = this.#counts[kind];
    for (const name of COUNTS) sums[name] += counts[name] ?? 0;
    const refused = this.#refused.get(kind);
    for (const { reason, requests } of refusals) refused?.set(reason, (refused.get(reason) ?? 0) + requests);
  }

  /** Refused requests by reason; one with several counts for each. */
  toRefusalLines(): MetricLine[] {
    return [...this.#refused].flatMap(([signal, reasons]) =>
      [...reasons].map(([reason, value]) => ({ labels: { signal, reason }, value })),
    );
  }

  /** All of them from the start, so that a rate begins at 0. */
  toLines(): MetricLine[] {
    return SOURCE_KINDS.flatMap((signal) =>
      COUNTS.map((name) => ({
        labels: { signal, outcome: OUTCOMES[name] },
        value: this.#counts[signal][name],
      })),
    );
  }
}
