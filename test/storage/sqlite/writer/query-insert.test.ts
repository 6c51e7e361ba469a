import { describe, expect, test } from 'vitest';
import { decodeQueryId, encodeQueryId } from '../../../../src/storage/sqlite/query-id.js';
import { rowsPerStatement, rowsTogetherMin } from '../../../../src/storage/sqlite/writer/multi-row.js';
import { QueryInsert } from '../../../../src/storage/sqlite/writer/query-insert.js';
import { databaseInMemory, notedRuns } from '../../../support/storage/sqlite.js';

const columns = 5;

const uuidOf = (number: number) => `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;

/** Ids whose order is that of their numbers. */
const FORMS: Readonly<Record<string, (number: number) => string>> = {
  texts: (number) => `id ${number}`,
  UUIDs: uuidOf,
  'UUIDs and texts': (number) => (number % 41 === 3 ? `id ${number}` : uuidOf(number)),
};

const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, at) => from + at);

/** An empty table of queries, and how to insert into it: `insert` gives what it said is new. */
function open() {
  const db = databaseInMemory();
  const ran = notedRuns(db);
  const insertion = new QueryInsert(db);
  const insert = (rows: readonly unknown[]): number[] => {
    const found: number[] = [];
    insertion.insert(rows, (row) => found.push(Number(rows[row * columns + 2])));
    return found;
  };
  const kept = (): number[] =>
    db
      .prepare('SELECT occurred_at AS at FROM query ORDER BY at')
      .all()
      .map(({ at }) => Number(at));
  const runsOf = (pattern: RegExp): number => ran.filter((sql) => pattern.test(sql)).length;
  return { db, insert, kept, runsOf };
}

const hopeful = /OR FAIL/;
const careful = /DO NOTHING/;

describe.each(Object.entries(FORMS))('with ids that are %s', (_, idOf) => {
  /** Rows of project 1, whose ids and times are these numbers; callers are told by them as well. */
  const rowsOf = (...numbers: readonly number[]): unknown[] =>
    numbers.flatMap((number) => [1, idOf(number), number, number % 7, number % 3 === 0 ? null : number % 3]);

  test('throws if a row cannot be inserted, and does not report it as new', () => {
    const { insert } = open();
    for (const [before, error] of [
      [{}, /cannot be bound/],
      [null, /NOT NULL/],
    ] as const) {
      for (const at of [0, 31, 32, 33, 63, 64]) {
        const rows = rowsOf(...upTo(70));
        rows[at * columns + 2] = before;
        expect(() => insert(rows), `at ${at}`).toThrow(error);
      }
    }
  });

  test.each([0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 96, 100])(
    'reports each of %i new rows in order',
    (count) => {
      const { insert, kept, runsOf } = open();
      expect(insert(rowsOf(...upTo(count)))).toEqual(upTo(count));
      expect(kept()).toEqual(upTo(count));
      const rest = count % rowsPerStatement;
      const isTogether =
        rest >= rowsTogetherMin &&
        upTo(rest, count - rest).every((number) => idOf(number) === uuidOf(number));
      expect(runsOf(hopeful)).toBe(Math.floor(count / rowsPerStatement) + (isTogether ? 1 : 0));
      expect(runsOf(careful)).toBe(isTogether ? 0 : rest);
    },
  );

  test('reports all rows but an existing one, wherever it is', () => {
    const { db, insert, kept } = open();
    for (let at = 0; at < 100; at++) {
      db.exec('DELETE FROM query');
      insert(rowsOf(1000 + at));
      const rows = upTo(100).map((number) => (number === at ? 1000 + at : number));
      expect(insert(rowsOf(...rows)), `at ${at}`).toEqual(upTo(100).filter((number) => number !== at));
      expect(kept()).toEqual([...upTo(100).filter((number) => number !== at), 1000 + at]);
    }
  });

  test('inserts one by one after the first duplicate', () => {
    const { insert, runsOf } = open();
    insert(rowsOf(40));
    const before = { hopeful: runsOf(hopeful), careful: runsOf(careful) };
    expect(insert(rowsOf(...upTo(128)))).toEqual(upTo(128).filter((number) => number !== 40));
    // 32, 8 up to the one that is known, then 88.
    expect(runsOf(hopeful) - before.hopeful).toBe(2);
    expect(runsOf(careful) - before.careful).toBe(88);
  });

  test('reports a repeated id once, with its first values', () => {
    for (const [first, again] of [
      [0, 1],
      [5, 31],
      [5, 32],
      [40, 41],
      [3, 99],
    ] as const) {
      const { insert, kept, db } = open();
      const rows = rowsOf(...upTo(100));
      rows[again * columns + 1] = idOf(first);
      expect(insert(rows)).toEqual(upTo(100).filter((number) => number !== again));
      expect(kept()).toHaveLength(99);
      expect(
        db.prepare('SELECT occurred_at AS at FROM query WHERE id = ?').get(encodeQueryId(idOf(first))),
      ).toEqual({
        at: first,
      });
    }
  });

  test('reports the same id in another project as new', () => {
    const { insert } = open();
    insert(rowsOf(...upTo(64)));
    const elsewhere = rowsOf(...upTo(64)).map((value, at) => (at % columns === 0 ? 2 : value));
    expect(insert(elsewhere)).toEqual(upTo(64));
    expect(insert(elsewhere)).toEqual([]);
  });

  test('keeps each id as it is read, with its row', () => {
    const { insert, db } = open();
    insert(rowsOf(...upTo(100)));
    const kept = db.prepare('SELECT id, occurred_at, caller, receipt FROM query ORDER BY occurred_at').all();
    const read = kept.flatMap((row: object) => {
      const { id, ...rest } = row as { readonly id: string | Uint8Array };
      return [1, decodeQueryId(id), ...Object.values(rest)];
    });
    expect(read).toEqual(rowsOf(...upTo(100)));
  });
});
