/** Recording into PostgreSQL: one call of one project at a time, shared by all requests that came meanwhile. */
import type { Query } from '../../domain/query.js';
import { Backlog, CommitQueue, type Outcome } from '../commit-queue.js';
import type { RecordResult } from '../store.js';
import { unavailable } from './errors.js';
import { encodeQueryId } from './query-id.js';

/** Queries of one project, distinct by id, by columns: arrays as PostgreSQL writes them. */
export interface RecordCall {
  readonly projectId: string;
  /** `bytea[]` of the bytes of `query-id.ts`. */
  readonly ids: string;
  /** `bigint[]`, milliseconds. */
  readonly times: string;
  /** `text[]`. */
  readonly callers: string;
}

/** Records, and gives the places (from 1) of those whose id was there already; null where there is no such project. */
export type RecordFunction = (call: RecordCall) => Promise<readonly number[] | null>;

interface Batch {
  readonly queries: readonly Query[];
  /** Aborted when nobody waits for it any more: then it is left out, for its sender was told to come back. */
  readonly signal: AbortSignal;
}

/** Beyond so many, queues that have nothing to do are forgotten. */
const queuesKept = 1000;

/**
 * One queue a project. Requests of one project share a call, because calls of one project would wait for each other
 * at its counters; calls of different projects run side by side, and never share a transaction.
 */
export class Recorder {
  readonly #record: RecordFunction;
  readonly #backlog = new Backlog();
  readonly #queues = new Map<string, CommitQueue<Batch, RecordResult>>();
  #closed = false;

  constructor(record: RecordFunction) {
    this.#record = record;
  }

  /** See `Store.record`. */
  record(projectId: string, batch: Batch): Promise<RecordResult> {
    return this.#queueOf(projectId).submit(batch);
  }

  /** Refuses what comes after, and resolves when all that was accepted has settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  #queueOf(projectId: string): CommitQueue<Batch, RecordResult> {
    if (this.#closed) throw unavailable('The store is closing.');
    const known = this.#queues.get(projectId);
    if (known !== undefined) return known;
    if (this.#queues.size >= queuesKept) this.#forgetIdle();
    const queue = new CommitQueue<Batch, RecordResult>({
      commit: (batches) => this.#commit(projectId, batches),
      weigh: ({ queries }) => Math.max(queries.length, 1),
      backlog: this.#backlog,
    });
    this.#queues.set(projectId, queue);
    return queue;
  }

  #forgetIdle(): void {
    for (const [projectId, queue] of this.#queues) if (queue.idle) this.#queues.delete(projectId);
  }

  async #commit(projectId: string, batches: readonly Batch[]): Promise<Outcome<RecordResult>[]> {
    const waiting = batches.filter(({ signal }) => !signal.aborted);
    const results = await this.#commitWaiting(projectId, waiting);
    return batches.map((batch) => {
      const result = results.get(batch);
      if (result !== undefined) return { ok: true, value: result };
      return waiting.includes(batch)
        ? { ok: false, code: 'not_found', message: `There is no project ${projectId}.` }
        : { ok: false, code: 'unavailable', message: 'It waited too long to be written.' };
    });
  }

  /** Nothing where there is no such project. */
  async #commitWaiting(projectId: string, batches: readonly Batch[]): Promise<Map<Batch, RecordResult>> {
    const results = new Map<Batch, RecordResult>();
    if (batches.length === 0) return results;
    /** The first of each id, and the batch that brought it: the others are duplicates of it. */
    const firsts = new Map<string, { readonly query: Query; readonly batch: Batch }>();
    for (const batch of batches) {
      for (const query of batch.queries) if (!firsts.has(query.id)) firsts.set(query.id, { query, batch });
    }
    const rows = [...firsts.values()];
    const duplicates = await this.#record(
      callOf(
        projectId,
        rows.map(({ query }) => query),
      ),
    );
    if (duplicates === null) return results;
    const recorded = new Map(batches.map((batch) => [batch, 0]));
    for (const { batch } of rows) recorded.set(batch, (recorded.get(batch) ?? 0) + 1);
    for (const place of duplicates) {
      const batch = rows[place - 1]?.batch;
      if (batch !== undefined) recorded.set(batch, (recorded.get(batch) ?? 0) - 1);
    }
    for (const [batch, count] of recorded) {
      results.set(batch, { recorded: count, duplicates: batch.queries.length - count });
    }
    return results;
  }
}

function callOf(projectId: string, queries: readonly Query[]): RecordCall {
  return {
    projectId,
    ids: arrayOf(queries, ({ id }) => `"\\\\x${encodeQueryId(id)}"`),
    times: arrayOf(queries, ({ occurredAt }) => String(occurredAt)),
    // In quotes, for a caller may be called null. There is nothing in a caller's name that would have to be escaped.
    callers: arrayOf(queries, ({ caller }) => `"${caller}"`),
  };
}

/** An array literal (postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
function arrayOf(queries: readonly Query[], element: (query: Query) => string): string {
  return `{${queries.map(element).join(',')}}`;
}
