import { describe, expect, test } from 'vitest';
import { type Choice, isChoice, rangeParameters } from '../../../dashboard/src/time/choice.js';

describe('a range between two ends', () => {
  test.each([
    ['', ''],
    ['2026-06-01', ''],
    ['2026-06-02', '2026-06-01'],
    ['2026-02-30', '2026-03-01'],
    ['2026-06-01', '2026-06-31'],
    ['2026-06-01T10:00', '2026-06-01T10:00'],
    ['2026-06-01T24:00', '2026-06-02T10:00'],
    ['2026-06-01T9:00', '2026-06-02T10:00'],
    ['2026-06-01T09:00:00', '2026-06-02T10:00'],
    ['2026-06-01T09:00Z', '2026-06-02T10:00Z'],
    ['0', '1'],
  ])('is not from %j to %j', (from, to) => {
    expect(isChoice({ from, to })).toBe(false);
  });

  test.each([
    [
      { from: '2026-06-01', to: '2026-06-01' },
      { dateFrom: '2026-06-01', dateTo: '2026-06-02' },
    ],
    [
      { from: '2026-06-01T09:15', to: '2026-06-01T18:30' },
      { dateFrom: '2026-06-01T09:15:00', dateTo: '2026-06-01T18:30:00' },
    ],
    [
      { from: '2026-06-01', to: '2026-06-01T18:30' },
      { dateFrom: '2026-06-01', dateTo: '2026-06-01T18:30:00' },
    ],
  ] satisfies [Choice, object][])('%j is sent with its end excluded', (choice, parameters) => {
    expect(isChoice(choice)).toBe(true);
    expect(rangeParameters(choice)).toEqual(parameters);
  });
});

test('a period is sent by its name', () => {
  expect(isChoice({ period: 'all' })).toBe(true);
  expect(rangeParameters({ period: 'last-month' })).toEqual({ period: 'last-month' });
});
