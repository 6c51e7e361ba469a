import { describe, expect, test } from 'vitest';
import { BUCKET_WIDTHS_MS } from '../../../src/domain/counting/buckets.js';
import { parseDateRange } from '../../../src/domain/counting/date-bounds.js';
import { ALL_TIME, EARLIEST_MS, LATEST_MS } from '../../../src/domain/counting/date-range.js';

describe('a range', () => {
  test('with two invalid bounds has a message for each', () => {
    expect(parseDateRange({ from: '2026-02-30', to: '' })).toEqual({
      ok: false,
      problems: [expect.stringMatching(/^dateFrom: /), expect.stringMatching(/^dateTo: is empty/)],
    });
  });

  test('with one invalid bound has one message', () => {
    const problems = [expect.stringMatching(/^dateTo: /)];
    expect(parseDateRange({ from: '2026-01-01', to: 'x' })).toEqual({ ok: false, problems });
  });

  test('that ends before it starts is refused', () => {
    expect(parseDateRange({ from: '2026-01-02', to: '2026-01-01' }, { from: '--from', to: '--to' })).toEqual({
      ok: false,
      problems: [expect.stringMatching(/^--from: is later than --to/)],
    });
  });

  test('with equal bounds is empty', () => {
    expect(parseDateRange({ from: '2026-01-01', to: '2026-01-01T00:00:00Z' })).toEqual({
      ok: true,
      value: { from: 1_767_225_600_000, to: 1_767_225_600_000 },
    });
  });

  test('without bounds covers every time that can be written, on edges of every bucket width', () => {
    expect(parseDateRange({})).toEqual({ ok: true, value: ALL_TIME });
    expect(EARLIEST_MS).toBeLessThan(Date.UTC(-1, 11, 30));
    expect(LATEST_MS).toBeGreaterThan(Date.UTC(10_000, 0, 2));
    for (const width of BUCKET_WIDTHS_MS) {
      expect(Math.abs(EARLIEST_MS % width)).toBe(0);
      expect(LATEST_MS % width).toBe(0);
    }
  });
});
