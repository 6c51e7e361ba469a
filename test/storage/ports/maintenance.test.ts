import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CounterDifference, inOrderOfBuckets } from '../../../src/storage/ports/maintenance.js';

const nothing = { web: 0, api: 0, other: 0 };
const difference = (
  projectId: string,
  level: number,
  bucket: number,
  caller?: string,
): CounterDifference => ({
  projectId,
  level,
  bucket,
  ...(caller === undefined ? {} : { caller }),
  counted: nothing,
  recounted: nothing,
});

test('sorts differences by project, level, bucket and caller, those without a caller first', () => {
  const sorted = [
    difference('a', 0, 7),
    difference('a', 0, 7, 'A'),
    difference('a', 0, 7, 'slack'),
    difference('a', 0, 7, 'zulip'),
    difference('a', 0, 12),
    difference('a', 3, -20),
    difference('a', 3, 5, 'A'),
    difference('b', 0, 1),
    difference('b', 2, 0),
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray(sorted), (some) => {
      expect(some.toSorted(inOrderOfBuckets)).toEqual(sorted.filter((one) => some.includes(one)));
    }),
  );
  for (const one of sorted) expect(inOrderOfBuckets(one, { ...one })).toBe(0);
});
