/** What is exported and imported into an empty project gives the same answers, on every kind of store. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EXPORT_FORMATS } from '../../src/app/export/rows.js';
import { isQueryId, type Query } from '../../src/domain/queries/query.js';
import { placeFactories } from '../support/storage/store.js';
import {
  expectCounted,
  firstOfEachId,
  lawParameters,
  openTwo,
  queries,
  rangesAround,
  timesAround,
} from './events.js';
import { exported, imported } from './round-trip.js';

/** Ids with what separates, quotes and ends fields and lines, what a spreadsheet runs or rounds, rows, and everything else. */
const oddId = fc
  .oneof(
    fc.string({
      unit: fc.constantFrom('"', ',', ';', '\t', '\n', '\r', ' ', "'", '=', '\\', 'a'),
      maxLength: 6,
    }),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('1.2E+17', '1,23457E+17', '-1e+5', 'a\nb,web,2026-01-01T00:00:00.000Z,2026-01-01,key:a'),
    fc.constantFrom('=1+1', '-2', '@a', '\ufeffa', 'id', 'id,caller,occurredAt', '\u0085', '\u2028', '😀'),
  )
  .filter(isQueryId);

const oddQueries = fc
  .tuple(queries, fc.array(oddId, { maxLength: 20 }))
  .map(([plain, ids]) => plain.map((query, at): Query => ({ ...query, id: ids[at] ?? query.id })));

const anyReceipt = fc.option(
  fc.record({
    day: fc.integer({ min: 0, max: 2_900_000 }),
    sender: fc.constantFrom(
      'key:a',
      'import:a b.csv',
      'import:"x",y;z',
      'telemetry:a:the site',
      'import: ',
      '=',
    ),
  }),
  { nil: undefined },
);

describe.each(placeFactories)('%s', (kind, factory) => {
  test.each(EXPORT_FORMATS)('%s: what was exported and imported gives the same answers', async (format) => {
    const { handles, newProject } = await openTwo(factory);
    const scenario = oddQueries.chain((delivered) =>
      fc.record({
        delivered: fc.constant(delivered),
        receipt: anyReceipt,
        ranges: rangesAround(delivered),
        times: fc.array(timesAround(delivered), { minLength: 2, maxLength: 4 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ({ delivered, receipt, ranges, times }) => {
        const [project, copy] = [await newProject(), await newProject()];
        await handles[0].counts.record(project, delivered, receipt);
        const recorded = firstOfEachId(delivered);
        const text = await exported(handles[1], project, format);
        const totals = await imported(handles[1], copy, text, format);
        expect(totals).toMatchObject({
          read: recorded.length,
          recorded: recorded.length,
          bad: 0,
          skipped: 0,
        });
        await expectCounted(handles[0], copy, recorded, ranges, times);
        // The same ids, too.
        expect(await exported(handles[0], copy, format)).toBe(text);
        expect(await handles[0].counts.record(copy, delivered)).toMatchObject({ recorded: 0 });
      }),
      lawParameters(kind),
    );
  });

  test('an export of a range or a caller has the queries that they count', async () => {
    const { handles, newProject } = await openTwo(factory);
    const [store] = handles;
    const scenario = queries.chain((delivered) =>
      fc.record({
        delivered: fc.constant(delivered),
        ranges: rangesAround(delivered),
        caller: fc.constantFrom(undefined, 'web', 'slack', 'nobody'),
      }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ({ delivered, ranges, caller }) => {
        const project = await newProject();
        await store.counts.record(project, delivered);
        for (const range of ranges) {
          const lines = (await exported(store, project, 'ndjson', { range, caller }))
            .split('\n')
            .slice(0, -1);
          expect(lines).toHaveLength((await store.counts.count(project, range, caller)).total);
          expect(new Set(lines).size).toBe(lines.length);
        }
      }),
      lawParameters(kind),
    );
  });
});
