import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BUCKET_WIDTHS_MS, bucketOf } from '../../../../src/domain/buckets.js';
import { BucketSums, type CounterRow } from '../../../../src/storage/sqlite/bucket-sums.js';

const level = 1;
const width = BUCKET_WIDTHS_MS[level];

/** Of the buckets from -20 s to -10 s, 0 s to 10 s, and 30 s to 40 s. */
const sums = new BucketSums(level, [
  [-2, 1, 10, 100],
  [0, 2, 20, 200],
  [3, 4, 40, 400],
]);

const nothing = { web: 0, api: 0, other: 0 };

test.each([
  ['before the first whole bucket ends', 1, 9_999],
  ['over a border, with no whole bucket', 1, 10_001],
  ['up to a border', 1, 10_000],
  ['from a border', 10_000, 19_999],
  ['before 1970', -9_999, -1],
])('a range %s is left whole, and no part of it known', (_what, from, to) => {
  expect(sums.cut({ from, to })).toEqual({ sum: nothing, rest: [{ from, to }] });
});

test.each([0, 5, 10_000, -10_000])('nothing is left of an empty range at %i', (at) => {
  expect(sums.cut({ from: at, to: at })).toEqual({ sum: nothing, rest: [] });
});

test.each([
  ['one bucket', 0, 1, { web: 2, api: 20, other: 200 }],
  ['a bucket before 1970', -2, -1, { web: 1, api: 10, other: 100 }],
  ['buckets without counters', 1, 3, nothing],
  ['all of them', -2, 4, { web: 7, api: 70, other: 700 }],
  ['more than all of them', -100, 100, { web: 7, api: 70, other: 700 }],
  ['the last ones', 0, 4, { web: 6, api: 60, other: 600 }],
])('of %s nothing is left', (_what, first, end, sum) => {
  expect(sums.cut({ from: first * width, to: end * width })).toEqual({ sum, rest: [] });
});

test('what is left is what lies outside of the whole buckets, at either end', () => {
  const sum = { web: 4, api: 40, other: 400 };
  const begin = { from: 29_999, to: 30_000 };
  const end = { from: 40_000, to: 40_001 };
  expect(sums.cut({ from: 29_999, to: 40_000 })).toEqual({ sum, rest: [begin] });
  expect(sums.cut({ from: 30_000, to: 40_001 })).toEqual({ sum, rest: [end] });
  expect(sums.cut({ from: 29_999, to: 40_001 })).toEqual({ sum, rest: [begin, end] });
});

test('without counters all is known to be nothing', () => {
  const empty = new BucketSums(level, []);
  expect(empty.cut({ from: 0, to: 10_000 })).toEqual({ sum: nothing, rest: [] });
});

test.each([2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 50])(
  'counts and stretches of %i are exact: beyond what 32 bits hold, too',
  (many) => {
    const far = new BucketSums(0, [
      [-7, many - 1, 1, many],
      [many - 7, 1, many - 1, 0],
      [many - 6, 1, 1, 1],
    ]);
    expect(far.cut({ from: -7, to: many - 7 }).sum).toEqual({ web: many - 1, api: 1, other: many });
    expect(far.cut({ from: -7, to: many - 6 }).sum).toEqual({ web: many, api: many, other: many });
    expect(far.cut({ from: -6, to: many - 5 }).sum).toEqual({ web: 2, api: many, other: 1 });
    expect(far.cut({ from: many - 6, to: many }).sum).toEqual({ web: 1, api: 1, other: 1 });
    expect(far.cut({ from: many - 5, to: many }).sum).toEqual(nothing);
  },
);

test('the sum and what is left are together the range', () => {
  const time = fc.integer({ min: -8 * width, max: 8 * width });
  fc.assert(
    fc.property(fc.array(time), time, fc.nat(9 * width), (times, from, lengthMs) => {
      const within = (range: { from: number; to: number }) =>
        times.filter((one) => one >= range.from && one < range.to).length;
      const buckets = [...new Set(times.map((one) => bucketOf(one, level)))].sort((a, b) => a - b);
      const rows = buckets.map(
        (bucket): CounterRow => [bucket, times.filter((one) => bucketOf(one, level) === bucket).length, 0, 0],
      );
      const range = { from, to: from + lengthMs };
      const { sum, rest } = new BucketSums(level, rows).cut(range);
      expect(rest.reduce((all, one) => all + within(one), sum.web)).toBe(within(range));
      expect(rest.every((one) => one.to - one.from > 0)).toBe(true);
    }),
  );
});
