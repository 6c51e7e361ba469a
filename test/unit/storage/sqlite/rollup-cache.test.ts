import { expect, test } from 'vitest';
import { dayMs } from '../../../../src/domain/time/duration.js';
import {
  asksBefore,
  asksBeforeTens,
  days,
  nothing,
  openKept,
  placeRows,
  sumsRows,
} from '../../../support/storage/rollup-cache.js';

test('days are cached from the 16th look-up on, and read once', () => {
  const { ask, reads } = openKept({ docs: [-1, 0, 1, dayMs, 2 * dayMs, 3 * dayMs] });
  const range = days(0, 3);
  expect(ask(range, asksBefore)).toEqual({ sum: nothing, rest: [range] });
  expect(reads()).toBe(0);
  for (let more = 0; more < 3; more++)
    expect(ask(range)).toEqual({ sum: { web: 1, api: 2, other: 1 }, rest: [] });
  expect(reads()).toBe(1);
});

test('the inside of a day is cached after as many look-ups, for each day and project separately', () => {
  const { ask, reads } = openKept({ docs: [0, 3, 5, dayMs + 3, dayMs + 5], other: [4] });
  ask(days(0, 1), asksBefore + 1);
  ask(days(0, 1), asksBefore + 1, 'other');
  const [early, late] = [
    { from: 2, to: 5 },
    { from: dayMs + 2, to: dayMs + 4 },
  ];
  expect(ask(early, asksBefore)).toEqual({ sum: nothing, rest: [early] });
  expect(reads()).toBe(2);
  expect(ask(early)).toEqual({ sum: { web: 0, api: 1, other: 0 }, rest: [] });
  expect(ask({ from: 5, to: dayMs - 1 })).toEqual({ sum: { web: 0, api: 0, other: 1 }, rest: [] });
  expect(reads()).toBe(3);
  expect(ask(late, asksBefore)).toEqual({ sum: nothing, rest: [late] });
  expect(ask(late)).toEqual({ sum: { web: 1, api: 0, other: 0 }, rest: [] });
  ask(early, asksBeforeTens + 1);
  expect(reads()).toBe(4);
  expect(ask(early, 1, 'other')).toEqual({ sum: nothing, rest: [early] });
  expect(ask(early, asksBefore, 'other')).toEqual({ sum: { web: 1, api: 0, other: 0 }, rest: [] });
});

test('both ends of a range come from the days that they are in, and its whole days from the sums', () => {
  const { ask } = openKept({ docs: [-2, -1, 0, dayMs - 1, dayMs, dayMs + 1] });
  const range = { from: -1, to: dayMs + 1 };
  const ends = [
    { from: -1, to: 0 },
    { from: dayMs, to: dayMs + 1 },
  ];
  const inside = { web: 1, api: 0, other: 1 };
  const found = ask(range, asksBefore + 1);
  expect(found.sum).toEqual(inside);
  expect(found.rest.map(({ from, to }) => [from, to + 0])).toEqual(ends.map(({ from, to }) => [from, to]));
  expect(ask(range, asksBefore)).toEqual({ sum: { web: 1, api: 2, other: 1 }, rest: [] });
});

test('a range across midnight without a whole day is split there', () => {
  const { ask, reads } = openKept({ docs: [dayMs - 1, dayMs, dayMs + 1] });
  const range = { from: dayMs - 1, to: dayMs + 1 };
  ask(days(0, 1), asksBefore);
  const pieces = [
    { from: dayMs - 1, to: dayMs },
    { from: dayMs, to: dayMs + 1 },
  ];
  expect(ask(range, asksBefore)).toEqual({ sum: nothing, rest: pieces });
  expect(reads()).toBe(1);
  expect(ask(range)).toEqual({ sum: { web: 1, api: 1, other: 0 }, rest: [] });
  expect(reads()).toBe(3);
});

test('a range that begins or ends at midnight needs one day', () => {
  const { ask, reads } = openKept({ docs: [0, 1, 2, 3, 4, 5].map((day) => day * dayMs + 5) });
  ask(days(0, 1), asksBefore);
  for (let asks = 0; asks < asksBefore; asks++) {
    for (const range of [
      { from: dayMs + 1, to: 2 * dayMs },
      { from: 4 * dayMs, to: 5 * dayMs - 1 },
    ])
      expect(ask(range)).toEqual({ sum: nothing, rest: [range] });
  }
  // None of the days before and behind was asked for.
  for (const day of [0, 2, 3, 5]) {
    const range = { from: day * dayMs + 1, to: day * dayMs + 2 };
    expect(ask(range)).toEqual({ sum: nothing, rest: [range] });
  }
  expect(reads()).toBe(1);
});

test('at most 4,000 days are cached', () => {
  const times = Array.from({ length: 4_001 }, (_, day) => day * dayMs);
  const { ask } = openKept({ docs: times.slice(1), long: times });
  expect(ask(days(0, 5_000), asksBefore + 1)).toMatchObject({ rest: [] });
  expect(ask(days(0, 5_000), asksBefore + 5, 'long')).toEqual({ sum: nothing, rest: [days(0, 5_000)] });
});

