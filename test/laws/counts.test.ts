/** Properties of counts on every kind of store, compared with a naive recount. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Query } from '../../src/domain/queries/query.js';
import type { RecordResult, Store } from '../../src/storage/ports/store.js';
import { placeFactories } from '../support/storage/store.js';
import {
  batchSizes,
  consistentQueries,
  expectCounted,
  firstOfEachId,
  lawParameters,
  openTwo,
  queries,
  rangesAround,
  recount,
  splitIntoBatches,
  timesAround,
} from './events.js';

async function expectSound(store: Store): Promise<void> {
  expect(await store.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const parameters = lawParameters(kind);

  test('counts, callers and series equal a naive recount, in any order, batches and repetitions', async () => {
    const { handles, newProject } = await openTwo(factory);
    const scenario = queries.chain((delivered) =>
      fc.record({
        delivered: fc.constant(delivered),
        sizes: batchSizes,
        ranges: rangesAround(delivered),
        times: fc.array(timesAround(delivered), { minLength: 2, maxLength: 8 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ({ delivered, sizes, ranges, times }) => {
        const project = await newProject();
        const results: RecordResult[] = [];
        for (const batch of splitIntoBatches(delivered, sizes))
          results.push(await handles[0].counts.record(project, batch));
        const recorded = firstOfEachId(delivered);
        expect(results.reduce((sum, one) => sum + one.recorded, 0)).toBe(recorded.length);
        expect(results.reduce((sum, one) => sum + one.duplicates, 0)).toBe(
          delivered.length - recorded.length,
        );
        await expectCounted(handles[1], project, recorded, ranges, times);
      }),
      parameters,
    );
    await expectSound(handles[0]);
  });

  test('two concurrent writers record each query exactly once', async () => {
    const { handles, newProject } = await openTwo(factory);
    const scenario = consistentQueries.chain((once) =>
      fc.record({
        deliveries: fc.tuple(
          fc.shuffledSubarray([...once, ...once], { minLength: once.length }),
          fc.shuffledSubarray([...once, ...once], { minLength: once.length }),
        ),
        sizes: batchSizes,
        ranges: rangesAround(once),
      }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ({ deliveries, sizes, ranges }) => {
        const project = await newProject();
        const results = await Promise.all(
          deliveries.flatMap((delivered, at) =>
            splitIntoBatches(delivered, sizes).map((batch) =>
              (at === 0 ? handles[0] : handles[1]).counts.record(project, batch),
            ),
          ),
        );
        const recorded: Query[] = firstOfEachId(deliveries.flat());
        expect(results.reduce((sum, one) => sum + one.recorded, 0)).toBe(recorded.length);
        for (const range of ranges)
          expect(await handles[0].counts.count(project, range)).toEqual(recount(recorded, range));
      }),
      parameters,
    );
    await expectSound(handles[1]);
  });
});
