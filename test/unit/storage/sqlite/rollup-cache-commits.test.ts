/** Which cached sums stay valid after a commit. */
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

const range = { from: 0, to: 3 * dayMs + 1 };

test('a project stays cached if nothing was recorded in it', () => {
  const { ask, record, reads } = openKept({ docs: [0, dayMs, 3 * dayMs], other: [0] });
  const known = ask(range, 2 * asksBefore + 1);
  expect(known).toEqual({ sum: { web: 1, api: 1, other: 1 }, rest: [] });
  const before = reads();
  record('other', 0, dayMs, 3 * dayMs);
  expect(ask(range, 1, 'docs', 2)).toEqual(known);
  expect(ask(range, 1, 'docs', 3)).toEqual(known);
  expect(reads()).toBe(before);
});

test('look-ups go on counting if nothing was recorded in the project', () => {
  const { ask, reads } = openKept({ docs: [0, dayMs, 3 * dayMs] });
  for (let version = 1; version <= asksBefore; version++)
    expect(ask(range, 1, 'docs', version).rest).toEqual([range]);
  expect(reads()).toBe(0);
  expect(ask(range, 1, 'docs', asksBefore + 1).sum).toEqual({ web: 1, api: 1, other: 0 });
  expect(reads()).toBe(1);
});

test.each([-40 * dayMs, 0, 3 * dayMs, 70 * dayMs])(
  'its days are dropped if a query was recorded at %i',
  (time) => {
    const { ask, record, reads } = openKept({ docs: [0, 1, 3 * dayMs] });
    ask(days(0, 3), asksBefore + 1);
    record('docs', time);
    expect(ask(days(0, 3), asksBefore, 'docs', 2)).toEqual({ sum: nothing, rest: [days(0, 3)] });
    expect(reads()).toBe(1);
    const web = time === 0 ? 2 : 1;
    expect(ask(days(0, 3), 1, 'docs', 2)).toEqual({ sum: { web, api: 1, other: 0 }, rest: [] });
    expect(reads()).toBe(2);
  },
);

test('the inside of a day stays cached if nothing was recorded in it', () => {
  const { ask, record, reads } = openKept({ docs: [5, dayMs, 3 * dayMs + 5] });
  const [early, late] = [
    { from: 4, to: 6 },
    { from: 3 * dayMs + 4, to: 3 * dayMs + 6 },
  ];
  for (const one of [early, late]) ask(one, 2 * asksBefore + 1);
  record('docs', 3 * dayMs + 4);
  ask(days(0, 1), asksBefore + 1, 'docs', 2);
  const before = reads();
  expect(ask(early, 1, 'docs', 2)).toEqual({ sum: { web: 1, api: 0, other: 0 }, rest: [] });
  expect(ask(late, asksBefore, 'docs', 2)).toEqual({ sum: nothing, rest: [late] });
  expect(reads()).toBe(before);
  expect(ask(late, 1, 'docs', 2)).toEqual({ sum: { web: 1, api: 0, other: 1 }, rest: [] });
  expect(reads()).toBe(before + 1);
});

test('ten seconds of a busy day stay cached if nothing was recorded in them', () => {
  const { ask, record, reads } = openKept({ docs: Array.from({ length: 4_001 }, (_, at) => 20_000 - at) });
  const [early, late] = [
    { from: 16_500, to: 16_502 },
    { from: 19_998, to: 20_001 },
  ];
  for (const one of [early, late]) ask(one, 2 * asksBefore + asksBeforeTens + 2);
  record('docs', 20_000);
  ask(early, asksBefore + asksBeforeTens + 1, 'docs', 2);
  const before = reads();
  expect(ask(early, 1, 'docs', 2)).toEqual({ sum: { web: 0, api: 1, other: 1 }, rest: [] });
  expect(reads()).toBe(before);
  expect(ask(late, asksBefore, 'docs', 2).rest).toHaveLength(1);
  expect(ask(late, 1, 'docs', 2)).toEqual({ sum: { web: 2, api: 1, other: 1 }, rest: [] });
  expect(reads()).toBe(before + 1);
});

test('a new project with the same id and number of queries uses no old entries', () => {
  const { ask, remove, record } = openKept({ docs: [0, 1, dayMs + 1] });
  const within = { from: 1, to: 2 };
  ask(within, 2 * asksBefore + 1);
  remove('docs');
  record('docs', 2, 1, 0);
  // The project number tells the days and their insides apart.
  expect(ask(days(0, 1), 1, 'docs', 2).rest).toEqual([days(0, 1)]);
  expect(ask(days(0, 1), asksBefore, 'docs', 2)).toEqual({ sum: { web: 1, api: 1, other: 1 }, rest: [] });
  expect(ask(within, 1, 'docs', 2)).toEqual({ sum: nothing, rest: [within] });
});

test('a deleted project has no queries, and an unknown one has none until it is created', () => {
  const { ask, remove, record } = openKept({ docs: [0, 1, dayMs] });
  ask(days(0, 3), asksBefore + 1);
  remove('docs');
  expect(ask(days(0, 3), asksBefore + 1, 'docs', 2)).toEqual({ sum: nothing, rest: [] });
  expect(ask(days(0, 3), asksBefore + 1, 'none', 2)).toEqual({ sum: nothing, rest: [] });
  record('none', 0);
  expect(ask(days(0, 3), 1, 'none', 3)).toEqual({ sum: nothing, rest: [days(0, 3)] });
});

test('a commit empties a full cache, and no other', () => {
  const room = placeRows + 3 + sumsRows;
  for (const [rowsMax, reads] of [
    [room, 2],
    [room + 1, 1],
  ] as const) {
    const opened = openKept({ rowsMax, docs: [0, dayMs, 2 * dayMs] });
    for (const version of [1, 2])
      expect(opened.ask(days(0, 3), asksBefore + 1, 'docs', version).rest).toEqual([]);
    expect(opened.reads()).toBe(reads);
  }
});

test('dropped sums free their space', () => {
  const rowsMax = placeRows + 3 + sumsRows + placeRows + 1;
  const { ask, record } = openKept({ rowsMax, docs: [0, dayMs, 2 * dayMs], other: [0] });
  for (const version of [1, 2, 3, 4]) {
    expect(ask(days(0, 3), asksBefore, 'docs', version).rest).toEqual([days(0, 3)]);
    expect(ask(days(0, 3), 1, 'docs', version).rest).toEqual([]);
    record('docs', version);
  }
  expect(ask(days(0, 3), asksBefore + 1, 'other', 4).rest).toEqual([]);
});

test('a project with more than 128 widest counters is read again after each commit', () => {
  const times = Array.from({ length: 129 }, (_, at) => 32 * dayMs * (at - 60));
  const { ask, reads } = openKept({ docs: times.slice(1), long: times });
  for (const version of [1, 2, 3]) {
    for (const [projectId, queries] of [
      ['docs', 128],
      ['long', 129],
    ] as const) {
      const { sum, rest } = ask(days(-4_000, 4_000), asksBefore + 1, projectId, version);
      expect(rest).toEqual([]);
      expect(sum.web + sum.api + sum.other).toBe(queries);
    }
    expect(reads()).toBe(1 + version);
  }
});

test('a project is checked once after each commit', () => {
  const { ask, looks } = openKept({ docs: [0, dayMs] });
  for (const version of [1, 2, 3]) {
    ask(days(0, 3), 2 * asksBefore, 'docs', version);
    expect(looks()).toBe(version);
  }
});
