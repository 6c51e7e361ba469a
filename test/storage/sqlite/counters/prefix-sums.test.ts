import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CounterRow, PrefixSums } from '../../../../src/storage/sqlite/counters/prefix-sums.js';

const nothing = { web: 0, api: 0, other: 0 };

function sumOf(sums: PrefixSums, first: number, end: number) {
  const sum = { ...nothing };
  sums.addTo(sum, first, end);
  return sum;
}

const dense: readonly CounterRow[] = [
  [-2, 1, 10, 100],
  [-1, 2, 20, 200],
  [1, 4, 40, 400],
];

test('they are added to the given counts, and summed over all types', () => {
  const sum = { web: 1_000, api: 2_000, other: 3_000 };
  const sums = new PrefixSums(1, dense);
  sums.addTo(sum, -2, 0);
  expect(sum).toEqual({ web: 1_003, api: 2_030, other: 3_300 });
  expect([-3, -2, 0, 1, 2].map((bucket) => sums.queriesIn(bucket))).toEqual([0, 111, 0, 444, 0]);
});

test('the buckets have the width of the level', () => {
  expect([0, 1].map((level) => new PrefixSums(level, dense).widthMs)).toEqual([1, 10_000]);
});

test('without counters all sums are zero', () => {
  expect(sumOf(new PrefixSums(1, []), -5, 5)).toEqual(nothing);
});

test.each([2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 50])(
  'counts and distances of %i are exact, beyond 32 bits too',
  (many) => {
    for (const second of [many - 7, -6]) {
      const sums = new PrefixSums(0, [
        [-7, many - 1, 1, many],
        [second, 1, many - 1, 0],
        [second + 1, 1, 1, 1],
      ]);
      expect(sumOf(sums, -7, second)).toEqual({ web: many - 1, api: 1, other: many });
      expect(sumOf(sums, -7, second + 1)).toEqual({ web: many, api: many, other: many });
      expect(sumOf(sums, -6, second + 2)).toEqual({ web: 2, api: many, other: 1 });
      expect(sumOf(sums, second + 1, many)).toEqual({ web: 1, api: 1, other: 1 });
      expect(sumOf(sums, second + 2, many)).toEqual(nothing);
    }
  },
);

test('any buckets at any distances have the same sums as plain addition', () => {
  const distances = fc.oneof(
    fc.constant(1),
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 1_000 }),
  );
  const gap = distances.chain((max) => fc.integer({ min: 1, max }));
  const counters = fc.array(fc.tuple(gap, fc.nat(9), fc.nat(9), fc.nat(9)));
  fc.assert(
    fc.property(counters, fc.integer({ min: -50, max: 50 }), fc.nat(200), (some, start, length) => {
      let bucket = -20;
      const rows = some.map(([distance, ...counts]): CounterRow => {
        bucket += distance;
        return [bucket, ...counts];
      });
      const within = rows.filter(([one]) => one >= start && one < start + length);
      const plain = (at: 1 | 2 | 3) => within.reduce((sum, row) => sum + row[at], 0);
      const sum = { web: plain(1), api: plain(2), other: plain(3) };
      expect(sumOf(new PrefixSums(0, rows), start, start + length)).toEqual(sum);
    }),
    { numRuns: 500 },
  );
});
