import type { Query } from '../../domain/queries/query.js';
import type { RecordResult } from '../../storage/ports/store.js';

/** Where queries go: a store or a running server. */
export type Sink = (queries: readonly Query[]) => Promise<RecordResult>;

/** Queries sent at a time. What waits is alive in memory, and what lives long costs several times its size. */
const batchSize = 1_000;
/** Batches under way at once: while one is written others are read, and share the next commit. */
const batchesUnderWayMax = 3;

/** Gathers queries into batches for a sink, with a bounded number under way, and adds up what became of them. */
export class Batcher {
  readonly #sink: Sink;
  #batch: Query[] = [];
  #underWay: Promise<void>[] = [];
  recorded = 0;
  duplicates = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  async add(query: Query): Promise<void> {
    this.#batch.push(query);
    if (this.#batch.length >= batchSize) await this.#send();
  }

  /** Resolves when everything added is recorded. */
  async flush(): Promise<void> {
    if (this.#batch.length > 0) await this.#send();
    await Promise.all(this.#underWay.splice(0));
  }

  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    if (this.#underWay.length >= batchesUnderWayMax) await this.#underWay.shift();
    const sent = this.#sink(batch).then(({ recorded, duplicates }) => {
      this.recorded += recorded;
      this.duplicates += duplicates;
    });
    // It is awaited later; until then a failure must not count as unhandled.
    sent.catch(() => {});
    this.#underWay.push(sent);
  }
}
