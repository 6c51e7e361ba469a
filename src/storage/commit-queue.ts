/** Group commit, shared by the stores: operations that wait while a group is committed form the next group. */
import { CallerStatsError } from '../domain/errors.js';
import { commitQueriesMax, pendingOperationsMax, pendingQueriesMax } from '../domain/limits.js';
import { nextLoopTurn } from '../shared/fair-share.js';
import type { RecordResult } from './ports/counts.js';
import type { CommitObserver } from './ports/store-stats.js';

/** The outcome of one operation. One that failed changed nothing, and did not affect the others of its group. */
export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | ({ readonly ok: false } & Pick<CallerStatsError, 'code' | 'message'> &
      Partial<Pick<CallerStatsError, 'details'>>);

/** The outcome of an operation that threw `error`: a plain object, which can be sent between threads. */
export function refused({ code, message, details }: CallerStatsError): Outcome<never> {
  return { ok: false, code, message, details };
}

/** Counts what waits in all queues of a store. Bounded, so that a slow disk causes refusals and does not fill memory. */
export class Backlog {
  #operations = 0;
  #queries = 0;

  get pending(): { readonly pendingOperations: number; readonly pendingQueries: number } {
    return { pendingOperations: this.#operations, pendingQueries: this.#queries };
  }

  /** Adds an operation of so many queries. False if too much is waiting already. */
  tryAdd(queries: number): boolean {
    if (this.#operations >= pendingOperationsMax || this.#queries + queries > pendingQueriesMax) return false;
    this.#operations++;
    this.#queries += queries;
    return true;
  }

  remove(operations: number, queries: number): void {
    this.#operations -= operations;
    this.#queries -= queries;
  }
}

interface Pending<Operation, Value> {
  readonly operation: Operation;
  readonly weight: number;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

export interface CommitQueueOptions<Operation, Value> {
  /** Makes a group of operations durable, and returns an outcome for each, in order. */
  readonly commit: (operations: readonly Operation[]) => Promise<readonly Outcome<Value>[]>;
  /** Number of queries that an operation records; 1 for other operations. */
  readonly weigh: (operation: Operation) => number;
  /** Shared by queues that are bounded together. */
  readonly backlog?: Backlog;
  readonly observer?: CommitObserver | undefined;
}

/**
 * Operations that arrive in one turn of the event loop are committed together, and under load all that arrive during a commit: many
 * share one wait for the disk.
 */
export class CommitQueue<Operation, Value> {
  readonly #options: CommitQueueOptions<Operation, Value>;
  readonly #backlog: Backlog;
  #waiting: Pending<Operation, Value>[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;

  constructor(options: CommitQueueOptions<Operation, Value>) {
    this.#options = options;
    this.#backlog = options.backlog ?? new Backlog();
  }

  /** Whether no operation is waiting or being committed. */
  get idle(): boolean {
    return this.#draining === undefined;
  }

  /** Resolves with the operation's value once it is durable. Rejects at once if too much is waiting. */
  submit(operation: Operation): Promise<Value> {
    const weight = this.#options.weigh(operation);
    if (this.#closed) return Promise.reject(new CallerStatsError('unavailable', 'The store is closing.'));
    if (!this.#backlog.tryAdd(weight)) {
      return Promise.reject(new CallerStatsError('busy', 'Too much is waiting to be written; try again.'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, weight, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Rejects further operations, and resolves when all accepted ones have settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    // Without this, the first of a turn would be committed alone: on a fast disk every other commit was of one operation.
    await nextLoopTurn();
    while (this.#waiting.length > 0) await this.#commitNext();
    this.#draining = undefined;
  }

  async #commitNext(): Promise<void> {
    const { commit, observer } = this.#options;
    const group = this.#takeGroup();
    const startMs = observer?.now() ?? 0;
    let failure: unknown;
    let hasWritten = false;
    try {
      const outcomes = await commit(group.map(({ operation }) => operation));
      hasWritten = outcomes.some(writes);
      for (const [index, pending] of group.entries()) settle(pending, outcomes[index]);
    } catch (error) {
      failure = error;
      for (const pending of group) pending.reject(error);
    } finally {
      observer?.committed(observer.now() - startMs, { error: failure, hasWritten });
    }
  }

  /** Takes as many of the oldest operations as fit into one commit, and at least one. */
  #takeGroup(): Pending<Operation, Value>[] {
    let queries = 0;
    let size = 0;
    for (const { weight } of this.#waiting) {
      if (size > 0 && queries + weight > commitQueriesMax) break;
      queries += weight;
      size++;
    }
    const group = this.#waiting.slice(0, size);
    this.#waiting = this.#waiting.slice(size);
    this.#backlog.remove(size, queries);
    return group;
  }
}

/** Whether an operation changed something, unlike a recording of duplicates. */
function writes(outcome: Outcome<unknown>): boolean {
  if (!outcome.ok || outcome.value === 'outdated') return false;
  return (outcome.value as Partial<RecordResult> | null | undefined)?.recorded !== 0;
}

function settle<Value>(
  { resolve, reject }: Pending<unknown, Value>,
  outcome: Outcome<Value> | undefined,
): void {
  if (outcome === undefined) reject(new Error('the writer gave fewer outcomes than it was given operations'));
  else if (outcome.ok) resolve(outcome.value);
  else reject(new CallerStatsError(outcome.code, outcome.message, { details: outcome.details ?? [] }));
}
