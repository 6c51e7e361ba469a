/** Properties of imported counts next to recorded queries, compared with a naive recount. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contradicts, type ImportedCount } from '../../src/domain/counting/imported-count.js';
import { importedSpanDaysMax } from '../../src/domain/limits.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import type { Query } from '../../src/domain/queries/query.js';
import { dayMs } from '../../src/domain/time/duration.js';
import type { Store } from '../../src/storage/ports/store.js';
import { by, placeFactories, projectOf, purgeAll } from '../support/storage/store.js';
import {
  expectCounted,
  firstOfEachId,
  lawParameters,
  queries,
  rangesAround,
  recount,
  recountCallers,
  timesAround,
} from './events.js';

/** Few sources, callers and spans, so that many counts are repeated, and many contradict each other. */
const count: fc.Arbitrary<ImportedCount> = fc
  .record({
    source: fc.constantFrom('one', 'two'),
    caller: fc.constantFrom('web', 'api', 'slack', 'other'),
    startDay: fc.constantFrom(-1, 0, 1, 20_478, 20_479, 20_480),
    startMs: fc.constantFrom(0, 0, 0, 1, dayMs - 1),
    spanMs: fc.constantFrom(dayMs, dayMs, 1, 3 * dayMs),
    // Many queries in a bucket change what PostgreSQL writes for further ones.
    count: fc.constantFrom(0, 1, 2, 2, 5, 1000, 10_000),
  })
  .map(({ startDay, startMs, spanMs, ...rest }) => {
    const start = startDay * dayMs + startMs;
    return { ...rest, start, end: start + spanMs };
  });

const batches = fc.array(fc.array(count, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 10 });

const ofOneCaller = (a: ImportedCount, b: ImportedCount) => a.source === b.source && a.caller === b.caller;
const isSame = (a: ImportedCount, b: ImportedCount) =>
  ofOneCaller(a, b) && a.start === b.start && a.end === b.end && a.count === b.count;

/** What is new in a batch; undefined if it contradicts itself or what is there. */
function newIn(batch: readonly ImportedCount[], there: readonly ImportedCount[]) {
  const all = [...there, ...batch];
  if (batch.some((a) => all.some((b) => ofOneCaller(a, b) && contradicts(a, b)))) return undefined;
  return batch.filter(
    (a, at) => !there.some((b) => isSame(a, b)) && batch.findIndex((b) => isSame(a, b)) === at,
  );
}

/** As if each query had been recorded at the start of its span. */
const asQueries = (counts: readonly ImportedCount[]): Query[] =>
  counts.flatMap(({ caller, start, count: length }) =>
    Array.from({ length }, (_, at) => ({ id: `${at}`, caller, occurredAt: start })),
  );

/** The queries of spans that begin in a bucket and end after it; undefined if there are none. */
function queriesCutBy(edges: readonly number[], counts: readonly ImportedCount[]): number | undefined {
  const cut = counts.filter(({ start, end }) => {
    const bucketEnd = edges.find((edge) => edge > start);
    return bucketEnd !== undefined && edges.some((edge) => edge <= start) && end > bucketEnd;
  });
  return cut.reduce((sum, one) => sum + one.count, 0) || undefined;
}

/** Imports a batch of which so many are new; none, if it contradicts something. */
async function expectImported(
  store: Store,
  project: string,
  batch: readonly ImportedCount[],
  added: readonly ImportedCount[] | undefined,
): Promise<void> {
  if (added === undefined) {
    await expect(store.counts.importCounts(project, batch)).rejects.toMatchObject({ code: 'already_exists' });
    return;
  }
  const result = { recorded: added.length, duplicates: batch.length - added.length };
  expect(await store.counts.importCounts(project, batch, { dryRun: true })).toEqual(result);
  expect(await store.counts.importCounts(project, batch)).toEqual(result);
}

