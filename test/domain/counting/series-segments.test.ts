import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketWidthMs, DAY_LEVEL } from '../../../src/domain/counting/buckets.js';
import type { TypeCounts } from '../../../src/domain/counting/counts.js';
import { combineSeriesCounts, splitSeriesIntoBuckets } from '../../../src/domain/counting/series-segments.js';
import { CALLER_TYPES, type CallerType } from '../../../src/domain/queries/caller.js';
import { dayMs, hourMs } from '../../../src/domain/time/duration.js';
import { finish } from '../../../src/shared/steps.js';

interface Query {
  readonly at: number;
  readonly type: CallerType;
}

/** The sums that a store with these queries returns. Sums without queries are left out. */
function sumSegments(bounds: readonly number[], queries: readonly Query[]): Map<number, TypeCounts> {
  const sums = new Map<number, TypeCounts>();
  for (const { sum, level, first, end } of finish(splitSeriesIntoBuckets(bounds))) {
    const width = bucketWidthMs(level);
    for (const { at, type } of queries) {
      if (at < first * width || at >= end * width) continue;
      const before = sums.get(sum) ?? { web: 0, api: 0, other: 0 };
      sums.set(sum, { ...before, [type]: before[type] + 1 });
    }
  }
  return sums;
}

const startMs = fc.oneof(
  fc.constantFrom(0, Date.UTC(2026, 0, 1), Date.UTC(1969, 6, 20)),
  fc.integer({ min: -2 * dayMs, max: 2 * dayMs }),
);
/** Lengths of local hours and days, also with clock changes, and other lengths. */
const lengthMs = fc.oneof(
  fc.constantFrom(hourMs, 23 * hourMs, dayMs, 25 * hourMs, 7 * dayMs),
  fc.nat(2 * dayMs),
  fc.constant(0),
);
const boundLists = fc.tuple(startMs, fc.array(lengthMs, { maxLength: 8 })).map(([start, lengths]) => {
  let bound = start;
  return [bound, ...lengths.map((length) => (bound += length))];
});
const scenario = boundLists.chain((bounds) => {
  const at = fc.oneof(
    fc.integer({ min: (bounds[0] ?? 0) - dayMs, max: (bounds.at(-1) ?? 0) + dayMs }),
    fc
      .tuple(fc.constantFrom(...bounds), fc.integer({ min: -1, max: 1 }))
      .map(([bound, beside]) => bound + beside),
  );
  return fc.record({
    bounds: fc.constant(bounds),
    queries: fc.array(fc.record({ at, type: fc.constantFrom(...CALLER_TYPES) }), { maxLength: 30 }),
  });
});

describe('a series that is split into segments', () => {
  test('has no ranges if it has fewer than two bounds', () => {
    expect(finish(combineSeriesCounts([], new Map()))).toEqual([]);
    expect(finish(combineSeriesCounts([5], new Map()))).toEqual([]);
    expect(finish(splitSeriesIntoBuckets([]))).toEqual([]);
  });

  test('has the counts of a naive recount in each range', () => {
    fc.assert(
      fc.property(scenario, ({ bounds, queries }) => {
        const counts = finish(combineSeriesCounts(bounds, sumSegments(bounds, queries)));
        const expected = bounds.slice(1).map((to, at) => {
          const within = queries.filter((one) => one.at >= (bounds[at] ?? to) && one.at < to);
          const of = (type: CallerType) => within.filter((one) => one.type === type).length;
          return { web: of('web'), api: of('api'), other: of('other'), total: within.length };
        });
        expect(counts).toEqual(expected);
      }),
    );
  });

  test('of local days has one segment per day and one per shifted bound', () => {
    const zoneMs = 2 * hourMs;
    const bounds = Array.from({ length: 31 }, (_, day) => Date.UTC(2026, 2, 1 + day) - zoneMs);
    const segments = finish(splitSeriesIntoBuckets(bounds));
    expect(
      segments.filter(({ sum }) => sum < 30).map(({ level, first, end }) => [level, end - first]),
    ).toEqual(Array(30).fill([DAY_LEVEL, 1]));
    expect(segments.filter(({ sum }) => sum >= 30).map(({ sum }) => sum)).toEqual(
      Array.from({ length: 31 }, (_, at) => 30 + at),
    );
  });

  test('is split by its median range: a few short ranges do not add segments to the others', () => {
    const day = (number: number) => Date.UTC(2026, 2, number) - 2 * hourMs;
    const bounds = [day(1), day(2), day(3), day(3) + 1, day(3) + 2, day(4), day(5), day(6)];
    const segments = finish(splitSeriesIntoBuckets(bounds)).filter(({ sum }) => sum < bounds.length - 1);
    expect(segments).toHaveLength(5);
    expect(segments.map(({ level }) => level)).toEqual(Array(5).fill(DAY_LEVEL));
  });
});
