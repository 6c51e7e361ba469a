/** Retention of rows, and verification of counters whose rows are gone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BUCKET_WIDTHS_MS,
  bucketAt,
  bucketWidthMs,
  DAY_LEVEL,
} from '../../../src/domain/counting/buckets.js';
import { planVerification } from '../../../src/domain/counting/verification.js';
import { retentionDaysMax } from '../../../src/domain/limits.js';
import { nextRowsFrom, oldQueriesError, parseRetentionDays } from '../../../src/domain/projects/retention.js';
import { dayMs, hourMs } from '../../../src/domain/time/duration.js';
import { words } from '../../support/words.js';

describe('a retention', () => {
  test.each([...words(`0 -1 1.5 1e3 1d 0x10 None never ${retentionDaysMax + 1}`), '', ' 1', '1 '])(
    'of %j is refused',
    (text) => {
      expect(parseRetentionDays(text)).toEqual({
        ok: false,
        problems: [expect.stringMatching(/is not a whole number of days from 1 to 36500, or none$/)],
      });
    },
  );

  test.each([
    ['none', null],
    ['1', 1],
    ['030', 30],
    [`${retentionDaysMax}`, retentionDaysMax],
  ])('of %j is %j', (text, days) => {
    expect(parseRetentionDays(text)).toEqual({ ok: true, value: days });
  });
});

describe('the time from which rows are kept', () => {
  const nowMs = Date.UTC(2026, 5, 15, 12);
  const none = { retentionDays: null, lastCounted: null };

  test('does not change if rows are kept forever', () => {
    expect(nextRowsFrom({ ...none, rowsFrom: null }, nowMs)).toBeUndefined();
    expect(nextRowsFrom({ ...none, rowsFrom: 0 }, nowMs)).toBeUndefined();
  });

  test('is the start of a UTC day, and moves with the next day only', () => {
    const rowsFrom = Date.UTC(2026, 5, 14);
    expect(nextRowsFrom({ ...none, retentionDays: 1, rowsFrom: null }, nowMs)).toBe(rowsFrom);
    expect(nextRowsFrom({ ...none, retentionDays: 1, rowsFrom }, nowMs)).toBeUndefined();
    expect(nextRowsFrom({ ...none, retentionDays: 1, rowsFrom }, Date.UTC(2026, 5, 16) - 1)).toBeUndefined();
    expect(nextRowsFrom({ ...none, retentionDays: 1, rowsFrom }, Date.UTC(2026, 5, 16))).toBe(
      rowsFrom + dayMs,
    );
  });

  test('moves back from the future only, to the next full hour or behind the last query before it', () => {
    const ahead = Date.UTC(2036, 5, 14);
    const later = Date.UTC(2026, 5, 15, 14, 15);
    const lastCounted = bucketAt(later, 2);
    for (const retentionDays of [null, 1, 30]) {
      const moved = (rowsFrom: number, now: number, last: number | null) =>
        nextRowsFrom({ retentionDays, rowsFrom, lastCounted: last }, now);
      expect(moved(ahead, nowMs, null)).toBe(nowMs);
      expect(moved(ahead, nowMs + 1, null)).toBe(nowMs + hourMs);
      expect(moved(nowMs + hourMs, nowMs + 1, null)).toBeUndefined();
      expect(moved(ahead, nowMs, bucketAt(0, 2))).toBe(nowMs);
      expect(moved(ahead, nowMs, lastCounted)).toBe(later + 900_000);
      expect(moved(later + 900_000, nowMs, lastCounted)).toBeUndefined();
    }
  });

  test('moves back from nothing that has passed, and keeps at least the days of the setting', () => {
    const days = fc.integer({ min: 1, max: retentionDaysMax });
    const time = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(days, fc.option(time), time, (retentionDays, rowsFrom, now) => {
        const next = nextRowsFrom({ retentionDays, rowsFrom, lastCounted: null }, now);
        if (rowsFrom !== null && rowsFrom > now) {
          expect(next ?? rowsFrom).toBeLessThanOrEqual(Math.min(rowsFrom, now + hourMs));
          return;
        }
        if (next === undefined) {
          // It is already there, or later.
          expect(now - (rowsFrom ?? Number.NEGATIVE_INFINITY)).toBeLessThan((retentionDays + 1) * dayMs);
          return;
        }
        expect(next).toBeGreaterThan(rowsFrom ?? Number.NEGATIVE_INFINITY);
        expect(now - next).toBeGreaterThanOrEqual(retentionDays * dayMs);
        expect(now - next).toBeLessThan((retentionDays + 1) * dayMs);
        expect(Math.abs(next % bucketWidthMs(DAY_LEVEL))).toBe(0);
      }),
    );
  });
});

describe('a batch', () => {
  const rowsFrom = Date.UTC(2026, 0, 1);
  const details = (ids: readonly string[], timesMs: readonly number[]) =>
    oldQueriesError(ids, timesMs, rowsFrom)?.details.map((one) => one.slice(0, one.indexOf(':')));

  test('is accepted if all its queries are recent enough', () => {
    expect(oldQueriesError(['a', 'b'], [-1, 1], null)).toBeUndefined();
    expect(oldQueriesError(['a', 'b'], [rowsFrom, rowsFrom + 1], rowsFrom)).toBeUndefined();
    expect(oldQueriesError([], [], rowsFrom)).toBeUndefined();
  });

  test('with older queries is refused, with the index of each', () => {
    expect(oldQueriesError(['a', 'b'], [rowsFrom, rowsFrom - 1], rowsFrom)).toMatchObject({
      code: 'invalid',
      details: [
        'queries[1]: occurredAt: lies before 2026-01-01T00:00:00.000Z, from when on the project keeps rows',
      ],
    });
    expect(details(['a', 'b', 'c'], [0, rowsFrom, 1])).toEqual(['queries[0]', 'queries[2]']);
  });

  test('is judged by the first occurrence of each id', () => {
    expect(details(['a', 'a'], [rowsFrom, 0])).toBeUndefined();
    expect(details(['a', 'a'], [0, rowsFrom])).toEqual(['queries[0]']);
    expect(details(['a', 'a'], [0, 0])).toEqual(['queries[0]']);
  });
});

describe('the plan of a verification', () => {
  const levels = [...BUCKET_WIDTHS_MS.keys()];
  const anything = { level: fc.constantFrom(...levels), rowsFrom: fc.integer({ min: -4e12, max: 4e12 }) };

  test('recounts every bucket if every query has its row', () => {
    const never = Number.MIN_SAFE_INTEGER;
    for (const level of levels) {
      const ratio = level === 0 ? 1 : bucketWidthMs(level) / bucketWidthMs(level - 1);
      expect(planVerification(level, null)).toEqual({
        readsRows: true,
        firstBucket: never,
        fromMs: never,
        ratio,
        narrowerEnd: never,
      });
    }
  });

  test('compares every bucket with a narrower level that is right', () => {
    for (const level of levels) {
      const plan = planVerification(level, null, true);
      if (level === 0) expect(plan).toEqual(planVerification(level, null));
      else expect(plan).toMatchObject({ readsRows: false, narrowerEnd: Number.MAX_SAFE_INTEGER });
    }
  });

  test('starts with the first bucket that has all its rows', () => {
    fc.assert(
      fc.property(anything.level, anything.rowsFrom, (level, rowsFrom) => {
        const { firstBucket, fromMs } = planVerification(level, rowsFrom);
        expect(firstBucket * bucketWidthMs(level)).toBe(fromMs);
        expect(fromMs).toBeGreaterThanOrEqual(rowsFrom);
        expect(fromMs - bucketWidthMs(level)).toBeLessThan(rowsFrom);
      }),
    );
  });

  test('compares earlier buckets with the next narrower level', () => {
    fc.assert(
      fc.property(anything.level, anything.rowsFrom, (level, rowsFrom) => {
        const { fromMs, ratio, narrowerEnd } = planVerification(level, rowsFrom);
        if (level === 0) {
          expect({ ratio, narrowerEnd }).toEqual({ ratio: 1, narrowerEnd: Number.MIN_SAFE_INTEGER });
          return;
        }
        expect(ratio * bucketWidthMs(level - 1)).toBe(bucketWidthMs(level));
        expect(narrowerEnd).toBe(bucketAt(fromMs, level - 1));
      }),
    );
  });
});
