import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BUCKET_WIDTHS_MS,
  bucketAt,
  bucketWidthMs,
  DAY_LEVEL,
  splitIntoBuckets,
} from '../../../src/domain/counting/buckets.js';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { randomCases } from '../../support/volume.js';

const time = fc.oneof(
  fc.integer({ min: -100_000_000, max: 100_000_000 }),
  fc.integer({ min: ALL_TIME.from, max: ALL_TIME.to }),
  fc
    .tuple(
      fc.constantFrom(...BUCKET_WIDTHS_MS),
      fc.integer({ min: -2000, max: 2000 }),
      fc.integer({ min: -1, max: 1 }),
    )
    .map(([width, number, beside]) => width * number + beside),
);

describe('splitIntoBuckets', () => {
  test('returns nothing for an empty range', () => {
    expect(splitIntoBuckets({ from: 5, to: 5 })).toEqual([]);
  });

  test('covers exactly the range, without gaps or overlaps', () => {
    fc.assert(
      fc.property(time, time, (a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const spans = splitIntoBuckets({ from, to })
          .map(({ level, first, end }) => [first * bucketWidthMs(level), end * bucketWidthMs(level)] as const)
          .sort(([x], [y]) => x - y);
        let reached = from;
        for (const [start, end] of spans) {
          expect(start).toBe(reached);
          expect(end).toBeGreaterThan(start);
          reached = end;
        }
        expect(reached).toBe(to);
      }),
      { numRuns: randomCases(5000) },
    );
  });

  test('limits the number of buckets for any range', () => {
    const bucketsMax = (level: number) =>
      level + 1 < BUCKET_WIDTHS_MS.length
        ? 2 * (bucketWidthMs(level + 1) / bucketWidthMs(level) - 1)
        : Number.POSITIVE_INFINITY;
    fc.assert(
      fc.property(time, time, (a, b) => {
        const segments = splitIntoBuckets({ from: Math.min(a, b), to: Math.max(a, b) });
        expect(segments.length).toBeLessThanOrEqual(2 * BUCKET_WIDTHS_MS.length - 1);
        for (const level of BUCKET_WIDTHS_MS.keys()) {
          const buckets = segments
            .filter((one) => one.level === level)
            .reduce((sum, one) => sum + one.end - one.first, 0);
          expect(buckets).toBeLessThanOrEqual(bucketsMax(level));
        }
      }),
      { numRuns: randomCases(5000) },
    );
  });

  test('returns one segment for all time', () => {
    expect(splitIntoBuckets(ALL_TIME)).toHaveLength(1);
  });
});

test('each width divides the next, and 15 minutes is one of them', () => {
  for (const [level, width] of BUCKET_WIDTHS_MS.entries()) {
    if (level > 0) expect(width % bucketWidthMs(level - 1)).toBe(0);
  }
  expect(BUCKET_WIDTHS_MS).toContain(15 * 60 * 1000);
  expect(bucketWidthMs(DAY_LEVEL)).toBe(dayMs);
});

test('a time before 1970 is in the bucket that starts before it', () => {
  expect(BUCKET_WIDTHS_MS.map((_, level) => bucketAt(-1, level))).toEqual(BUCKET_WIDTHS_MS.map(() => -1));
});

test('an unknown level is an error', () => {
  expect(() => bucketWidthMs(BUCKET_WIDTHS_MS.length)).toThrow(RangeError);
});
