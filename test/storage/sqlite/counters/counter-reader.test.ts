import { expect, test } from 'vitest';
import { EARLIEST_MS, LATEST_MS } from '../../../../src/domain/counting/date-range.js';
import { dayMs } from '../../../../src/domain/time/duration.js';
import { finish } from '../../../../src/shared/steps.js';
import { CounterReader } from '../../../../src/storage/sqlite/counters/counter-reader.js';
import { ReadSnapshot } from '../../../../src/storage/sqlite/counters/read-snapshot.js';
import { knownEvent, recount } from '../../../support/storage/ledger.js';
import { databaseInMemory, notedRuns, recordInto, twoConnections } from '../../../support/storage/sqlite.js';

const events = Array.from({ length: 300 }, (_, at) => knownEvent(at));

function open() {
  const db = databaseInMemory();
  recordInto(db, 'docs', events);
  recordInto(db, 'empty', []);
  const ran = notedRuns(db);
  const reader = new CounterReader(db, new ReadSnapshot(db));
  const runsOf = (pattern: RegExp): number => ran.filter((sql) => pattern.test(sql)).length;
  return { reader, runsOf };
}

/** Statements of sums of each segment. */
const ofSeries = /\) FROM segment$/;

/** A series of so many adjacent days, some hours off midnight, and what lies beside them. */
const boundsOf = (days: number): number[] => [
  EARLIEST_MS,
  ...Array.from({ length: days }, (_, day) => (day - Math.floor(days / 2)) * dayMs + 5 * 3_600_000 + 7),
  LATEST_MS,
];

const recounted = (bounds: readonly number[]) =>
  bounds.slice(1).map((to, at) => recount(events, { from: bounds[at] ?? to, to }));

test.each([1, 2, 20, 21, 22, 60, 63, 64, 65, 130, 400])('counts a series of %i days', (days) => {
  const bounds = boundsOf(days);
  const { reader, runsOf } = open();
  expect(finish(reader.countSeries('docs', bounds))).toEqual(recounted(bounds));
  const runs = runsOf(ofSeries);
  expect(runs).toBeGreaterThan(0);
  expect(runs).toBeLessThanOrEqual(Math.ceil((days * 12) / 64) + 1);
});

test('counts a series whose segments just fill a statement', () => {
  const { reader, runsOf } = open();
  for (const milliseconds of [62, 63, 64, 65, 127, 128, 129]) {
    // Each range is a segment, and no bound is moved.
    const bounds = Array.from({ length: milliseconds + 1 }, (_, at) => at - 30);
    const before = runsOf(ofSeries);
    expect(finish(reader.countSeries('docs', bounds))).toEqual(recounted(bounds));
    expect(runsOf(ofSeries) - before).toBe(Math.ceil(milliseconds / 64));
  }
});

test('caches a series by project and bounds until a commit', async () => {
  const [db, other] = await twoConnections();
  recordInto(db, 'docs', events.slice(0, 100));
  recordInto(db, 'empty', []);
  const ran = notedRuns(db);
  const reader = new CounterReader(db, new ReadSnapshot(db));
  const bounds = boundsOf(3);
  const first = finish(reader.countSeries('docs', bounds));
  const runs = ran.filter((sql) => ofSeries.test(sql)).length;
  expect(finish(reader.countSeries('docs', [...bounds]))).toEqual(first);
  expect(ran.filter((sql) => ofSeries.test(sql))).toHaveLength(runs);
  expect(finish(reader.countSeries('empty', bounds))).not.toEqual(first);
  expect(finish(reader.countSeries('docs', boundsOf(4)))).not.toEqual(first);
  other.exec('UPDATE query_counter SET web = web + 1');
  expect(finish(reader.countSeries('docs', bounds))).not.toEqual(first);
});

test('counts callers of a range, including web and api', () => {
  const { reader } = open();
  for (const range of [
    { from: EARLIEST_MS, to: LATEST_MS },
    { from: -dayMs, to: 3 * dayMs + 5 },
    { from: 0, to: 1 },
    { from: 5, to: 5 },
  ]) {
    const within = events.filter(({ occurredAt }) => occurredAt >= range.from && occurredAt < range.to);
    const { total, callers } = finish(reader.countCallers('docs', range));
    expect(total).toBe(within.length);
    for (const { caller, count } of callers)
      expect(count).toBe(within.filter((one) => one.caller === caller).length);
    expect(callers).toHaveLength(new Set(within.map(({ caller }) => caller)).size);
  }
});

test('returns the same count before and after it is cached', () => {
  const { reader } = open();
  for (const range of [
    { from: EARLIEST_MS, to: LATEST_MS },
    { from: -dayMs - 3, to: 3 * dayMs + 5 },
    { from: -dayMs, to: dayMs },
    { from: 7, to: 7 },
  ])
    for (let ask = 0; ask < 40; ask++) expect(reader.count('docs', range)).toEqual(recount(events, range));
});

test.each(['count', 'countUncached', 'countCaller', 'countCallers'] as const)(
  '%s reads counters and kept queries of one moment',
  async (method) => {
    const [db, other] = await twoConnections();
    // The first one is in a quarter of an hour that the range cuts.
    const caller = 'slack';
    const recorded = [{ id: 'cut', caller, occurredAt: -dayMs - 2 }, ...events];
    recordInto(db, 'docs', recorded);
    const prepare = db.prepare.bind(db);
    let removed = 0;
    Object.defineProperty(db, 'prepare', {
      value: (sql: string) => {
        const statement = prepare(sql);
        const get = statement.get.bind(statement);
        if (sql.includes('FROM moment WHERE project = number'))
          Object.defineProperty(statement, 'get', {
            value: (...values: unknown[]) => {
              removed += Number(other.prepare('DELETE FROM moment').run().changes);
              return get(...values);
            },
          });
        return statement;
      },
    });
    const snapshot = new ReadSnapshot(db);
    const reader = new CounterReader(db, snapshot);
    const range = { from: -dayMs - 3, to: 3 * dayMs + 5 };
    const within = recorded.filter(({ occurredAt }) => occurredAt >= range.from && occurredAt < range.to);
    const ofCaller = within.filter((one) => one.caller === caller).length;
    const { total } = {
      count: () => reader.count('docs', range),
      countUncached: () => reader.countUncached('docs', range),
      countCaller: () => reader.countCaller('docs', range, caller),
      // As `readInTurns` does it.
      countCallers: () => snapshot.run(() => finish(reader.countCallers('docs', range))),
    }[method]();
    expect(removed).toBeGreaterThan(0);
    expect(total).toBe(method === 'countCaller' ? ofCaller : within.length);
  },
);

test('prepares one statement per number of segments, and one per number of cut buckets', () => {
  const db = databaseInMemory();
  recordInto(db, 'docs', events);
  const prepared: string[] = [];
  const prepare = db.prepare.bind(db);
  Object.defineProperty(db, 'prepare', {
    value: (sql: string) => {
      prepared.push(sql);
      return prepare(sql);
    },
  });
  const reader = new CounterReader(db, new ReadSnapshot(db));
  const before = prepared.length;
  for (let at = 0; at < 5; at++) {
    reader.count('docs', { from: at, to: at + 1 });
    finish(reader.countSeries('docs', [at, at + 1]));
    finish(reader.countCallers('docs', { from: at, to: at + 1 }));
  }
  expect(prepared.length - before).toBe(3 + 1);
});
