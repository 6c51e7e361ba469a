import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyedSum } from '../../../../src/storage/sqlite/counters/keyed-sum.js';

type Counted = readonly [bucket: number, caller: number, queries: number];

const sumOf = (counts: readonly Counted[]): KeyedSum => {
  const sum = new KeyedSum();
  for (const count of counts) sum.add(...count);
  return sum;
};

const buckets = [
  0,
  -1,
  1,
  2 ** 31,
  2 ** 32,
  -(2 ** 32),
  2 ** 32 + 1,
  8_640_000_000_000_000,
  -2_208_988_800_001,
];
const callers = [-1, 0, 1, 2, 3, 2 ** 31];
const amounts = [1, -1, 2 ** 20, 2 ** 20 + 1, 2 ** 31, 2 ** 32, 2 ** 33, Number.MAX_SAFE_INTEGER];

test('a sum of nothing is zero, also of no queries', () => {
  expect(sumOf([]).isZero).toBe(true);
  expect(sumOf([[5, 1, 0]]).isZero).toBe(true);
});

test.each(amounts)(
  '%s queries of any bucket and caller are not zero, and are until taken away',
  (queries) => {
    for (const bucket of buckets)
      for (const caller of callers) {
        expect(sumOf([[bucket, caller, queries]]).isZero, `${bucket} ${caller}`).toBe(false);
        expect(sumOf([...[[bucket, caller, queries] as const], [bucket, caller, -queries]]).isZero).toBe(
          true,
        );
      }
  },
);

test('queries of another bucket or caller do not make up for those that are missing', () => {
  const keys = buckets.flatMap((bucket) => callers.map((caller) => [bucket, caller] as const));
  for (const queries of [1, 2 ** 32])
    for (const one of keys)
      for (const other of keys) {
        const sum = sumOf([
          [...one, queries],
          [...other, -queries],
        ]);
        expect(sum.isZero, `${one} ${other}`).toBe(one === other);
      }
});

test.each([
  [1, -2, 1],
  [1, -3, 3, -1],
  [1, -4, 6, -4, 1],
  [1, -1, -1, 1],
  [1, -5, 10, -10, 5, -1],
])('differences %s, %s, %s that a regular sum would not see are not zero', (...differences) => {
  for (const step of [1, 2, 10_000, 2 ** 32])
    for (let start = 0; start < 200; start++) {
      const ofBuckets = differences.map((by, at): Counted => [start + at * step, 0, by]);
      const ofCallers = differences.map((by, at): Counted => [start, at * step, by]);
      expect(sumOf(ofBuckets).isZero).toBe(false);
      expect(sumOf(ofCallers).isZero).toBe(false);
    }
});

test('what is taken away in another order and other parts leaves zero, unless something is missing', () => {
  const count = fc.tuple(
    fc.oneof(fc.maxSafeInteger(), fc.constantFrom(...buckets)),
    fc.oneof(fc.integer(), fc.constantFrom(...callers)),
    fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 ** 52 })),
  );
  fc.assert(
    fc.property(fc.array(count, { minLength: 1, maxLength: 50 }), fc.nat(), (counts, seed) => {
      const parts = counts.flatMap(([bucket, caller, queries], at): Counted[] => {
        const part = (seed + at) % (queries + 1);
        return [
          [bucket, caller, -part],
          [bucket, caller, part - queries],
        ];
      });
      expect(sumOf([...parts.reverse(), ...counts]).isZero).toBe(true);
      expect(sumOf([...parts.slice(0, -1), ...counts]).isZero).toBe(parts.at(-1)?.[2] === 0);
    }),
  );
});

test('sums far above what a number holds stay exact', () => {
  const many = Array.from({ length: 5_000 }, (_, at): Counted => [at, 0, 2 ** 20]);
  const back = many.map(([bucket, caller, queries]): Counted => [bucket, caller, -queries]);
  expect(sumOf([...many, ...back.reverse()]).isZero).toBe(true);
  expect(sumOf([...many, ...back, [7, 0, 1]]).isZero).toBe(false);
});
