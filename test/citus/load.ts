/** Two nodes that record into several projects and count them, each acknowledged query exactly once. */
import { scheduler } from 'node:timers/promises';
import { expect } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { CallerStatsError } from '../../src/domain/errors.js';
import type { Store } from '../../src/storage/ports/store.js';

const pauseMs = 10;
const retryMs = 100;
const progressQueries = 40;

export class Load {
  readonly #stores: readonly Store[];
  readonly #acknowledged: Map<string, number>;
  readonly #refused = new Map<string, number>();
  readonly #work: Promise<unknown>;
  #stopped = false;
  #isAbandoned = false;

  /** `acknowledged` has what each project contains already. */
  constructor(stores: readonly Store[], acknowledged: Map<string, number>) {
    this.#stores = stores;
    this.#acknowledged = acknowledged;
    this.#work = Promise.all(
      [...acknowledged.keys()].flatMap((id) => stores.map((store) => this.#run(store, id))),
    );
    // It is awaited later.
    this.#work.catch(() => {});
  }

  /** How many requests about a project have failed. */
  refused(id: string): number {
    return this.#refused.get(id) ?? 0;
  }

  /** Resolves when more queries of each of these projects have been acknowledged. */
  async progress(ids: Iterable<string> = this.#acknowledged.keys()): Promise<void> {
    const goals = Array.from(ids, (id) => [id, this.#of(id) + progressQueries] as const);
    await this.#until(() => goals.every(([id, goal]) => this.#of(id) >= goal));
  }

  /** Resolves when a request about each of these projects has failed. */
  async refusal(ids: readonly string[]): Promise<void> {
    const before = new Map(this.#refused);
    await this.#until(() => ids.every((id) => this.refused(id) > (before.get(id) ?? 0)));
  }

  /** Does `work` while nodes record. Afterwards every acknowledged query must be counted once. */
  static async during(
    stores: readonly Store[],
    acknowledged: Map<string, number>,
    work: (load: Load) => Promise<void>,
  ): Promise<void> {
    const load = new Load(stores, acknowledged);
    try {
      await load.progress();
      await work(load);
      await load.progress();
    } catch (error) {
      // What is refused may be so forever.
      load.#isAbandoned = true;
      await load.stop().catch(() => {});
      throw error;
    }
    await load.stop();
    await load.requireExact();
  }

  /** Resolves when nothing is sent any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work;
  }

  /** Expects every acknowledged query to be counted once, on each node, and every counter to be right. */
  async requireExact(): Promise<void> {
    for (const store of this.#stores)
      for (const [id, queries] of this.#acknowledged)
        expect((await store.counts.count(id, ALL_TIME)).total, id).toBe(queries);
    expect(await this.#stores[0]?.maintenance.verify()).toMatchObject({ differencesTotal: 0, damage: [] });
  }

  #of(id: string): number {
    return this.#acknowledged.get(id) ?? 0;
  }

  async #until(isSo: () => boolean): Promise<void> {
    // What is sent ends early only with an error, which is thrown.
    while (!isSo()) await Promise.race([this.#work, scheduler.wait(pauseMs)]);
  }

  /** Records one query, then several, and counts them, until the load ends. Repeats what failed. */
  async #run(store: Store, id: string): Promise<void> {
    for (let size = 1; !this.#stopped; size = size === 1 ? 20 : 1) {
      const queries = Array.from({ length: size }, () => ({
        id: crypto.randomUUID(),
        caller: 'web',
        occurredAt: Date.now(),
      }));
      const { recorded, duplicates } = await this.#repeat(id, () => store.counts.record(id, queries));
      expect(recorded + duplicates).toBe(size);
      this.#acknowledged.set(id, this.#of(id) + size);
      const least = this.#of(id);
      const { total } = await this.#repeat(id, () => store.counts.count(id, ALL_TIME));
      expect(total, id).toBeGreaterThanOrEqual(least);
      await scheduler.wait(pauseMs);
    }
  }

  async #repeat<T>(id: string, request: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await request();
      } catch (error) {
        const isRefused = error instanceof CallerStatsError && error.code === 'unavailable';
        if (this.#isAbandoned || !isRefused) throw error;
        this.#refused.set(id, this.refused(id) + 1);
        await scheduler.wait(retryMs);
      }
    }
  }
}
