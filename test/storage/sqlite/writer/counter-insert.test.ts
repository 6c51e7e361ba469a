/** Most rows of counters are packed into two values. What does not fit is bound as it is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Connection } from '../../../../src/storage/sqlite/connection.js';
import {
  CALLER_COUNTERS,
  CounterInsert,
  TYPE_COUNTERS,
} from '../../../../src/storage/sqlite/writer/counter-insert.js';
import { databaseInMemory, notedRuns } from '../../../support/storage/sqlite.js';

const [project, level] = [3, 1];

/** On both sides of what is packed. */
const EDGES = [17, 20, 32, 40].flatMap((bits) => [2 ** bits - 1, 2 ** bits]).concat(0, -1);

const count = fc.oneof({ arbitrary: fc.nat(3), weight: 40 }, fc.constantFrom(...EDGES));
const caller = fc.oneof({ arbitrary: fc.nat(9), weight: 40 }, fc.nat(2 ** 40));
const bucket = fc.oneof(fc.integer({ min: -40, max: 40 }), fc.integer({ min: -(10 ** 15), max: 10 ** 15 }));

const tables = [
  { of: TYPE_COUNTERS, key: 1, row: fc.tuple(bucket, count, count, count) },
  { of: CALLER_COUNTERS, key: 2, row: fc.tuple(bucket, caller, count) },
] as const;

const keyOf = (row: readonly number[], key: number) => row.slice(0, key).join();

/** What several insertions add up to, by key. */
function addedUp(all: readonly (readonly number[])[], key: number): ReadonlyMap<string, readonly number[]> {
  const sums = new Map<string, readonly number[]>();
  for (const row of all) {
    const before = sums.get(keyOf(row, key));
    sums.set(
      keyOf(row, key),
      row.slice(key).map((value, at) => value + (before?.[at] ?? 0)),
    );
  }
  return sums;
}

/** What the table has, and that all of it is of one project and level. */
function keptIn(db: Connection, { table, columns }: (typeof tables)[number]['of']): number[][] {
  const kept = db.prepare(`SELECT project, level, bucket, ${columns.join(', ')} FROM ${table}`).all();
  return kept.map((row: object) => {
    const [inProject, atLevel, ...values] = Object.values(row) as number[];
    expect([inProject, atLevel]).toEqual([project, level]);
    return values;
  });
}

test.each(tables)('adds what was given to $of.table', ({ of, key, row }) => {
  const rows = fc.uniqueArray(row as fc.Arbitrary<readonly number[]>, {
    maxLength: 100,
    selector: (one) => keyOf(one, key),
  });
  const db = databaseInMemory();
  const insertion = new CounterInsert(db, of);
  fc.assert(
    fc.property(rows, rows, (first, second) => {
      db.exec(`DELETE FROM ${of.table}`);
      for (const some of [first, second])
        insertion.add({ project, level, types: some.flat(), callers: some.flat() });
      const found = keptIn(db, of);
      const sums = new Map(found.map((values) => [keyOf(values, key), values.slice(key)]));
      expect(sums).toEqual(addedUp([...first, ...second], key));
      expect(found).toHaveLength(sums.size);
    }),
  );
});

test.each(tables)('keeps each number in $of.table, be it packed or not', ({ of }) => {
  const db = databaseInMemory();
  const insertion = new CounterInsert(db, of);
  for (const at of of.columns.keys())
    for (const edge of EDGES) {
      db.exec(`DELETE FROM ${of.table}`);
      // The others fit, so that this number alone tells whether all are packed.
      const rows = Array.from({ length: 32 }, (_, row) => [row, ...of.columns.map(() => 2)]);
      rows[17] = [17, ...of.columns.map((_, column) => (column === at ? edge : 1))];
      insertion.add({ project, level, types: rows.flat(), callers: rows.flat() });
      expect(keptIn(db, of), `${edge} in ${of.columns[at]}`).toEqual(rows);
    }
});

test.each(tables)('returns the sums and keys of what was changed in $of.table', ({ of, key }) => {
  const insertion = new CounterInsert(databaseInMemory(), of);
  const row = (from: number) => [7, ...of.columns.map((_, at) => (at < key - 1 ? 5 : from + at))];
  const change = (from: number) =>
    insertion.change({ project, level, types: row(from), callers: row(from) }).flat();
  const sum = (from: number) =>
    row(from)
      .slice(key)
      .reduce((total, value) => total + value, 0);
  const rest = [project, level, ...row(0).slice(0, key)];
  expect(change(10)).toEqual([sum(10), ...rest]);
  expect(change(20)).toEqual([sum(10) + sum(20), ...rest]);
});

test.each([
  { rows: 70, packed: 2, plain: 6 },
  { rows: 72, packed: 3, plain: 0 },
])('binds two values for most of $rows small counters', ({ rows, packed, plain }) => {
  const db = databaseInMemory();
  const ran = notedRuns(db);
  const insertion = new CounterInsert(db, TYPE_COUNTERS);
  const types = Array.from({ length: rows }, (_, at) => [at, 1, 0, 2]).flat();
  insertion.add({ project, level, types, callers: [] });
  expect(ran.filter((sql) => sql.includes('column2'))).toHaveLength(packed);
  expect(ran).toHaveLength(packed + plain);
});
