import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withTotal } from '../../../src/domain/counting/counts.js';
import { createCounter, numbersBetween, tile } from '../../../src/domain/counting/tiles.js';

const moment = fc.integer({ min: -20, max: 20 });
const inOrder = (a: number, b: number) => a - b;

test('refuses bounds that are not tiles, and tiles without a number', () => {
  expect(() => numbersBetween([0, 5], [0, 10], [1])).toThrow('each bound is one of the tiles');
  expect(() => numbersBetween([0, 10], [0, 5, 10], [1])).toThrow('each tile has a number');
});

test('the counts of ranges that may overlap are those of a naive recount', () => {
  fc.assert(
    fc.property(
      fc.array(moment, { minLength: 2, maxLength: 6 }),
      fc.tuple(moment, moment),
      fc.array(moment),
      (some, others, times) => {
        const bounds = [...some].sort(inOrder);
        const [from = 0, to = 0] = [...others].sort(inOrder);
        const tiles = tile([...bounds, from, to]);
        const count = (start: number, end: number) =>
          withTotal({ web: times.filter((time) => time >= start && time < end).length, api: 0, other: 0 });
        const counted = tiles.slice(1).map((end, at) => count(tiles[at] ?? end, end));
        expect(createCounter(tiles, counted)({ from, to })).toEqual(count(from, to));
        const numbers = numbersBetween(
          bounds,
          tiles,
          counted.map(({ web }) => web),
        );
        expect(numbers).toEqual(bounds.slice(1).map((end, at) => count(bounds[at] ?? end, end).web));
      },
    ),
  );
});
