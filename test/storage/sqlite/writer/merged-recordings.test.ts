/** Recordings that are committed in one batch have the outcomes, rows and counters that each would have had alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Connection } from '../../../../src/storage/sqlite/connection.js';
import { commitMerged } from '../../../../src/storage/sqlite/writer/merged-recordings.js';
import type { Operation } from '../../../../src/storage/sqlite/writer/operations.js';
import { Writer } from '../../../../src/storage/sqlite/writer/writer.js';
import { by, projectOf } from '../../../support/storage/entities.js';
import { databaseInMemory } from '../../../support/storage/sqlite.js';

const projects = ['docs', 'shop'];
const day = 20_000;

const create = (id: string): Operation => ({
  kind: 'directory',
  method: 'createProject',
  args: [projectOf(id), by],
});

const remove = (id: string): Operation => ({
  kind: 'directory',
  method: 'deleteProject',
  args: [projectOf(id).organizationId, id, by],
});

interface Sent {
  readonly projectId: string;
  readonly sender: string;
  readonly queries: readonly { readonly id: number; readonly caller: string; readonly occurredAt: number }[];
  readonly isImport: boolean;
}

/** Senders and imports have ids of their own: which of two that come together with one id is first does not matter. */
function recordingOf({ projectId, sender, queries, isImport }: Sent): Operation {
  return {
    kind: 'record',
    projectId,
    ids: queries.map(({ id }) => `${sender}${isImport ? ' import' : ''} ${id}`),
    callers: queries.map(({ caller }) => caller),
    occurredAt: Float64Array.from(queries, ({ occurredAt }) => occurredAt),
    receipts: [{ day, sender }],
    ...(isImport && {
      receiptOf: new Int32Array(queries.length),
      imports: [{ day, sender, first: 1, last: 2 }],
    }),
  };
}

const query = fc.record({
  id: fc.nat(30),
  caller: fc.constantFrom('web', 'api', 'slack', 'teams'),
  occurredAt: fc.integer({ min: -5, max: 40 }),
});

const operation = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .record({
        projectId: fc.constantFrom(...projects, 'none'),
        sender: fc.constantFrom('a', 'b'),
        queries: fc.array(query, { maxLength: 3 }),
        isImport: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0),
      })
      .map(recordingOf),
  },
  { weight: 1, arbitrary: fc.constantFrom(...projects).map(create) },
  { weight: 1, arbitrary: fc.constantFrom(...projects).map(remove) },
);

const TABLES = {
  query: 'project, id, occurred_at, caller, receipt',
  query_counter: 'project, level, bucket, web, api, other',
  caller_counter: 'project, level, bucket, caller, queries',
  import_range: 'project, day, sender, first_at, last_at',
};

/** All but what numbers callers and receipts have, which depends on who comes first. */
function keptIn(db: Connection): unknown {
  const numbers = 'SELECT number, name FROM caller';
  const names = new Map(
    db
      .prepare(numbers)
      .all()
      .map((row) => Object.values(row as object) as [number, string]),
  );
  return Object.entries(TABLES).map(([table, columns]) =>
    db
      .prepare(`SELECT ${columns.replace('receipt', 'receipt IS NULL AS receipt')} FROM ${table}`)
      .all()
      .map((row: object) => {
        const { caller, ...rest } = row as { readonly caller?: number };
        return JSON.stringify({ ...rest, ...(caller !== undefined && { caller: names.get(caller) }) });
      })
      .sort(),
  );
}

async function writerOf(): Promise<{ readonly db: Connection; readonly writer: Writer }> {
  const db = databaseInMemory();
  const writer = new Writer(db);
  await writer.commit(projects.map(create));
  // Queries from before are refused.
  await writer.commit([{ kind: 'applyRetention', nowMs: 0, limit: 1 }]);
  db.exec(`UPDATE project SET rows_from = 0 WHERE id = 'docs'`);
  return { db, writer };
}

test('a merged group has the outcomes, rows and counters of one that is not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(operation, { maxLength: 30 }), { maxLength: 3 }), async (groups) => {
      const [alone, merged] = [await writerOf(), await writerOf()];
      for (const group of groups) {
        const expected = await alone.writer.commit(group);
        expect(await commitMerged(group, (some) => merged.writer.commit(some))).toEqual(expected);
      }
      expect(keptIn(merged.db)).toEqual(keptIn(alone.db));
    }),
    { numRuns: 25 },
  );
});

const single = (id: number, more: Partial<Sent> = {}): Operation =>
  recordingOf({
    ...{ projectId: 'docs', sender: 'a', isImport: false },
    queries: [{ id, caller: 'web', occurredAt: id }],
    ...more,
  });

/** How many operations a group goes to the writer as. */
async function countMerged(group: readonly Operation[]): Promise<number> {
  let count = 0;
  await commitMerged(group, async (merged) => {
    count = merged.length;
    return [];
  });
  return count;
}

test('single queries of one sender go to the writer together, others between them or not', async () => {
  const [one, other] = [{ sender: 'a' }, { projectId: 'shop' }];
  expect(await countMerged([])).toBe(0);
  expect(await countMerged([single(1), single(2), single(3)])).toBe(1);
  expect(await countMerged([single(1, one), single(2, other), single(3, one), single(4, other)])).toBe(2);
  expect(await countMerged([single(1), single(2, { sender: 'b' })])).toBe(2);
  expect(await countMerged([single(1), single(2, { isImport: true }), single(3)])).toBe(2);
  expect(await countMerged([single(1), create('shop'), single(3)])).toBe(3);
});

test('an old query is refused although another recording of its group has its id', async () => {
  const { writer } = await writerOf();
  const old = single(1, { queries: [{ id: 1, caller: 'web', occurredAt: -1 }] });
  const outcomes = await commitMerged([single(1), old], (merged) => writer.commit(merged));
  expect(outcomes).toMatchObject([
    { ok: true, value: { recorded: 1 } },
    { ok: false, code: 'invalid' },
  ]);
});

test('a writer that answers too little leaves operations without an outcome', async () => {
  const first = { ok: true, value: 1 } as const;
  const outcomes = await commitMerged([single(1), single(2)], async () => [first]);
  expect(outcomes).toEqual([first]);
});

test('one refused recording of a batch does not concern the others', async () => {
  const { writer } = await writerOf();
  const group = [single(1), single(-1), single(2)];
  expect(await commitMerged(group, (merged) => writer.commit(merged))).toMatchObject([
    { ok: true, value: { recorded: 1, duplicates: 0 } },
    {
      ok: false,
      code: 'invalid',
      details: [expect.stringMatching(/^queries\[0\]: occurredAt: lies before/)],
    },
    { ok: true, value: { recorded: 1, duplicates: 0 } },
  ]);
});
