/** Whatever is added, removed and asked for: counters and queries that are kept one by one are what a naive recount finds. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bucketAt, bucketWidthMs, ROW_LEVELS } from '../../../../src/domain/counting/buckets.js';
import type { DateRange } from '../../../../src/domain/counting/date-range.js';
import { finish } from '../../../../src/shared/steps.js';
import { type Connection, inTransaction } from '../../../../src/storage/sqlite/connection.js';
import { CounterDeltas, TYPE_INDEX } from '../../../../src/storage/sqlite/counters/counter-deltas.js';
import { CounterReader } from '../../../../src/storage/sqlite/counters/counter-reader.js';
import { momentBytes, momentsMax } from '../../../../src/storage/sqlite/counters/moments.js';
import { ReadSnapshot } from '../../../../src/storage/sqlite/counters/read-snapshot.js';
import { Statements } from '../../../../src/storage/sqlite/statements.js';
import { Recording } from '../../../../src/storage/sqlite/writer/recording.js';
import { databaseInMemory, recordInto } from '../../../support/storage/sqlite.js';

const [tenSecondsMs, quarterMs] = ROW_LEVELS.map(bucketWidthMs) as [number, number];

/** The last one has too large a number to be kept. */
const CALLERS = { 0: 'web', 1: 'api', 2: 'slack', 3: 'sdk', 1048575: 'last', 1048576: 'late' } as const;
const callerNumbers = Object.keys(CALLERS).map(Number);

/** Few, next to the edges of buckets, so that some of them become full. */
const time = fc
  .tuple(
    fc.constantFrom(-quarterMs, 0, quarterMs, 3 * quarterMs),
    fc.constantFrom(0, tenSecondsMs, 7 * tenSecondsMs),
    fc.constantFrom(-1, 0, 1, 4321),
  )
  .map(([quarter, tenSeconds, ms]) => quarter + tenSeconds + ms);

interface Change {
  readonly timeMs: number;
  readonly caller: number;
  readonly queries: number;
  /** Some of those that there are. */
  readonly removes: boolean;
}

const change: fc.Arbitrary<Change> = fc.record({
  timeMs: time,
  caller: fc.constantFrom(...callerNumbers),
  queries: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 60, max: momentsMax + 1 })),
  removes: fc.boolean(),
});

const edge = fc.oneof(time, fc.integer({ min: -2 * quarterMs, max: 5 * quarterMs }));

const typeOf = (caller: number) => Math.min(caller, TYPE_INDEX.other);

class Model {
  readonly #counts = new Map<string, number>();

  add(timeMs: number, caller: number, queries: number): void {
    this.#counts.set(`${timeMs} ${caller}`, this.at(timeMs, caller) + queries);
  }

  at(timeMs: number, caller: number): number {
    return this.#counts.get(`${timeMs} ${caller}`) ?? 0;
  }

  get all() {
    return [...this.#counts].flatMap(([key, queries]) => {
      const [timeMs = 0, caller = 0] = key.split(' ').map(Number);
      return queries === 0 ? [] : [{ timeMs, caller, queries }];
    });
  }

  sum({ from, to }: DateRange, isMeant: (caller: number) => boolean): number {
    const within = this.all.filter(({ timeMs, caller }) => timeMs >= from && timeMs < to && isMeant(caller));
    return within.reduce((sum, { queries }) => sum + queries, 0);
  }

  counts(range: DateRange) {
    const [web, api, other] = [0, 1, 2].map((type) => this.sum(range, (caller) => typeOf(caller) === type));
    return { web, api, other, total: this.sum(range, () => true) };
  }
}

function apply(recording: Recording, db: Connection, model: Model, changes: readonly Change[]): void {
  const deltas = new CounterDeltas();
  for (const { timeMs, caller, queries: wanted, removes } of changes) {
    const queries = removes ? -Math.min(wanted, model.at(timeMs, caller)) : wanted;
    if (queries === 0) continue;
    model.add(timeMs, caller, queries);
    // As recording says it of one query, and corrections and imports of several.
    if (queries === 1) deltas.add(1, timeMs, typeOf(caller), caller);
    else deltas.add(1, timeMs, typeOf(caller), caller, queries);
  }
  inTransaction(db, () => {
    recording.addToCounters(deltas);
    db.exec('UPDATE project SET revision = revision + 1');
  });
}

/** Empties the database, and records what a version without kept queries did. */
function begin(db: Connection, inAllLevels: readonly number[]) {
  for (const table of ['query', 'query_counter', 'caller_counter', 'moment']) db.exec(`DELETE FROM ${table}`);
  for (const [number, name] of Object.entries(CALLERS))
    db.exec(`INSERT OR IGNORE INTO caller VALUES (${number}, '${name}')`);
  const model = new Model();
  const before = inAllLevels.map((occurredAt, at) => ({ id: `${at}`, caller: 'slack', occurredAt }));
  recordInto(db, 'docs', before, { inAllLevels: true });
  for (const timeMs of inAllLevels) model.add(timeMs, 2, 1);
  return { model, recording: new Recording(db, new Statements(db)) };
}