test('at most 4,000 milliseconds of a day are cached, or else its ten seconds', () => {
  const times = Array.from({ length: 4_001 }, (_, at) => 20_000 - at);
  const { ask } = openKept({ docs: times.slice(1), hot: times });
  const range = { from: 19_999, to: 30_001 };
  expect(ask(range, 2 * asksBefore + 1)).toMatchObject({ sum: { web: 1 }, rest: [] });
  expect(ask(range, asksBefore + asksBeforeTens, 'hot')).toEqual({ sum: nothing, rest: [range] });
  expect(ask(range, 1, 'hot')).toEqual({
    sum: { web: 1, api: 0, other: 0 },
    // And the other end is in ten seconds without queries, of which all is known.
    rest: [{ from: 19_999, to: 20_000 }],
  });
});

test('for a busy day, the insides of the ten seconds that ranges end in are cached separately', () => {
  const times = Array.from({ length: 4_001 }, (_, at) => 20_000 - at);
  const { ask, reads } = openKept({ docs: times });
  const range = { from: 19_999, to: 30_001 };
  // Whole days, and then that day.
  ask(range, asksBefore + asksBeforeTens + 1);
  expect(reads()).toBe(3);
  expect(ask(range, asksBefore - 1).rest).toHaveLength(1);
  expect(reads()).toBe(3);
  expect(ask(range)).toEqual({ sum: { web: 1, api: 1, other: 0 }, rest: [] });
  expect(reads()).toBe(4);
  expect(ask({ from: 15_999, to: 16_002 })).toEqual({ sum: { web: 1, api: 1, other: 0 }, rest: [] });
  const over = { from: 19_998, to: 20_001 };
  expect(ask(over, asksBefore)).toEqual({
    sum: { web: 0, api: 1, other: 1 },
    rest: [{ from: 20_000, to: 20_001 }],
  });
  expect(ask(over)).toEqual({ sum: { web: 1, api: 1, other: 1 }, rest: [] });
  expect(reads()).toBe(5);
});

test('each entry takes space, and nothing is read without space for it', () => {
  const times = Array.from({ length: 4_001 }, (_, at) => 20_000 - at);
  const range = { from: 19_999, to: 20_001 };
  const restOf = (rowsMax: number) =>
    openKept({ rowsMax, docs: times }).ask(range, 2 * asksBeforeTens).rest.length;
  const day = placeRows + 1 + sumsRows + placeRows;
  const tens = day + 2 + sumsRows + 2 * placeRows;
  const ten = tens + 4_000 + sumsRows;
  expect([day, day + 1, tens, tens + 1, ten, ten + 1].map(restOf)).toEqual([1, 2, 2, 1, 1, 0]);
});

test('days without queries need no entry', () => {
  const { ask, reads } = openKept({ rowsMax: 2 * placeRows + 1 + sumsRows + 1, docs: [5] });
  ask(days(0, 1), asksBefore + 1);
  for (let day = 1; day < 100; day++)
    expect(ask({ from: day * dayMs + 1, to: day * dayMs + 2 })).toEqual({ sum: nothing, rest: [] });
  expect(ask({ from: 5, to: 6 }, asksBefore + 1)).toEqual({ sum: { web: 1, api: 0, other: 0 }, rest: [] });
  expect(reads()).toBe(2);
});

test('after an error, the next look-up reads again', () => {
  const { ask, db } = openKept({ docs: [0] });
  ask(days(0, 1), asksBefore);
  db.exec('ALTER TABLE type_counter RENAME TO away');
  expect(() => ask(days(0, 1))).toThrow('no such table');
  db.exec('ALTER TABLE away RENAME TO type_counter');
  expect(ask(days(0, 1))).toEqual({ sum: { web: 1, api: 0, other: 0 }, rest: [] });
});

test('all 8,640 buckets of ten seconds of a day can be cached', () => {
  const times = Array.from({ length: 8_640 }, (_, at) => 10_000 * at + 5);
  const { ask } = openKept({ docs: times });
  expect(ask({ from: 0, to: dayMs - 10_000 }, asksBefore + asksBeforeTens + 1)).toMatchObject({ rest: [] });
});

test('a full cache takes no more rows', () => {
  const rowsMax = 2 * placeRows + 3 + sumsRows;
  const { ask, reads, looks } = openKept({ rowsMax, docs: [0, dayMs, 2 * dayMs], other: [0] });
  const within = { from: 1, to: 2 };
  for (const version of [1, 2]) {
    ask(days(0, 3), asksBefore, 'docs', version);
    ask(days(0, 3), asksBefore, 'other', version);
    expect(ask(days(0, 3), 1, 'docs', version).rest).toEqual([]);
    expect(ask(days(0, 3), 3 * asksBefore, 'other', version).rest).toEqual([days(0, 3)]);
    expect(ask(within, 3 * asksBefore, 'docs', version).rest).toEqual([within]);
    expect(ask(days(0, 3), 3 * asksBefore, 'third', version).rest).toEqual([days(0, 3)]);
    expect(reads()).toBe(version);
    // Nothing is cached of the third project, so nothing is compared with the file.
    expect(looks()).toBe(2 * version);
  }
});
