/** What a store knows of queries in telemetry, in memory, with the rules of the domain. */
import { type FoundFacts, type FoundState, planFound } from '../../src/domain/queries/found-queries.js';
import { planIdentities, type StoredKey } from '../../src/domain/queries/query-identity.js';

export class IdentityMemory {
  readonly #keys = new Map<string, StoredKey>();
  readonly #states = new Map<string, FoundState>();

  record(found: readonly FoundFacts[]): void {
    const keys = found.map((query) => query.keys);
    const plan = planIdentities(keys, this.#keys);
    for (const [name, key] of plan.changes) this.#keys.set(name, key);
    const { changes } = planFound(found, plan, this.#states, () => false);
    for (const [id, state] of changes) this.#states.set(id, state);
  }

  /** One for each query that counts. */
  callers(): string[] {
    return [...this.#states.values()].filter(({ countsAs }) => countsAs === null).map(({ caller }) => caller);
  }
}
