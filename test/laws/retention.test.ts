/** The law of retention: whatever is repeated, and whenever rows are removed meanwhile, each query is counted once. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/project.js';
import type { Query } from '../../src/domain/queries/query.js';
import type { Store } from '../../src/storage/ports/store.js';
import { by, type PlaceFactory, placeFactories, projectOf, purgeAll } from '../support/store.js';
import { lawParametersOn, recount } from './events.js';

const org = DEFAULT_ORGANIZATION_ID;
const dayMs = 86_400_000;
/** In days since 1970, around an edge of the widest buckets, and before 1970. */
const beginnings = [20_480, 20_477, -1];
const daysMax = 8;
const idsMax = 24;

/** Each id always says the same. */
const queries = fc.array(
  fc.record({
    day: fc.nat(daysMax - 1),
    ms: fc.constantFrom(0, 1, dayMs - 1, 40_000_000),
    caller: fc.constantFrom('web', 'api', 'slack', 'bot'),
  }),
  { minLength: 1, maxLength: idsMax },
);

/** What is done at once: recordings by either handle, and steps of retention. */
const deed = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ record: fc.array(fc.nat(idsMax - 1), { minLength: 1, maxLength: 8 }) }),
  },
  { weight: 2, arbitrary: fc.record({ limit: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ retentionDays: fc.constantFrom(1, 2, 3, null) }) },
);

/** One after another, on a clock that goes on by so many days. */
const scenario = fc.record({
  queries,
  beginning: fc.constantFrom(...beginnings),
  moments: fc.array(
    fc.record({
      daysOn: fc.constantFrom(0, 0, 1, 2),
      deeds: fc.array(fc.tuple(fc.nat(1), deed), { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 3, maxLength: 12 },
  ),
});

/** What became of everything: what was recorded, and how often the store said that something was new. */
class Outcome {
  readonly recorded = new Map<string, Query>();
  told = 0;
}

async function record(store: Store, project: string, batch: Query[], outcome: Outcome): Promise<void> {
  try {
    const result = await store.record(project, batch);
    outcome.told += result.recorded;
    for (const query of batch) outcome.recorded.set(query.id, query);
  } catch (error) {
    // All or nothing: what is in it is counted only if another batch had it.
    expect(error).toMatchObject({ code: 'invalid' });
  }
}

async function openTwo(factory: PlaceFactory): Promise<readonly [Store, Store]> {
  const { open } = await factory();
  return [await open(), await open()];
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const law = lawParametersOn(kind);
  // Each run is many waits for the disk, so there are fewer of them.
  const parameters = { ...law, numRuns: Math.ceil(law.numRuns / 5) };

  test('any interleaving of recording, repeats and retention counts each query once', async () => {
    const handles = await openTwo(factory);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async ({ queries: said, beginning, moments }) => {
        const project = `run-${runs++}`;
        const known: Query[] = said.map(({ day, ms, caller }, number) => ({
          id: `${(number * 7) % idsMax} of ${project}`,
          caller,
          occurredAt: (beginning + day) * dayMs + ms,
        }));
        await handles[0].createProject(projectOf(project, { retentionDays: 2 }), by);
        const outcome = new Outcome();
        let now = (beginning + 1) * dayMs;
        for (const { daysOn, deeds } of moments) {
          now += daysOn * dayMs;
          const at = now;
          await Promise.all(
            deeds.map(async ([who, what]): Promise<unknown> => {
              const store = handles[who === 0 ? 0 : 1];
              if ('limit' in what) return store.applyRetention(at, what.limit);
              if ('retentionDays' in what) return store.changeProject(org, project, what, by);
              const batch = what.record.map((number) => known[number % known.length]);
              return record(
                store,
                project,
                batch.filter((one) => one !== undefined),
                outcome,
              );
            }),
          );
        }
        const recorded = [...outcome.recorded.values()];
        expect(outcome.told).toBe(recorded.length);
        for (const to of [ALL_TIME.to, now, now - 2 * dayMs, (beginning + 3) * dayMs + 1]) {
          for (const from of [ALL_TIME.from, (beginning + 1) * dayMs - 1]) {
            const range = { from: Math.min(from, to), to };
            expect(await handles[1].count(project, range)).toEqual(recount(recorded, range));
          }
        }
        expect(await handles[0].verify()).toMatchObject({ differences: [], differencesTotal: 0 });
        await handles[0].deleteProject(org, project, by);
        await purgeAll(handles[1]);
      }),
      parameters,
    );
  });
});
