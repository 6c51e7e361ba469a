/** Property of retention: each query counts once, even if it is repeated while rows are removed. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addCounts, type Counts, withTotal, zeroCounts } from '../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import type { ImportedCount } from '../../src/domain/counting/imported-count.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import type { Query } from '../../src/domain/queries/query.js';
import { dayMs } from '../../src/domain/time/duration.js';
import type { Store } from '../../src/storage/ports/store.js';
import { by, type PlaceFactory, placeFactories, projectOf, purgeAll } from '../support/storage/store.js';
import { lawParameters, recount } from './events.js';

const org = DEFAULT_ORGANIZATION_ID;
/** In days since 1970: near an edge of the widest buckets, and before 1970. */
const startDays = [20_480, 20_477, -1];
const daysMax = 8;
const idsMax = 24;

const queries = fc.array(
  fc.record({
    day: fc.nat(daysMax - 1),
    ms: fc.constantFrom(0, 1, dayMs - 1, 40_000_000),
    caller: fc.constantFrom('web', 'api', 'slack', 'bot'),
  }),
  { minLength: 1, maxLength: idsMax },
);

/** Concurrent actions: recording through either connection, imports of many queries, and steps of retention. */
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ record: fc.array(fc.nat(idsMax - 1), { minLength: 1, maxLength: 8 }) }),
  },
  { weight: 2, arbitrary: fc.record({ limit: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ retentionDays: fc.constantFrom(1, 2, 3, null) }) },
  {
    weight: 1,
    arbitrary: fc.record({ busyDay: fc.nat(daysMax - 1), count: fc.constantFrom(1000, 10_000) }),
  },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Steps in sequence, each some days after the one before. */
const scenario = fc.record({
  queries,
  startDay: fc.constantFrom(...startDays),
  steps: fc.array(
    fc.record({
      daysLater: fc.constantFrom(0, 0, 1, 2),
      actions: fc.array(fc.tuple(fc.nat(1), action), { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 3, maxLength: 12 },
  ),
});

/** What the store acknowledged. */
class Outcome {
  readonly recorded = new Map<string, Query>();
  /** By source. PostgreSQL writes less for queries in buckets without many others. */
  readonly imported = new Map<string, ImportedCount>();
  /** The number of queries that the store called new. */
  recordedCount = 0;
}

async function record(store: Store, project: string, batch: Query[], outcome: Outcome): Promise<void> {
  try {
    const result = await store.counts.record(project, batch);
    outcome.recordedCount += result.recorded;
    for (const query of batch) outcome.recorded.set(query.id, query);
  } catch (error) {
    // Nothing of a refused batch is recorded.
    expect(error).toMatchObject({ code: 'invalid' });
  }
}

async function makeBusy(store: Store, project: string, start: number, count: number, outcome: Outcome) {
  const one = { source: `${start}-${count}`, caller: 'slack', start, end: start + 1, count };
  await store.counts.importCounts(project, [one]);
  outcome.imported.set(one.source, one);
}

interface Run {
  readonly store: Store;
  readonly project: string;
  readonly known: readonly Query[];
  readonly startDay: number;
  readonly at: number;
  readonly outcome: Outcome;
}

function perform(what: Action, { store, project, known, startDay, at, outcome }: Run): Promise<unknown> {
  if ('limit' in what) return store.maintenance.applyRetention(at, what.limit);
  if ('retentionDays' in what) return store.directory.changeProject(org, project, what, by);
  if ('busyDay' in what)
    return makeBusy(store, project, (startDay + what.busyDay) * dayMs, what.count, outcome);
  const batch = what.record.map((number) => known[number % known.length]);
  return record(
    store,
    project,
    batch.filter((one) => one !== undefined),
    outcome,
  );
}

/** The counts of everything that was acknowledged. */
function countedIn({ recorded, imported }: Outcome, range: DateRange): Counts {
  const within = [...imported.values()].filter(({ start }) => start >= range.from && start < range.to);
  const other = within.reduce((sum, { count }) => sum + count, 0);
  return withTotal(addCounts([recount(recorded.values(), range), { ...zeroCounts(), other }]));
}

async function openTwo(factory: PlaceFactory): Promise<readonly [Store, Store]> {
  const { open } = await factory();
  return [await open(), await open()];
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const law = lawParameters(kind);
  // Fewer runs, because each one waits for the disk many times.
  const parameters = { ...law, numRuns: Math.ceil(law.numRuns / 5) };

  test('any interleaving of recording, repeats and retention counts each query once', async () => {
    const handles = await openTwo(factory);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async ({ queries: drawn, startDay, steps }) => {
        const project = `run-${runs++}`;
        const known: Query[] = drawn.map(({ day, ms, caller }, number) => ({
          id: `${(number * 7) % idsMax} of ${project}`,
          caller,
          occurredAt: (startDay + day) * dayMs + ms,
        }));
        await handles[0].directory.createProject(projectOf(project, { retentionDays: 2 }), by);
        const outcome = new Outcome();
        let now = (startDay + 1) * dayMs;
        for (const { daysLater, actions } of steps) {
          now += daysLater * dayMs;
          const at = now;
          await Promise.all(
            actions.map(([handle, what]) => {
              const store = handles[handle === 0 ? 0 : 1];
              return perform(what, { store, project, known, startDay, at, outcome });
            }),
          );
        }
        expect(outcome.recordedCount).toBe(outcome.recorded.size);
        for (const to of [
          ALL_TIME.to,
          now,
          now - 2 * dayMs,
          now - 2 * dayMs + 1,
          (startDay + 3) * dayMs + 1,
        ]) {
          for (const from of [ALL_TIME.from, (startDay + 1) * dayMs - 1]) {
            const range = { from: Math.min(from, to), to };
            expect(await handles[1].counts.count(project, range)).toEqual(countedIn(outcome, range));
          }
        }
        expect(await handles[0].maintenance.verify()).toMatchObject({ differences: [], differencesTotal: 0 });
        await handles[0].directory.deleteProject(org, project, by);
        await purgeAll(handles[1]);
      }),
      parameters,
    );
  });
});