function expectRight(db: Connection, model: Model, edges: readonly number[]): void {
  const reader = new CounterReader(db, new ReadSnapshot(db));
  const bounds = [...new Set(edges)].sort((a, b) => a - b);
  const ranges = bounds.slice(1).map((to, at) => ({ from: bounds[at] ?? to, to }));
  for (const range of [...ranges, { from: bounds[0] ?? 0, to: bounds.at(-1) ?? 0 }]) {
    expect(reader.countUncached('docs', range)).toEqual(model.counts(range));
    for (const [number, name] of Object.entries(CALLERS)) {
      const sum = model.sum(range, (caller) => caller === Number(number));
      expect(reader.countCaller('docs', range, name).total, name).toBe(sum);
    }
    const { callers } = finish(reader.countCallers('docs', range));
    const counted = new Map(callers.map(({ caller, count }) => [caller, count]));
    for (const [number, name] of Object.entries(CALLERS)) {
      const sum = model.sum(range, (caller) => caller === Number(number));
      expect(counted.get(name) ?? 0, name).toBe(sum);
    }
  }
  // Often enough to be cached.
  for (let ask = 0; ask < 40; ask++)
    for (const range of ranges) expect(reader.count('docs', range)).toEqual(model.counts(range));
  expect(finish(reader.countSeries('docs', bounds))).toEqual(ranges.map((range) => model.counts(range)));
  const names = Object.values(CALLERS);
  expect(finish(reader.countSeriesByCaller('docs', bounds, names)).callers).toEqual(
    callerNumbers.map((number) => ranges.map((range) => model.sum(range, (caller) => caller === number))),
  );
  const times = model.all.map(({ timeMs }) => timeMs);
  const extent = { from: Math.min(...times), to: Math.max(...times) + 1 };
  expect(reader.findExtent('docs')).toEqual(times.length === 0 ? undefined : extent);
}

/** What is not needed takes no space. */
function expectNothingLeft(db: Connection): void {
  const rows = (sql: string): unknown => db.prepare(`SELECT count(*) AS rows FROM ${sql}`).get().rows;
  expect(rows('query_counter WHERE min(web, api, other) < 0 OR web + api + other = 0')).toBe(0);
  expect(rows('caller_counter WHERE queries <= 0')).toBe(0);
  expect(
    rows(`moment WHERE length(queries) NOT BETWEEN 1 AND ${momentsMax * momentBytes}
      OR length(queries) % ${momentBytes} <> 0`),
  ).toBe(0);
}

test('counts what was added and not removed, in any batches, also with counters of an older version', () => {
  const batches = fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 5 });
  const seen = new Set<string>();
  const db = databaseInMemory();
  fc.assert(
    fc.property(
      fc.array(time, { maxLength: 6 }),
      batches,
      fc.array(edge, { minLength: 2, maxLength: 5 }),
      (inAllLevels, batches, edges) => {
        const { model, recording } = begin(db, inAllLevels);
        for (const changes of batches) {
          apply(recording, db, model, changes);
          expectNothingLeft(db);
        }
        for (const level of ROW_LEVELS)
          if (db.prepare(`SELECT 1 FROM moment WHERE level = ${level}`).get() !== undefined)
            seen.add(`kept at level ${level}`);
        if (
          batches.flat().length > 0 &&
          db.prepare('SELECT 1 FROM query_counter WHERE level = 0').get() !== undefined
        )
          seen.add('counted from level 0 on');
        expectRight(db, model, edges);
      },
    ),
    { numRuns: 40 },
  );
  expect([...seen].sort()).toEqual(['counted from level 0 on', 'kept at level 1', 'kept at level 2']);
});

test('leaves nothing of what is all removed', () => {
  const db = databaseInMemory();
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 20 }), (changes) => {
      const { model, recording } = begin(db, []);
      apply(
        recording,
        db,
        model,
        changes.map((one) => ({ ...one, removes: false })),
      );
      apply(
        recording,
        db,
        model,
        model.all.map((one) => ({ ...one, removes: true })),
      );
      for (const table of ['query_counter', 'caller_counter', 'moment'])
        expect(db.prepare(`SELECT count(*) AS rows FROM ${table}`).get(), table).toEqual({ rows: 0 });
    }),
    { numRuns: 30 },
  );
});

test('keeps so many queries of a quarter of an hour, then so many of ten seconds, and counts all others by millisecond', () => {
  const db = databaseInMemory();
  const { model, recording } = begin(db, []);
  const add = (times: readonly number[]) =>
    apply(
      recording,
      db,
      model,
      times.map((timeMs) => ({ timeMs, caller: 2, queries: 1, removes: false })),
    );
  const kept = (): unknown[] =>
    db.prepare(`SELECT level, bucket, length(queries) / ${momentBytes} AS queries FROM moment`).all();
  const narrow = (): unknown =>
    db.prepare('SELECT total(other) AS queries FROM query_counter WHERE level = 0').get();
  const many = (from: number, length: number) => Array.from({ length }, (_, at) => from + at);
  add(many(0, momentsMax));
  expect(kept()).toEqual([{ level: 2, bucket: 0, queries: momentsMax }]);
  add(many(5, 3));
  expect(kept()).toContainEqual({ level: 1, bucket: 0, queries: 3 });
  expect(narrow()).toEqual({ queries: 0 });
  add(many(20, momentsMax));
  expect(kept()).toContainEqual({ level: 1, bucket: 0, queries: momentsMax });
  expect(narrow()).toEqual({ queries: 3 });
  // The same quarter, other ten seconds; and another quarter.
  add([tenSecondsMs, quarterMs]);
  expect(kept()).toContainEqual({ level: 1, bucket: bucketAt(tenSecondsMs, 1), queries: 1 });
  expect(kept()).toContainEqual({ level: 2, bucket: 1, queries: 1 });
  expectRight(db, model, [0, 5, 7, 100, tenSecondsMs, quarterMs, quarterMs + 1]);
});
