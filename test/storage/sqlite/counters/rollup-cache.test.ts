import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addCounts, withTotal } from '../../../../src/domain/counting/counts.js';
import type { DateRange } from '../../../../src/domain/counting/date-range.js';
import type { Query } from '../../../../src/domain/queries/query.js';
import { dayMs } from '../../../../src/domain/time/duration.js';
import type { Connection } from '../../../../src/storage/sqlite/connection.js';
import { CounterReader } from '../../../../src/storage/sqlite/counters/counter-reader.js';
import { ReadSnapshot } from '../../../../src/storage/sqlite/counters/read-snapshot.js';
import { RollupCache } from '../../../../src/storage/sqlite/counters/rollup-cache.js';
import { recount } from '../../../support/storage/ledger.js';
import { databaseInMemory, deleteProjectIn, notedRuns, recordInto } from '../../../support/storage/sqlite.js';
import { randomCases } from '../../../support/volume.js';

const nothing = { web: 0, api: 0, other: 0 };

/** How often is asked before anything is kept, and before the ten seconds of a day are, which take more to read. */
const asksBefore = 15;
const asksBeforeTens = 255;

/** As many rows take as much room as having been asked for takes, and as having sums takes, however few. */
const placeRows = 32;
const sumsRows = 32;

const days = (from: number, to: number): DateRange => ({ from: from * dayMs, to: to * dayMs });

let queries = 0;

/** Queries of these times, in order of callers web, api and another. */
const queriesAt = (...times: readonly number[]) =>
  times.map((occurredAt, at) => ({
    id: `query ${queries++}`,
    caller: ['web', 'api', 'slack'][at % 3] ?? '',
    occurredAt,
  }));

/** A rollup cache of projects with queries at these times. */
function openKept({
  rowsMax,
  ...projects
}: { rowsMax?: number } & Record<string, readonly number[] | number>) {
  const db = databaseInMemory();
  const record = (id: string, ...times: readonly number[]) => recordInto(db, id, queriesAt(...times));
  const remove = (projectId: string) => deleteProjectIn(db, projectId);
  for (const [id, times] of Object.entries(projects)) record(id, ...(times as number[]));
  const ran = notedRuns(db);
  const kept = new RollupCache(db, rowsMax);
  const ask = (range: DateRange, times = 1, projectId = 'docs', version = 1) => {
    let known = kept.lookUp(projectId, range, version);
    for (let more = 1; more < times; more++) known = kept.lookUp(projectId, range, version);
    return known;
  };
  const ranOf = (pattern: RegExp) => ran.filter((sql) => pattern.test(sql)).length;
  return {
    db,
    ask,
    record,
    remove,
    reads: () => ranOf(/SELECT bucket/),
    looks: () => ranOf(/SELECT number/),
  };
}

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
  db.exec('ALTER TABLE query_counter RENAME TO away');
  expect(() => ask(days(0, 1))).toThrow('no such table');
  db.exec('ALTER TABLE away RENAME TO query_counter');
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

// Which cached sums stay valid after a commit.

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

/** At and next to the edges of cached periods, over a few days and months on both sides of 1970. */
const times = fc
  .tuple(
    fc.constantFrom(0, 0, 0, -dayMs, dayMs, 2 * dayMs, 31 * dayMs, 32 * dayMs),
    fc.constantFrom(-1, 0, 1, 9_999, 10_000, 10_001, 15_000, 20_000),
  )
  .map(([day, offset]) => day + offset);

const projectIds = fc.constantFrom('busy', 'quiet');

type Step =
  | { readonly kind: 'record'; readonly projectId: string; readonly times: readonly number[] }
  | { readonly kind: 'makeAgain'; readonly projectId: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'ask'; readonly projectId: string; readonly range: DateRange; readonly asks: number };

const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('record' as const),
        projectId: projectIds,
        times: fc.array(times, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('makeAgain' as const), projectId: projectIds }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'other' as const }) },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        projectId: projectIds,
        range: fc.tuple(times, times).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) })),
        // Before anything is cached, days, their insides, and ten seconds of a busy day.
        asks: fc.constantFrom(1, 16, 40, 300),
      }),
    },
  ),
  { minLength: 5, maxLength: 40 },
);

/** More milliseconds of a day than are cached. */
const manyTimes = Array.from({ length: 4_001 }, (_, at) => 5_000 + 3 * at);

class Model {
  readonly #db: Connection = databaseInMemory();
  readonly #kept: RollupCache;
  readonly #afresh: CounterReader;
  readonly #recorded = new Map<string, Query[]>();
  #commits = 0;
  #queries = 0;

  constructor(rowsMax: number | undefined) {
    this.#kept = new RollupCache(this.#db, rowsMax);
    this.#afresh = new CounterReader(this.#db, new ReadSnapshot(this.#db));
    this.record('busy', manyTimes);
    this.record('quiet', [0]);
  }

  run(step: Step): void {
    if (step.kind === 'record') this.record(step.projectId, step.times);
    else if (step.kind === 'makeAgain') this.#makeAgain(step.projectId);
    else if (step.kind === 'other') this.#commits++;
    else this.#ask(step.projectId, step.range, step.asks);
  }

  record(projectId: string, occurredAts: readonly number[]): void {
    const queries = occurredAts.map((occurredAt) => ({
      id: `query ${++this.#queries}`,
      caller: ['web', 'api', 'slack'][this.#queries % 3] ?? '',
      occurredAt,
    }));
    recordInto(this.#db, projectId, queries);
    this.#recorded.set(projectId, [...(this.#recorded.get(projectId) ?? []), ...queries]);
    this.#commits++;
  }

  /** With as many queries in each of its days as before, of other callers. */
  #makeAgain(projectId: string): void {
    const before = this.#recorded.get(projectId) ?? [];
    deleteProjectIn(this.#db, projectId);
    this.#recorded.delete(projectId);
    this.#queries++;
    this.record(
      projectId,
      before.map(({ occurredAt }) => occurredAt),
    );
  }

  #ask(projectId: string, range: DateRange, asks: number): void {
    const known = Array.from({ length: asks }, () => this.#kept.lookUp(projectId, range, this.#commits));
    const expected = recount(this.#recorded.get(projectId) ?? [], range);
    for (const { sum, rest } of [known[0], known.at(-1)].filter((one) => one !== undefined)) {
      const read = rest.map((piece) => this.#afresh.countUncached(projectId, piece));
      expect(withTotal(addCounts([sum, ...read]))).toEqual(expected);
    }
  }
}

test.each([
  ['with space for everything', undefined],
  ['with little space', 4_300],
  ['with hardly any space', 140],
])('whatever is committed in between, counts equal a naive recount, %s', (_what, rowsMax) => {
  fc.assert(
    fc.property(steps, (some) => {
      const model = new Model(rowsMax);
      for (const step of some) model.run(step);
    }),
    { numRuns: randomCases(100) },
  );
});

test('what was cached before a correction is read again, although as many queries are there', () => {
  const { ask, db } = openKept({ docs: [0, 1, 2, 3, 4] });
  expect(ask(days(0, 1), asksBefore + 1)).toEqual({ sum: { web: 2, api: 2, other: 1 }, rest: [] });
  db.exec('UPDATE query_counter SET web = web - 1, api = api + 1 WHERE web > 0 AND level > 1');
  db.exec('UPDATE project SET revision = revision + 1');
  expect(ask(days(0, 1), asksBefore + 1, 'docs', 2)).toEqual({ sum: { web: 1, api: 3, other: 1 }, rest: [] });
});
