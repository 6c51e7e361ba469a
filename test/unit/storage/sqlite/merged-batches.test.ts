/** Batches that are merged for a commit have the outcomes, rows and counters that they would have one after another. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeBatches } from '../../../../src/storage/sqlite/writer/merged-batches.js';
import type { Operation } from '../../../../src/storage/sqlite/writer/operations.js';
import { Writer } from '../../../../src/storage/sqlite/writer/writer.js';
import { by, projectOf } from '../../../support/storage/entities.js';
import { databaseInMemory } from '../../../support/storage/sqlite.js';

const project = (id: string): Operation => ({
  kind: 'directory',
  method: 'createProject',
  args: [projectOf(id), by],
});
const rowsFrom = 50;

/** Two projects, the second of which refuses queries from before `rowsFrom`, and a name that has none. */
async function open() {
  const db = databaseInMemory();
  const writer = new Writer(db);
  await writer.commit([project('docs'), project('old')]);
  db.exec(`UPDATE project SET rows_from = ${rowsFrom} WHERE id = 'old'`);
  return { db, writer };
}

/** Few ids and times, so that batches have common ones. */
const query = fc.record({
  id: fc.integer({ min: 0, max: 200 }).map((number) => `id ${number}`),
  caller: fc.constantFrom('web', 'api', 'slack', 'mcp'),
  occurredAt: fc.integer({ min: 0, max: 2_000 }),
});
const recordOperation = fc
  .tuple(fc.constantFrom('docs', 'docs', 'old', 'none'), fc.array(query, { minLength: 1, maxLength: 60 }))
  .map(
    ([projectId, queries]): Operation => ({
      kind: 'record',
      projectId,
      ids: queries.map(({ id }) => id),
      callers: queries.map(({ caller }) => caller),
      occurredAt: Float64Array.from(queries, ({ occurredAt }) => occurredAt),
    }),
  );
const other = fc.constant<Operation>({ kind: 'purgeDeleted', limit: 1 });
const groups = fc.array(
  fc.array(fc.oneof({ weight: 9, arbitrary: recordOperation }, { weight: 1, arbitrary: other }), {
    maxLength: 12,
  }),
  { minLength: 1, maxLength: 3 },
);

/** Everything that was recorded, whatever numbers its callers have. */
const contents = (db: ReturnType<typeof databaseInMemory>) =>
  [
    `SELECT project, id, occurred_at, name FROM query JOIN caller ON number = caller ORDER BY project, id`,
    'SELECT * FROM type_counter ORDER BY project, level, bucket',
    `SELECT project, level, bucket, name, queries FROM caller_counter JOIN caller ON number = caller
     ORDER BY project, level, bucket, name`,
  ].map((sql) => db.prepare(sql).all());

test('merging changes nothing but the number of messages', async () => {
  await fc.assert(
    fc.asyncProperty(groups, async (all) => {
      const [one, several] = [await open(), await open()];
      for (const operations of all) {
        const expected = await one.writer.commit(operations);
        const { operations: merged, places } = mergeBatches(operations);
        const outcomes = await several.writer.commit(merged);
        expect(places.toSorted((a, b) => a - b)).toEqual([...operations.keys()]);
        expect(places.map((place) => expected[place])).toEqual(outcomes);
      }
      expect(contents(several.db)).toEqual(contents(one.db));
    }),
    { numRuns: 60 },
  );
});

test('a project has one message, up to the next operation of another kind', () => {
  const record = (projectId: string): Operation => ({
    kind: 'record',
    projectId,
    ids: ['a'],
    callers: ['web'],
    occurredAt: Float64Array.of(0),
  });
  const { operations } = mergeBatches([
    record('docs'),
    record('old'),
    record('docs'),
    project('new'),
    record('docs'),
  ]);
  expect(
    operations.map((operation) =>
      operation.kind === 'record' ? [operation.projectId, operation.ids.length] : operation.kind,
    ),
  ).toEqual([['docs', 2], ['old', 1], 'directory', ['docs', 1]]);
});
