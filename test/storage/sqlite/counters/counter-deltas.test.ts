import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BUCKET_WIDTHS_MS, bucketAt } from '../../../../src/domain/counting/buckets.js';
import {
  CounterDeltas,
  type CounterRows,
  Placed,
  type Recorded,
  TYPE_INDEX,
} from '../../../../src/storage/sqlite/counters/counter-deltas.js';

interface Given {
  readonly project: number;
  readonly timeMs: number;
  readonly type: number;
  readonly caller: number;
  /** Of an imported count. */
  readonly queries: number | undefined;
}

/** Any level is right for any query; here, it depends on the caller. */
const levelOf = (caller: number): number => caller % 3;

function place(_project: number, { times, types, callers, queries }: Recorded): Placed {
  const placed = new Placed();
  for (const [at, timeMs] of times.entries()) {
    const caller = callers[at] ?? 0;
    placed.add(levelOf(caller), timeMs, types[at] ?? 0, caller, queries?.[at] ?? 1);
  }
  return placed;
}

/** Callers 0 and 1 are web and api; few of everything, so that much falls into the same counters. */
const recorded: fc.Arbitrary<Given> = fc
  .record({
    project: fc.constantFrom(1, 2, 10, 300),
    timeMs: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -200_000_000, max: 200_000_000 })),
    caller: fc.nat(12),
    queries: fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 1_000_000_000 })),
  })
  .map((one) => ({ ...one, type: one.caller === 0 ? 0 : one.caller === 1 ? 1 : TYPE_INDEX.other }));

function rowsOf(all: readonly Given[]): Pick<CounterRows, 'types' | 'callers'> {
  const deltas = new CounterDeltas();
  for (const { project, timeMs, type, caller, queries } of all)
    deltas.add(project, timeMs, type, caller, queries);
  const parts = [...deltas.rows(place)];
  const withKeys = (columns: number, flatOf: (part: CounterRows) => readonly number[]) =>
    parts.flatMap((part) =>
      inRows(flatOf(part), columns).flatMap((row) => [part.project, part.level, ...row]),
    );
  return { types: withKeys(4, ({ types }) => types), callers: withKeys(3, ({ callers }) => callers) };
}

/** Rows of so many columns. */
function inRows(flat: readonly number[], columns: number): number[][] {
  return Array.from({ length: flat.length / columns }, (_, at) =>
    flat.slice(at * columns, (at + 1) * columns),
  );
}

/** In the order of a key of so many columns, the numbers behind them added up for each. */
function addedUp(rows: readonly (readonly number[])[], keyColumns: number): number[][] {
  const byKey = new Map<string, number[]>();
  for (const row of rows) {
    const key = row.slice(0, keyColumns).join();
    const before = byKey.get(key);
    byKey.set(
      key,
      before?.map((value, at) => (at < keyColumns ? value : value + (row[at] ?? 0))) ?? [...row],
    );
  }
  return [...byKey.values()].sort((a, b) => a.reduce((order, value, at) => order || value - (b[at] ?? 0), 0));
}

test('makes no rows without queries', () => {
  expect(rowsOf([])).toEqual({ types: [], callers: [] });
});

test('makes one row per counter from the level of each query on in key order, whatever the order of recording', () => {
  fc.assert(
    fc.property(fc.array(recorded, { maxLength: 40 }), (all) => {
      const levelsFrom = (caller: number) => [...BUCKET_WIDTHS_MS.keys()].slice(levelOf(caller));
      const types = all.flatMap(({ project, timeMs, type, caller, queries }) =>
        levelsFrom(caller).map((level) => [
          project,
          level,
          bucketAt(timeMs, level),
          ...[0, 1, 2].map((one) => (one === type ? (queries ?? 1) : 0)),
        ]),
      );
      const callers = all
        .filter(({ type }) => type === TYPE_INDEX.other)
        .flatMap(({ project, timeMs, caller, queries }) =>
          levelsFrom(caller).map((level) => [project, level, bucketAt(timeMs, level), caller, queries ?? 1]),
        );
      const rows = rowsOf(all);
      expect(inRows(rows.types, 6)).toEqual(addedUp(types, 3));
      expect(inRows(rows.callers, 5)).toEqual(addedUp(callers, 4));
    }),
  );
});

test('sorts projects and the callers of a bucket by number', () => {
  const one = (project: number, caller: number): Given => ({
    project,
    timeMs: 5,
    type: 2,
    caller,
    queries: undefined,
  });
  const { callers } = rowsOf([one(20, 7), one(20, 11), one(20, 4), one(3, 9), one(3, 2), one(20, 4)]);
  const ofLevelTwo = inRows(callers, 5).filter(([, level]) => level === 2);
  expect(ofLevelTwo).toEqual([
    [3, 2, 0, 2, 1],
    [3, 2, 0, 9, 1],
    [20, 2, 0, 4, 2],
    [20, 2, 0, 7, 1],
    [20, 2, 0, 11, 1],
  ]);
});
