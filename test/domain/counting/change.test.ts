import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeChange, percentOf } from '../../../src/domain/counting/change.js';

const count = fc.integer({ min: 1, max: 1_000_000_000 });

describe('a percentage', () => {
  test('is 0% or 100% only if it is exactly that', () => {
    fc.assert(
      fc.property(count, count, (part, whole) => {
        expect(/^0(\.0+)?%$/.test(percentOf(part, whole))).toBe(false);
        expect(/^100(\.0+)?%$/.test(percentOf(part, whole))).toBe(part === whole);
      }),
    );
    for (const part of [999_999_999, 1_000_000_001])
      expect(percentOf(part, 1_000_000_000)).not.toMatch(/^100(\.0+)?%$/);
  });

  test.each([
    [0, 10, '0%'],
    [1, 3, '33%'],
    [4, 100, '4.0%'],
    [1, 100_000, '<0.1%'],
    [997, 1_000, '99.7%'],
    [9_996, 10_000, '99.96%'],
    [5, 5, '100%'],
    [1_004, 1_000, '100.4%'],
    [14_360, 1_000, '1,436%'],
  ])('%i of %i is %s', (part, whole, text) => {
    expect(percentOf(part, whole)).toBe(text);
  });
});

describe('a change', () => {
  const recorded = {
    comparedFrom: '2026-05-03T00:00:00.000+02:00',
    recordingBegan: '2026-05-03T00:00:00.000+02:00',
  };

  test.each([
    [5, 0, 'new', 'new'],
    [5, 5, 'same', 'no change'],
    [112, 100, 'up', '12%'],
    [0, 100, 'down', '100%'],
    [1, 100_000, 'down', '99.999%'],
    [1_005, 1_000, 'up', '0.5%'],
    [10_004, 10_000, 'up', '<0.1%'],
    [30, 10, 'up', '200%'],
  ] as const)('to %i from %i is %s by %s', (now, before, direction, text) => {
    expect(describeChange(now, before, recorded)).toEqual({ direction, text });
  });

  test('from nothing to nothing is none', () => {
    expect(describeChange(0, 0, recorded)).toBeNull();
  });

  test('is unknown if recording began within the time before', () => {
    const began = { ...recorded, recordingBegan: '2026-05-03T00:00:00.001+02:00', locale: 'en-GB' };
    expect(describeChange(5, 3, began)).toEqual({
      direction: 'unknown',
      text: 'recording began on 3 May 2026',
    });
  });
});
