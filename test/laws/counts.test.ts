/** The laws of counting, as properties: held against a naive recount, on every kind of store. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Counts } from '../../src/domain/counting/counts.js';
import type { Query } from '../../src/domain/queries/query.js';
import type { RecordResult, Store } from '../../src/storage/ports/store.js';
import { by, type PlaceFactory, placeFactories, projectOf } from '../support/store.js';
import {
  batchSizes,
  consistentQueries,
  distinct,
  inBatches,
  lawParametersOn,
  momentsAround,
  queries,
  rangesAround,
  recount,
  recountCallers,
} from './events.js';

/** Two handles on one store, and a new project in it for each run of a law. */
async function openTwo(factory: PlaceFactory) {
  const { open } = await factory();
  const handles: readonly [Store, Store] = [await open(), await open()];
  let projects = 0;
  const newProject = async (): Promise<string> => {
    const id = `run-${projects++}`;
    await handles[0].createProject(projectOf(id), by);
    return id;
  };
  return { handles, newProject };
}

async function expectSound(store: Store): Promise<void> {
  expect(await store.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const parameters = lawParametersOn(kind);

  test('in any order, in any batches, with any repetitions, counts are those of a naive recount', async () => {
    const { handles, newProject } = await openTwo(factory);
    const scenario = queries.chain((delivered) =>
      fc.record({ delivered: fc.constant(delivered), sizes: batchSizes, ranges: rangesAround(delivered) }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ({ delivered, sizes, ranges }) => {
        const project = await newProject();
        const results: RecordResult[] = [];
        for (const batch of inBatches(delivered, sizes))
          results.push(await handles[0].record(project, batch));
        const recorded = distinct(delivered);
        expect(results.reduce((sum, one) => sum + one.recorded, 0)).toBe(recorded.length);
        expect(results.reduce((sum, one) => sum + one.duplicates, 0)).toBe(
          delivered.length - recorded.length,
        );
        for (const range of ranges) {
          expect(await handles[1].count(project, range)).toEqual(recount(recorded, range));
          expect(await handles[1].countCallers(project, range)).toEqual(recountCallers(recorded, range));
        }
      }),
      parameters,
    );
    await expectSound(handles[0]);
  });

  test('two orders of delivery of the same queries, each with its own repetitions, give the same counts', async () => {
    const { handles, newProject } = await openTwo(factory);
    const scenario = consistentQueries.chain((once) =>
      fc.record({
        one: fc.shuffledSubarray([...once, ...once], { minLength: once.length * 2 }),
        other: fc.shuffledSubarray([...once, ...once, ...once], { minLength: once.length * 3 }),
        sizes: batchSizes,
        ranges: rangesAround(once),
      }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ({ one, other, sizes, ranges }) => {
        const [first, second] = [await newProject(), await newProject()];
        for (const batch of inBatches(one, sizes)) await handles[0].record(first, batch);
        for (const batch of inBatches(other, sizes.toReversed())) await handles[0].record(second, batch);
        for (const range of ranges) {
          expect(await handles[0].count(first, range)).toEqual(await handles[0].count(second, range));
        }
      }),
      parameters,
    );
  });

  test('adjacent ranges add up to the whole, and total is the sum', async () => {
    const { handles, newProject } = await openTwo(factory);
    const scenario = queries.chain((delivered) =>
      fc.record({
        delivered: fc.constant(delivered),
        moments: fc.array(momentsAround(delivered), { minLength: 2, maxLength: 8 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ({ delivered, moments }) => {
        const project = await newProject();
        await handles[0].record(project, delivered);
        const cuts = moments.toSorted((a, b) => a - b);
        const sum = { web: 0, api: 0, other: 0, total: 0 };
        const pieces: Counts[] = [];
        for (const [at, to] of cuts.entries()) {
          const piece = await handles[0].count(project, { from: cuts[at - 1] ?? to, to });
          pieces.push(piece);
          expect(piece.total).toBe(piece.web + piece.api + piece.other);
          for (const name of ['web', 'api', 'other', 'total'] as const) sum[name] += piece[name];
        }
        const whole = { from: cuts[0] ?? 0, to: cuts.at(-1) ?? 0 };
        expect(await handles[0].count(project, whole)).toEqual(sum);
        expect(await handles[0].countSeries(project, cuts)).toEqual(pieces.slice(1));
      }),
      parameters,
    );
  });

  test('two writers at once lose nothing and double nothing', async () => {
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
            inBatches(delivered, sizes).map((batch) =>
              (at === 0 ? handles[0] : handles[1]).record(project, batch),
            ),
          ),
        );
        const recorded: Query[] = distinct(deliveries.flat());
        expect(results.reduce((sum, one) => sum + one.recorded, 0)).toBe(recorded.length);
        for (const range of ranges)
          expect(await handles[0].count(project, range)).toEqual(recount(recorded, range));
      }),
      parameters,
    );
    await expectSound(handles[1]);
  });
});
