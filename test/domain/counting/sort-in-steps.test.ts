import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortInSteps } from '../../../src/domain/counting/sort-in-steps.js';
import { finish } from '../../../src/shared/steps.js';

/** Equal keys tell whether the sort is stable. */
const pairsOf = (keys: readonly number[]) => keys.map((key, at) => [key, at] as const);
const byKey = ([a]: readonly [number, number], [b]: readonly [number, number]) => a - b;

test('sorts as at once, and keeps equal items in their order', () => {
  const sizes = fc.constantFrom(0, 1, 2, 999, 1_000, 1_001, 2_999, 3_000, 5_003);
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 1 << 30 }), fc.nat(), (size, different, seed) => {
      const items = pairsOf(Array.from({ length: size }, (_, at) => (at * 7_919 + seed) % different));
      expect(finish(sortInSteps(items, byKey))).toEqual(items.toSorted(byKey));
    }),
    { numRuns: 40 },
  );
});

test('takes as many steps as there are items of it in each of its rounds', () => {
  const counted = (size: number) => {
    let compared = 0;
    let most = 0;
    let before = 0;
    const steps = sortInSteps(
      Array.from({ length: size }, (_, at) => (at * 7_919) % size),
      (a, b) => {
        compared++;
        return a - b;
      },
    );
    while (!steps.next().done) {
      most = Math.max(most, compared - before);
      before = compared;
    }
    return Math.max(most, compared - before);
  };
  expect(counted(50_000)).toBeLessThan(20_000);
});
