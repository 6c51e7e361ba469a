import { expect, test } from 'vitest';
import { importsOf, importsOfCounts, reachesBack } from '../../../src/domain/history/import-range.js';
import { dayMs } from '../../../src/domain/time/duration.js';

const at = (day: number, occurredAt: number, sender = 'import:a.csv') => ({
  ...{ id: `${occurredAt}`, caller: 'web', occurredAt, receipt: { day, sender } },
});

test('only what files brought is an import', () => {
  const key = { day: 3, sender: 'key:a' };
  expect(importsOf([at(3, 5, 'key:import:'), at(3, 6, 'telemetry:k:import'), at(3, 7, 'copy')], key)).toEqual(
    [],
  );
  expect(importsOf([{ id: 'a', caller: 'web', occurredAt: 5 }], key)).toEqual([]);
  expect(importsOf([{ id: 'a', caller: 'web', occurredAt: 5, receipt: null }], undefined)).toEqual([]);
});

test('queries that all came with one import reach from its first to its last', () => {
  const receipt = { day: 4, sender: 'import:b.csv' };
  const queries = [5, -2, 9, 0].map((occurredAt) => ({ id: `${occurredAt}`, caller: 'web', occurredAt }));
  expect(importsOf(queries, receipt)).toEqual([{ ...receipt, first: -2, last: 9 }]);
  expect(importsOf([], receipt)).toEqual([]);
});

test('an import reaches from its first to its last query, by the day of its arrival', () => {
  const shared = { day: 4, sender: 'import:b.csv' };
  const own = [at(3, 9), at(3, -7), at(5, 1), at(3, 8, 'import:"é😀:.csv')];
  expect(importsOf([...own, { id: 'b', caller: 'web', occurredAt: 2 }], shared)).toEqual([
    { day: 3, sender: 'import:a.csv', first: -7, last: 9 },
    { day: 5, sender: 'import:a.csv', first: 1, last: 1 },
    { day: 3, sender: 'import:"é😀:.csv', first: 8, last: 8 },
    { day: 4, sender: 'import:b.csv', first: 2, last: 2 },
  ]);
});

test('counts of zero are in no import, and the last moment of a span is before its end', () => {
  const count = { source: 'old', caller: 'web', start: 0, end: 10, count: 1 };
  const counts = [
    count,
    { ...count, start: 10, end: 20, count: 0 },
    { ...count, start: 30, end: 40, day: 9 },
  ];
  expect(importsOfCounts(counts, 4)).toEqual([
    { day: 4, sender: 'counts:old', first: 0, last: 9 },
    { day: 9, sender: 'counts:old', first: 30, last: 39 },
  ]);
  expect(importsOfCounts([count], undefined)).toEqual([]);
});

test.each([
  [dayMs * 9 - 1, true],
  [dayMs * 9, false],
  [dayMs * 10, false],
])('what arrives on day 10 and begins at %d reaches back: %s', (first, expected) => {
  expect(reachesBack({ day: 10, sender: 'import:a', first, last: first })).toBe(expected);
});