/** Imports the batches through both handles in turn, and records the queries after the first. Returns what is there. */
async function importAll(
  handles: readonly [Store, Store],
  project: string,
  { batches: sent, recorded }: { readonly batches: ImportedCount[][]; readonly recorded: Query[] },
): Promise<ImportedCount[]> {
  const there: ImportedCount[] = [];
  for (const [at, batch] of sent.entries()) {
    const added = newIn(batch, there);
    await expectImported(handles[at % 2 === 0 ? 0 : 1], project, batch, added);
    there.push(...(added ?? []));
    if (at === 0) await handles[0].counts.record(project, recorded);
  }
  return there;
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const law = lawParameters(kind);
  // Fewer runs, because each one waits for the disk many times.
  const parameters = { ...law, numRuns: Math.ceil(law.numRuns / 3) };

  test('counts, callers and series equal a naive recount, and contradictions change nothing', async () => {
    const { open } = await factory();
    const handles = [await open(), await open()] as const;
    const scenario = fc.record({ batches, recorded: queries }).chain((given) => {
      const starts = given.batches.flat().map((one) => ({ ...one, count: 1 }));
      const times = [...asQueries(starts), ...given.recorded];
      return fc.record({
        given: fc.constant(given),
        ranges: rangesAround(times),
        edges: fc.array(timesAround(times), { minLength: 2, maxLength: 6 }),
      });
    });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async ({ given, ranges, edges }) => {
        const project = `run-${runs++}`;
        await handles[0].directory.createProject(projectOf(project), by);
        const there = await importAll(handles, project, given);
        const all = [...asQueries(there), ...firstOfEachId(given.recorded)];
        await expectCounted(handles[1], project, all, ranges, edges);
        const sorted = edges.toSorted((a, b) => a - b);
        for (const some of [sorted, ...sorted.map((edge) => [edge - importedSpanDaysMax * dayMs, edge])])
          expect((await handles[0].counts.findCutSpan(project, some))?.count).toBe(queriesCutBy(some, there));
      }),
      parameters,
    );
    expect(await handles[0].maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
  });

  test('any interleaving of imports, recordings, retention and a deletion counts each once', async () => {
    const { open } = await factory();
    const handles = [await open(), await open()] as const;
    const scenario = fc.record({
      given: fc.array(count, { minLength: 1, maxLength: 12 }),
      deliveries: fc.array(fc.tuple(fc.nat(1), fc.array(fc.nat(11), { maxLength: 6 })), { maxLength: 12 }),
    });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async ({ given, deliveries }) => {
        const project = `at-once-${runs++}`;
        await handles[0].directory.createProject(projectOf(project, { retentionDays: 1 }), by);
        const consistent: ImportedCount[] = [];
        for (const one of given) consistent.push(...(newIn([one], consistent) ?? []));
        const latest = { id: 'latest', caller: 'slack', occurredAt: 20_481 * dayMs };
        const sent = new Set<ImportedCount>();
        const results = await Promise.all(
          deliveries.map(async ([handle, numbers], at) => {
            const store = handles[handle === 0 ? 0 : 1];
            await store.counts.record(project, [latest]);
            if (at % 3 === 0) await store.maintenance.applyRetention(20_481 * dayMs, 3);
            const batch = numbers.flatMap((number) => consistent[number % consistent.length] ?? []);
            for (const one of batch) sent.add(one);
            return store.counts.importCounts(project, batch);
          }),
        );
        expect(results.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(sent.size);
        const all = [...asQueries([...sent]), ...(deliveries.length > 0 ? [latest] : [])];
        const everything = { from: -2 * dayMs, to: 20_482 * dayMs };
        expect(await handles[0].counts.countCallers(project, everything)).toEqual(
          recountCallers(all, everything),
        );
        expect(await handles[1].counts.count(project, everything)).toEqual(recount(all, everything));
        expect(await handles[0].maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
        await handles[1].directory.deleteProject(DEFAULT_ORGANIZATION_ID, project, by);
        await purgeAll(handles[0]);
        expect(await handles[0].maintenance.verify()).toMatchObject({
          importedQueries: 0,
          differencesTotal: 0,
        });
      }),
      { ...parameters, numRuns: Math.ceil(parameters.numRuns / 3) },
    );
  });
});
