import type { CarriedQuery } from '../../domain/corrections/carried.js';
import type { RecordResult } from '../../storage/ports/store.js';

/** Where queries go: a store or a running server. */
export type Sink = (queries: readonly CarriedQuery[]) => Promise<RecordResult>;

/** Larger batches take more memory: objects that survive a collection cost several times their size. */
const batchQueriesDefault = 1_000;
/** While one batch is written, others are read and share the next commit. */
const concurrentQueriesMax = 3_000;

/** Sends queries to a sink in batches, a few small ones at once or one large one, and adds up the results. */
export class Batcher {
  readonly #sink: Sink;
  readonly #batchQueries: number;
  readonly #concurrentBatchesMax: number;
  #batch: CarriedQuery[] = [];
  #pending: Promise<void>[] = [];
  recorded = 0;
  duplicates = 0;

  /** `batchQueries` is the number of queries in each batch. */
  constructor(sink: Sink, batchQueries = batchQueriesDefault) {
    this.#sink = sink;
    this.#batchQueries = batchQueries;
    this.#concurrentBatchesMax = Math.max(1, Math.floor(concurrentQueriesMax / batchQueries));
  }

  /** If it returns a promise, wait for it before adding more. */
  add(query: CarriedQuery): Promise<void> | undefined {
    return this.#batch.push(query) < this.#batchQueries ? undefined : this.#send();
  }

  /** Resolves when all added queries are recorded. */
  async flush(): Promise<void> {
    if (this.#batch.length > 0) await this.#send();
    await Promise.all(this.#pending.splice(0));
  }

  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    if (this.#pending.length >= this.#concurrentBatchesMax) await this.#pending.shift();
    const sent = this.#sink(batch).then(({ recorded, duplicates }) => {
      this.recorded += recorded;
      this.duplicates += duplicates;
    });
    // Awaited later; until then, a failure must not count as an unhandled rejection.
    sent.catch(() => {});
    this.#pending.push(sent);
  }
}
