/** What was sent, promised and counted, and what of it must be true. It knows only what clients and senders can see. */
import type { World } from './world/world.js';

export class Ledger {
  readonly #world: World;
  /** Every id that was ever passed to `record`. */
  readonly #sent = new Set<string>();
  /** Ids that must be counted in the end, and why. */
  readonly #promised = new Map<string, Set<string>>();
  /** What is on the disk of the database. */
  readonly #counted = new Set<string>();
  /** The sum of the counters. */
  #counters = 0;

  constructor(world: World) {
    this.#world = world;
  }

  noteSent(id: string): void {
    this.#sent.add(id);
  }

  promise(id: string, why: string): void {
    const known = this.#promised.get(id);
    if (known === undefined) this.#promised.set(id, new Set([why]));
    else known.add(why);
  }

  /** The promise ends: the client was told that the query is dropped, or a power failure took what was not synced. */
  release(id: string, why: string): void {
    this.#promised.get(id)?.delete(why);
  }

  get promises(): number {
    return this.#promised.size;
  }

  get counted(): number {
    return this.#counted.size;
  }

  isCounted(id: string): boolean {
    return this.#counted.has(id);
  }

  /** A transaction is on disk: new rows, and what it adds to the counters. */
  commit(ids: readonly string[], added: number): void {
    for (const id of ids) {
      if (!this.#sent.has(id)) this.#world.fail(`${id} is counted and was never sent`);
      if (this.#counted.has(id)) this.#world.fail(`${id} is counted twice`);
      this.#counted.add(id);
    }
    this.#counters += added;
    if (this.#counters !== this.#counted.size)
      this.#world.fail(`${this.#counted.size} queries, but the counters say ${this.#counters}`);
  }

  /** Somebody was told that these queries are recorded. */
  acknowledge(ids: Iterable<string>, by: string): void {
    for (const id of ids) {
      if (!this.#counted.has(id)) this.#world.fail(`${by} acknowledges ${id}, which is not on disk`);
      this.promise(id, by);
    }
  }

  /** In the end, nothing is missing. */
  requireAll(): void {
    for (const [id, reasons] of this.#promised) {
      const [why] = reasons;
      if (why !== undefined && !this.#counted.has(id)) this.#world.fail(`${id} is lost: ${why} had it`);
    }
  }
}
