import type { Query } from '../../domain/queries/query.js';
import type { RecordResult } from '../../storage/ports/store.js';

/** Where queries go: a store or a running server. */
export type Sink = (queries: readonly Query[]) => Promise<RecordResult>;

/** Larger batches take more memory: objects that survive a collection cost several times their size. */
const batchSize = 1_000;
/** While one batch is written, others are read and share the next commit. */
const concurrentBatchesMax = 3;

/** Sends queries to a sink in batches, a few at once, and adds up the results. */
export class Batcher {
  readonly #sink: Sink;
  #batch: Query[] = [];
  #pending: Promise<void>[] = [];
  recorded = 0;
  duplicates = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  async add(query: Query): Promise<void> {
    this.#batch.push(query);
    if (this.#batch.length >= batchSize) await this.#send();
  }

  /** Resolves when all added queries are recorded. */
  async flush(): Promise<void> {
    if (this.#batch.length > 0) await this.#send();
    await Promise.all(this.#pending.splice(0));
  }

  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    if (this.#pending.length >= concurrentBatchesMax) await this.#pending.shift();
    const sent = this.#sink(batch).then(({ recorded, duplicates }) => {
      this.recorded += recorded;
      this.duplicates += duplicates;
    });
    // Awaited later; until then, a failure must not count as an unhandled rejection.
    sent.catch(() => {});
    this.#pending.push(sent);
  }
}
