/** Group commit, shared by the stores: what waits for one commit shares the next. */
import { CallerStatsError, type ErrorCode } from '../domain/errors.js';
import { commitQueriesMax, pendingOperationsMax, pendingQueriesMax } from '../domain/limits.js';
import type { CommitObserver } from './ports/store-stats.js';

/** One operation's end. A failed one changed nothing and did not hinder the others of its group. */
export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: readonly string[];
    };

/** What waits to be written, over all queues of a store. Bounded, so that a slow disk costs answers and not memory. */
export class Backlog {
  #operations = 0;
  #queries = 0;

  get pending(): { readonly pendingOperations: number; readonly pendingQueries: number } {
    return { pendingOperations: this.#operations, pendingQueries: this.#queries };
  }

  /** Makes room for one more operation of so many queries; false where too much is waiting already. */
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
  /** Queries it writes; 1 for what writes something else. */
  readonly weight: number;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

export interface CommitQueueOptions<Operation, Value> {
  /** Makes a group of operations durable and gives an outcome for each, in order. */
  readonly commit: (operations: readonly Operation[]) => Promise<readonly Outcome<Value>[]>;
  /** Queries that an operation writes; 1 for what writes something else. */
  readonly weigh: (operation: Operation) => number;
  /** Shared by queues that are bounded together. */
  readonly backlog?: Backlog;
  /** Nobody unless given. */
  readonly observer?: CommitObserver | undefined;
}

/**
 * Group commit: whatever arrives while one transaction is being made durable shares the next. A lone request is
 * committed at once; under load, one wait for the disk serves many.
 */
export class CommitQueue<Operation, Value> {
  readonly #commit: CommitQueueOptions<Operation, Value>['commit'];
  readonly #weigh: (operation: Operation) => number;
  readonly #backlog: Backlog;
  readonly #observer: CommitObserver | undefined;
  #waiting: Pending<Operation, Value>[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;

  constructor({ commit, weigh, backlog = new Backlog(), observer }: CommitQueueOptions<Operation, Value>) {
    this.#commit = commit;
    this.#weigh = weigh;
    this.#backlog = backlog;
    this.#observer = observer;
  }

  /** Whether nothing waits and nothing is being committed. */
  get idle(): boolean {
    return this.#draining === undefined;
  }

  /** Resolves with the operation's value once it is durable. Rejects at once where too much is waiting. */
  submit(operation: Operation): Promise<Value> {
    const weight = this.#weigh(operation);
    if (this.#closed) return Promise.reject(new CallerStatsError('unavailable', 'The store is closing.'));
    if (!this.#backlog.tryAdd(weight)) {
      return Promise.reject(new CallerStatsError('unavailable', 'Too much is waiting to be written.'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, weight, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Refuses what comes after, and resolves when all that was accepted has settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) await this.#commitNext();
    this.#draining = undefined;
  }

  async #commitNext(): Promise<void> {
    const group = this.#takeGroup();
    const startMs = this.#observer?.now() ?? 0;
    try {
      const outcomes = await this.#commit(group.map(({ operation }) => operation));
      for (const [index, pending] of group.entries()) settle(pending, outcomes[index]);
    } catch (error) {
      for (const pending of group) pending.reject(error);
    } finally {
      this.#observer?.committed(this.#observer.now() - startMs);
    }
  }

  /** As many of the oldest as fit one commit, and at least one. */
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

function settle<Value>(
  { resolve, reject }: Pending<unknown, Value>,
  outcome: Outcome<Value> | undefined,
): void {
  if (outcome === undefined) reject(new Error('the writer gave fewer outcomes than it was given operations'));
  else if (outcome.ok) resolve(outcome.value);
  else reject(new CallerStatsError(outcome.code, outcome.message, { details: outcome.details ?? [] }));
}
