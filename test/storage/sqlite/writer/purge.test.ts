import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Query } from '../../../../src/domain/queries/query.js';
import { dayMs } from '../../../../src/domain/time/duration.js';
import { type Connection, emptyLog } from '../../../../src/storage/sqlite/connection.js';
import { openMigrated } from '../../../../src/storage/sqlite/migrations/migrate.js';
import { Statements } from '../../../../src/storage/sqlite/statements.js';
import { Cleaner } from '../../../../src/storage/sqlite/writer/purge.js';
import { Writer } from '../../../../src/storage/sqlite/writer/writer.js';
import { whenOver } from '../../../support/cleanup.js';
import { databaseInMemory, deleteProjectIn, recordInto } from '../../../support/storage/sqlite.js';
import { temporaryFolder } from '../../../support/temporary.js';

const today = 20_000 * dayMs;
const tables = ['query', 'query_counter', 'caller_counter', 'moment'];

const queryAt = (id: string, occurredAt: number, caller = 'slack'): Query => ({ id, caller, occurredAt });

const cleanerOf = (db: Connection) => new Cleaner(new Statements(db));

/** How many rows each project has in each table, by the number of the project. */
const rowsOf = (db: Connection) =>
  tables.map((table) =>
    db
      .prepare(`SELECT project, count(*) AS count FROM ${table} GROUP BY project ORDER BY project`)
      .all()
      .map(({ project, count }) => [project, count]),
  );

const idsOf = (db: Connection, project: number): string[] =>
  db
    .prepare('SELECT id FROM query WHERE project = ? ORDER BY id')
    .all(project)
    .map(({ id }) => (typeof id === 'string' ? id : 'uuid'));

test('has nothing to purge without deleted projects', () => {
  const db = databaseInMemory();
  recordInto(db, 'docs', [queryAt('a', 0)]);
  const cleaner = cleanerOf(db);
  expect(cleaner.purgeDeleted(10)).toEqual({ removed: 0, done: true });
  expect(rowsOf(db).flat().flat().length).toBeGreaterThan(0);
});

test('purges one deleted project after another in bounded steps', () => {
  const db = databaseInMemory();
  for (const id of ['first', 'second', 'third', 'fourth'])
    recordInto(
      db,
      id,
      [0, 1, 2, 3, 4].map((at) => queryAt(`${id} ${at}`, at * dayMs)),
    );
  const kept = rowsOf(db).map((rows) => rows.filter(([project]) => project === 1 || project === 3));
  deleteProjectIn(db, 'fourth');
  deleteProjectIn(db, 'second');
  const cleaner = cleanerOf(db);
  // Five rows; a counter by type and caller for each of the five at three levels, and at the widest; and five quarters of an hour.
  const total = 5 + 2 * (3 * 5 + 1) + 5;
  const limit = 21;
  expect(total % limit).toBe(0);
  for (const others of [[4], []]) {
    for (let piece = 0; piece < total / limit; piece++) {
      expect(cleaner.purgeDeleted(limit)).toEqual({ removed: limit, done: false });
    }
    expect(cleaner.purgeDeleted(limit)).toEqual({ removed: 0, done: false });
    expect(rowsOf(db).map((rows) => rows.map(([project]) => project))).toEqual(
      tables.map(() => [1, 3, ...others]),
    );
  }
  expect(rowsOf(db)).toEqual(kept);
  expect(cleaner.purgeDeleted(limit)).toEqual({ removed: 0, done: true });
});

test('removes rows in order of their keys, table by table', () => {
  const db = databaseInMemory();
  recordInto(
    db,
    'docs',
    ['c', 'a', 'b'].map((id) => queryAt(id, 0)),
  );
  deleteProjectIn(db, 'docs');
  const cleaner = cleanerOf(db);
  expect(cleaner.purgeDeleted(2)).toEqual({ removed: 2, done: false });
  expect(idsOf(db, 1)).toEqual(['c']);
  expect(cleaner.purgeDeleted(4)).toEqual({ removed: 4, done: false });
  expect(rowsOf(db)).toEqual([[], [[1, 1]], [[1, 4]], [[1, 1]]]);
  expect(db.prepare('SELECT min(level) AS level FROM query_counter').get()).toEqual({ level: 5 });
  expect(cleaner.purgeDeleted(100)).toEqual({ removed: 6, done: false });
});

