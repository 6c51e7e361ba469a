import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addCounts, withTotal } from '../../../../src/domain/counting/counts.js';
import type { DateRange } from '../../../../src/domain/counting/date-range.js';
import type { Query } from '../../../../src/domain/queries/query.js';
import { dayMs } from '../../../../src/domain/time/duration.js';
import type { Connection } from '../../../../src/storage/sqlite/connection.js';
import { CounterReader } from '../../../../src/storage/sqlite/counters/counter-reader.js';
import { ReadSnapshot } from '../../../../src/storage/sqlite/counters/read-snapshot.js';
import { RollupCache } from '../../../../src/storage/sqlite/counters/rollup-cache.js';
import { recount } from '../../../support/storage/ledger.js';
import { databaseInMemory, deleteProjectIn, recordInto } from '../../../support/storage/sqlite.js';
import { randomCases } from '../../../support/volume.js';

/** At and next to the edges of cached periods, over a few days and months on both sides of 1970. */
const times = fc
  .tuple(
    fc.constantFrom(0, 0, 0, -dayMs, dayMs, 2 * dayMs, 31 * dayMs, 32 * dayMs),
    fc.constantFrom(-1, 0, 1, 9_999, 10_000, 10_001, 15_000, 20_000),
  )
  .map(([day, offset]) => day + offset);

const projectIds = fc.constantFrom('busy', 'quiet');

type Step =
  | { readonly kind: 'record'; readonly projectId: string; readonly times: readonly number[] }
  | { readonly kind: 'makeAgain'; readonly projectId: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'ask'; readonly projectId: string; readonly range: DateRange; readonly asks: number };

const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('record' as const),
        projectId: projectIds,
        times: fc.array(times, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('makeAgain' as const), projectId: projectIds }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'other' as const }) },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        projectId: projectIds,
        range: fc.tuple(times, times).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) })),
        // Before anything is cached, days, their insides, and ten seconds of a busy day.
        asks: fc.constantFrom(1, 16, 40, 300),
      }),
    },
  ),
  { minLength: 5, maxLength: 40 },
);

/** More milliseconds of a day than are cached. */
const manyTimes = Array.from({ length: 4_001 }, (_, at) => 5_000 + 3 * at);

class Model {
  readonly #db: Connection = databaseInMemory();
  readonly #kept: RollupCache;
  readonly #afresh: CounterReader;
  readonly #recorded = new Map<string, Query[]>();
  #commits = 0;
  #queries = 0;

  constructor(rowsMax: number | undefined) {
    this.#kept = new RollupCache(this.#db, rowsMax);
    this.#afresh = new CounterReader(this.#db, new ReadSnapshot(this.#db));
    this.record('busy', manyTimes);
    this.record('quiet', [0]);
  }

  run(step: Step): void {
    if (step.kind === 'record') this.record(step.projectId, step.times);
    else if (step.kind === 'makeAgain') this.#makeAgain(step.projectId);
    else if (step.kind === 'other') this.#commits++;
    else this.#ask(step.projectId, step.range, step.asks);
  }

  record(projectId: string, occurredAts: readonly number[]): void {
    const queries = occurredAts.map((occurredAt) => ({
      id: `query ${++this.#queries}`,
      caller: ['web', 'api', 'slack'][this.#queries % 3] ?? '',
      occurredAt,
    }));
    recordInto(this.#db, projectId, queries);
    this.#recorded.set(projectId, [...(this.#recorded.get(projectId) ?? []), ...queries]);
    this.#commits++;
  }

  /** With as many queries in each of its days as before, of other callers. */
  #makeAgain(projectId: string): void {
    const before = this.#recorded.get(projectId) ?? [];
    deleteProjectIn(this.#db, projectId);
    this.#recorded.delete(projectId);
    this.#queries++;
    this.record(
      projectId,
      before.map(({ occurredAt }) => occurredAt),
    );
  }

  #ask(projectId: string, range: DateRange, asks: number): void {
    const known = Array.from({ length: asks }, () => this.#kept.lookUp(projectId, range, this.#commits));
    const expected = recount(this.#recorded.get(projectId) ?? [], range);
    for (const { sum, rest } of [known[0], known.at(-1)].filter((one) => one !== undefined)) {
      const read = rest.map((piece) => this.#afresh.countUncached(projectId, piece));
      expect(withTotal(addCounts([sum, ...read]))).toEqual(expected);
    }
  }
}

test.each([
  ['with space for everything', undefined],
  ['with little space', 4_300],
  ['with hardly any space', 140],
])('whatever is committed in between, counts equal a naive recount, %s', (_what, rowsMax) => {
  fc.assert(
    fc.property(steps, (some) => {
      const model = new Model(rowsMax);
      for (const step of some) model.run(step);
    }),
    { numRuns: randomCases(100) },
  );
});