test('leaves no traces in pages shared with other projects', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  const db = openMigrated(file);
  whenOver(() => db.close());
  for (let round = 0; round < 4; round++)
    for (const id of ['before', 'gone', 'behind']) {
      const queries = Array.from({ length: 100 }, (_, at) =>
        queryAt(`${(at * 37 + round * 11) % 101} asked of ${id} in ${round}`, at),
      );
      if (round === 0) recordInto(db, id, queries);
      else
        await new Writer(db).commit(
          queries.map(({ id: queryId, caller, occurredAt }) => ({
            kind: 'record',
            projectId: id,
            ids: [queryId],
            callers: [caller],
            occurredAt: Float64Array.of(occurredAt),
          })),
        );
    }
  deleteProjectIn(db, 'gone');
  const cleaner = cleanerOf(db);
  while (!cleaner.purgeDeleted(50).done);
  emptyLog(db);
  const bytes = await readFile(file);
  expect(bytes.includes('asked of before')).toBe(true);
  expect(bytes.includes('asked of gone')).toBe(false);
});

/** A project that keeps rows for so many days, beside one that keeps all. */
function retaining(days: number, queries: readonly Query[]) {
  const db = databaseInMemory();
  recordInto(db, 'docs', queries);
  recordInto(db, 'kept', queries);
  const retain = (retentionDays: number) =>
    db.prepare(`UPDATE project SET retention_days = ? WHERE id = 'docs'`).run(retentionDays);
  retain(days);
  const state = () => {
    const row = db.prepare(`SELECT rows_from, swept_to FROM project WHERE id = 'docs'`).get();
    return [row.rows_from === null ? null : row.rows_from / dayMs - 20_000, row.swept_to];
  };
  return { db, cleaner: cleanerOf(db), retain, state };
}

const uuid = '0198c2af-dead-7bee-89ab-cdef01234567';

test('moves retention to the beginning of a day and then sweeps the rows by id in steps', () => {
  const old = today - 2 * dayMs - 1;
  const queries = [
    ...['a', 'c', 'e'].map((id) => queryAt(id, old)),
    ...['b', 'd'].map((id) => queryAt(id, today - 2 * dayMs)),
    queryAt(uuid, old),
  ];
  const { db, cleaner, state } = retaining(2, queries);
  const apply = () => cleaner.applyRetention(today + 5, 2);
  const counters = rowsOf(db).slice(1);
  expect(state()).toEqual([null, null]);
  expect(apply()).toEqual({ removed: 0, done: false });
  expect(state()).toEqual([-2, '']);
  expect(apply()).toEqual({ removed: 1, done: false });
  expect(state()).toEqual([-2, 'b']);
  expect(apply()).toEqual({ removed: 1, done: false });
  expect(state()).toEqual([-2, 'd']);
  expect(apply()).toEqual({ removed: 2, done: false });
  expect(state()[1]).toEqual(expect.any(Uint8Array));
  expect(apply()).toEqual({ removed: 0, done: false });
  expect(state()).toEqual([-2, null]);
  expect(apply()).toEqual({ removed: 0, done: true });
  expect(idsOf(db, 1)).toEqual(['b', 'd']);
  expect(idsOf(db, 2)).toEqual(['a', 'b', 'c', 'd', 'e', 'uuid']);
  expect(rowsOf(db).slice(1)).toEqual(counters);
});

test('finishes a sweep with a partial step', () => {
  const { db, cleaner } = retaining(
    2,
    ['a', 'b', 'c'].map((id) => queryAt(id, 0)),
  );
  cleaner.applyRetention(today, 10);
  expect(cleaner.applyRetention(today, 10)).toEqual({ removed: 3, done: false });
  expect(idsOf(db, 1)).toEqual([]);
});

test('sweeps only if a query is in the days that retention removes', () => {
  const times = [-3, -2, -1].map((days) => today + days * dayMs);
  const { cleaner, state, retain } = retaining(
    3,
    times.map((time) => queryAt(String(time), time)),
  );
  const apply = (nowMs: number) => cleaner.applyRetention(nowMs, 100);
  // The day from which rows are kept has queries, and those before have none.
  expect(apply(today)).toEqual({ removed: 0, done: false });
  expect(state()).toEqual([-3, null]);
  expect(apply(today)).toEqual({ removed: 0, done: true });
  retain(2);
  apply(today);
  expect(state()).toEqual([-2, '']);
  // What is begun is finished before it is moved again.
  expect(apply(today + 2 * dayMs)).toEqual({ removed: 1, done: false });
  expect(state()).toEqual([-2, null]);
  apply(today + 2 * dayMs);
  expect(state()).toEqual([0, '']);
  expect(apply(today + 2 * dayMs)).toEqual({ removed: 2, done: false });
  // Counters of the days that were given up before are still there.
  apply(today + 5 * dayMs);
  expect(state()).toEqual([3, null]);
});
