import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BUCKET_WIDTHS_MS, bucketAt } from '../../../../src/domain/counting/buckets.js';
import { dayMs } from '../../../../src/domain/time/duration.js';
import { inOrderOfBuckets, verifyDifferencesMax } from '../../../../src/storage/ports/maintenance.js';
import type { Connection } from '../../../../src/storage/sqlite/connection.js';
import { verify } from '../../../../src/storage/sqlite/counters/verify.js';
import {
  databaseInMemory,
  deleteProjectIn,
  recordInto,
  twoConnections,
} from '../../../support/storage/sqlite.js';

const levels = [...BUCKET_WIDTHS_MS.keys()];
const nothing = { web: 0, api: 0, other: 0 };

/** On both sides of 1970, each in its own bucket up to a day. */
const times = [-40 * dayMs - 1, -1, 5, 3 * dayMs + 7, 50 * dayMs];
const queries = times.flatMap((occurredAt, at) =>
  ['web', 'api', 'slack', 'sdk'].map((caller) => ({ id: `${caller} ${at}`, caller, occurredAt })),
);

/** Two projects, the first with the number 1; `rowsFrom` is that of the first, whose older rows are gone. */
function open(rowsFrom?: number, inAllLevels = true): Connection {
  const db = databaseInMemory();
  recordInto(db, 'docs', queries, { inAllLevels });
  recordInto(db, 'other', queries.slice(0, 7), { inAllLevels });
  if (rowsFrom !== undefined) {
    db.exec(`UPDATE project SET rows_from = ${rowsFrom} WHERE number = 1`);
    db.exec(`DELETE FROM query WHERE project = 1 AND occurred_at < ${rowsFrom}`);
  }
  return db;
}

const found = (db: Connection) => {
  const { differences, differencesTotal, damage } = verify(db);
  expect(damage).toEqual([]);
  expect(differencesTotal).toBe(differences.length);
  return differences;
};

const rowsFroms = [undefined, 5, 6, 3 * dayMs, 3 * dayMs + 7, 3 * dayMs + 8, 60 * dayMs, -dayMs, -50 * dayMs];

/** The number of the caller in statements. */
const slack = `(SELECT number FROM caller WHERE name = 'slack')`;

test('damage is reported in up to 20 lines, and nothing is counted', () => {
  const db = open();
  db.exec('PRAGMA ignore_check_constraints = ON');
  for (let at = 0; at < 30; at++)
    db.exec(
      `INSERT INTO member (organization_id, email, role, created_at) VALUES ('default', 'e${at}', 'no', 0)`,
    );
  db.exec('PRAGMA ignore_check_constraints = OFF');
  const { damage, ...counted } = verify(db);
  expect(damage).toHaveLength(20);
  expect(damage[0]).toMatch(/member/);
  expect(counted).toEqual({
    projects: 0,
    queries: 0,
    importedQueries: 0,
    differences: [],
    differencesTotal: 0,
  });
  expect(db.isTransaction).toBe(false);
});

test.each(rowsFroms)('correct counters have no differences, with rows from %s', (rowsFrom) => {
  const db = open(rowsFrom);
  expect(verify(db)).toEqual({
    damage: [],
    importedQueries: 0,
    projects: 2,
    queries: queries.filter(({ occurredAt }) => occurredAt >= (rowsFrom ?? -Infinity)).length + 7,
    differences: [],
    differencesTotal: 0,
  });
  expect(db.isTransaction).toBe(false);
});

test('an imported count that changed or is gone is found at every level', () => {
  const db = open();
  db.exec(
    `INSERT INTO imported_count (project, source, caller, start_at, end_at, queries) VALUES (1, 'old', ${slack}, 5, 6, 7)`,
  );
  const one = { web: 1, api: 1 };
  const other = { counted: { ...one, other: 2 }, recounted: { ...one, other: 9 } };
  expect(found(db).filter(({ level }) => level === 0)).toEqual([
    { projectId: 'docs', level: 0, bucket: 5, ...other },
    {
      ...{ projectId: 'docs', level: 0, bucket: 5, caller: 'slack' },
      ...{ counted: { ...nothing, other: 1 }, recounted: { ...nothing, other: 8 } },
    },
  ]);
  expect(found(db).map(({ level }) => level)).toEqual(levels.flatMap((level) => [level, level]));
});

test.each(['web', 'api', 'other'] as const)('a wrong counter of type %s is found at every level', (type) => {
  const db = open();
  for (const level of levels)
    for (const time of times) {
      const bucket = bucketAt(time, level);
      const where = `project = 1 AND level = ${level} AND bucket = ${bucket}`;
      const right = db.prepare(`SELECT web, api, other FROM query_counter WHERE ${where}`).get();
      db.exec(`UPDATE query_counter SET ${type} = ${type} + 1 WHERE ${where}`);
      const counted = { ...right, [type]: right[type] + 1 };
      expect(found(db)).toEqual([{ projectId: 'docs', level, bucket, counted, recounted: { ...right } }]);
      db.exec(`UPDATE query_counter SET ${type} = ${type} - 1 WHERE ${where}`);
    }
});

test('a missing counter is found at every level', () => {
  for (const level of levels) {
    const bucket = bucketAt(times[0] ?? 0, level);
    for (const [table, counters] of [
      ['query_counter', 1],
      ['caller_counter', 2],
    ] as const) {
      const db = open();
      db.exec(`DELETE FROM ${table} WHERE project = 1 AND level = ${level} AND bucket = ${bucket}`);
      const missing = found(db).map((one) => [one.level, one.bucket, one.counted]);
      expect(missing).toEqual(Array(counters).fill([level, bucket, nothing]));
    }
  }
});

test('a wrong counter of a caller is found at every level', () => {
  const db = open();
  for (const level of levels)
    for (const time of times) {
      const bucket = bucketAt(time, level);
      const where = `project = 1 AND level = ${level} AND bucket = ${bucket} AND caller = ${slack}`;
      const other = times.filter((one) => bucketAt(one, level) === bucket).length;
      db.exec(`UPDATE caller_counter SET queries = queries + 3 WHERE ${where}`);
      expect(found(db)).toEqual([
        {
          projectId: 'docs',
          level,
          bucket,
          caller: 'slack',
          counted: { ...nothing, other: other + 3 },
          recounted: { ...nothing, other },
        },
      ]);
      db.exec(`UPDATE caller_counter SET queries = queries - 3 WHERE ${where}`);
    }
});

test.each([
  ['web', 'web', 1],
  ['api', 'api', 1],
  // Of the counter of all, and of that of the caller.
  ['slack', 'other', 2],
] as const)('a missing or extra row of %s differs at every level', (caller, type, counters) => {
  const gone = open();
  gone.exec(`DELETE FROM query WHERE project = 1 AND id = '${caller} 3'`);
  const twice = open();
  twice.exec(`INSERT INTO query SELECT project, id || ' again', occurred_at, caller, receipt FROM query
    WHERE project = 1 AND id = '${caller} 3'`);
  const places = levels.flatMap((level) => {
    const place = [level, bucketAt(times[3] ?? 0, level)];
    return Array.from({ length: counters }, () => place);
  });
  for (const [db, more] of [
    [gone, -1],
    [twice, 1],
  ] as const) {
    const differences = found(db);
    expect(differences.map(({ level, bucket }) => [level, bucket])).toEqual(places);
    for (const { counted, recounted } of differences)
      expect(recounted).toEqual({ ...counted, [type]: counted[type] + more });
  }
});

test('counters without rows are compared with the next narrower ones', () => {
  // All of the first two times is without rows, and the bucket of 32 days around the third in part.
  const rowsFrom = 5;
  for (const level of levels) {
    for (const time of [times[0] ?? 0, times[1] ?? 0]) {
      const db = open(rowsFrom);
      const bucket = bucketAt(time, level);
      const where = `project = 1 AND level = ${level} AND bucket = ${bucket}`;
      db.exec(`UPDATE query_counter SET other = other + 1 WHERE ${where}`);
      const wider = level + 1 < levels.length ? [[level + 1, bucketAt(time, level + 1)]] : [];
      expect(found(db).map((one) => [one.level, one.bucket])).toEqual([[level, bucket], ...wider]);
      db.exec(`UPDATE query_counter SET other = other - 1 WHERE ${where}`);
      expect(found(db)).toEqual([]);
      db.exec(`UPDATE caller_counter SET queries = queries + 1 WHERE ${where} AND caller = ${slack}`);
      // The narrowest ones of a caller are what those of all types are held against.
      const own = [level, bucket];
      expect(found(db).map((one) => [one.level, one.bucket])).toEqual([own, ...wider]);
    }
  }
});

test('counters of web and api without rows are not compared at the narrowest level', () => {
  for (const type of ['web', 'api']) {
    const db = open(6);
    db.exec(`UPDATE query_counter SET ${type} = ${type} + 1 WHERE project = 1 AND bucket = 5 AND level = 0`);
    expect(found(db).map(({ level, bucket }) => [level, bucket])).toEqual([[1, 0]]);
  }
});

test('counters that are wrong by the same number do not make up for each other', () => {
  const [one, next] = [`bucket = ${times[2]}`, `bucket = ${times[3]}`];
  const narrowest = 'project = 1 AND level = 0 AND';
  for (const [changes, differences] of [
    [[`UPDATE query_counter SET web = web + 1, api = api - 1 WHERE ${narrowest} ${one}`], 1],
    [
      [1, -1].map(
        (by, at) => `UPDATE query_counter SET web = web + ${by} WHERE ${narrowest} ${[one, next][at]}`,
      ),
      2,
    ],
    [
      [
        `UPDATE query_counter SET web = web - 1 WHERE ${narrowest} ${one}`,
        `INSERT INTO caller_counter VALUES (1, 0, ${times[2]}, 0, 1)`,
      ],
      2,
    ],
    [[1, -1].map((by, at) => `INSERT INTO caller_counter VALUES (1, 0, ${times[2]}, ${at}, ${by})`), 2],
    [
      [
        `UPDATE query_counter SET web = web - 1, api = api + 1 WHERE ${narrowest} ${one}`,
        ...[1, -1].map((by, at) => `INSERT INTO caller_counter VALUES (1, 0, ${times[2]}, ${at}, ${by})`),
      ],
      3,
    ],
    [
      [
        `UPDATE caller_counter SET queries = queries + CASE caller WHEN ${slack} THEN 1 ELSE -1 END WHERE ${narrowest} ${one}`,
      ],
      2,
    ],
    [['INSERT INTO query_counter VALUES (1, 3, 77, 0, 0, 1)'], 1],
    [['INSERT INTO query_counter VALUES (1, 5, 77, 1, 0, 0)'], 1],
    [[`UPDATE query_counter SET bucket = bucket + 1 WHERE ${narrowest} ${one}`], 2],
  ] as const) {
    const db = open();
    for (const change of changes) db.exec(change);
    expect(found(db), changes.join('; ')).toHaveLength(differences);
  }
});

test('any change of a counter is found, unless it restores what was there', () => {
  const tables = ['query_counter', 'caller_counter'] as const;
  /** Every counter but those that are zero, which are as good as none. */
  const counters = (db: Connection) =>
    tables.map((table) =>
      db
        .prepare(`SELECT * FROM ${table} ORDER BY 1, 2, 3, 4`)
        .all()
        .filter((row) => ['web', 'api', 'other', 'queries'].some((name) => (row[name] ?? 0) !== 0)),
    );
  const db = open();
  for (const table of tables) db.exec(`CREATE TEMP TABLE right_${table} AS SELECT * FROM ${table}`);
  const right = counters(db);
  const change = fc.record({
    level: fc.constantFrom(...levels),
    time: fc.constantFrom(...times, 6, 40 * dayMs),
    project: fc.constantFrom(1, 2),
    to: fc.integer({ min: -1, max: 3 }),
    column: fc.constantFrom('web', 'api', 'other', 0, 1, 2, 3),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      for (const table of tables)
        db.exec(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM right_${table}`);
      for (const { level, time, project, to, column } of changes) {
        const place = `${project}, ${level}, ${bucketAt(time, level)}`;
        db.exec(
          typeof column === 'number'
            ? `INSERT OR REPLACE INTO caller_counter VALUES (${place}, ${column}, ${to})`
            : `INSERT INTO query_counter (project, level, bucket, web, api, other)
               VALUES (${place}, ${['web', 'api', 'other'].map((one) => (one === column ? to : 0)).join()})
               ON CONFLICT DO UPDATE SET ${column} = ${to}`,
        );
      }
      expect(verify(db).differencesTotal === 0).toBe(isDeepStrictEqual(counters(db), right));
    }),
  );
});

test('unknown projects and callers are reported as (none)', () => {
  const db = open();
  db.exec(
    'INSERT INTO query_counter VALUES (77, 0, 5, 1, 2, 3); INSERT INTO caller_counter VALUES (77, 0, 5, 99, 4)',
  );
  expect(found(db)).toEqual([
    { projectId: '(none)', level: 0, bucket: 5, counted: { web: 1, api: 2, other: 3 }, recounted: nothing },
    {
      projectId: '(none)',
      level: 0,
      bucket: 5,
      caller: '(none)',
      counted: { ...nothing, other: 4 },
      recounted: nothing,
    },
  ]);
});

test('rows of deleted projects are ignored', () => {
  const db = open();
  deleteProjectIn(db, 'docs');
  db.exec('DELETE FROM query WHERE project = 1 AND occurred_at > 5');
  db.exec('UPDATE caller_counter SET queries = queries + 1 WHERE project = 1');
  expect(verify(db)).toMatchObject({ projects: 1, queries: 7, differences: [], differencesTotal: 0 });
});

test('verification reads one snapshot, whatever others commit', async () => {
  const [db, other] = await twoConnections();
  recordInto(db, 'docs', queries);
  const prepare = db.prepare.bind(db);
  Object.defineProperty(db, 'prepare', {
    value: (sql: string) => {
      if (sql.includes('count(*) FROM query')) other.exec('UPDATE query_counter SET web = web + 1');
      return prepare(sql);
    },
  });
  expect(verify(db)).toMatchObject({ differencesTotal: 0 });
  expect(verify(db).differencesTotal).toBeGreaterThan(0);
});

test('an error of the check other than damage is thrown, and ends the transaction', () => {
  const db = open();
  const prepare = db.prepare.bind(db);
  const error = new Error('out of memory');
  Object.defineProperty(db, 'prepare', {
    value: (sql: string) => {
      if (sql.includes('integrity_check')) throw error;
      return prepare(sql);
    },
  });
  expect(() => verify(db)).toThrow(error);
  expect(db.isTransaction).toBe(false);
});

test('damage that makes the check itself fail is reported', () => {
  const db = open();
  const error = Object.assign(new Error('malformed'), { code: 'ERR_SQLITE_ERROR', errcode: 11 });
  Object.defineProperty(db, 'prepare', {
    value: () => {
      db.exec('ROLLBACK');
      throw error;
    },
  });
  expect(verify(db)).toMatchObject({ damage: ['malformed'], queries: 0 });
});

test('differences are sorted by project, level, bucket and caller', () => {
  const db = open();
  db.exec('UPDATE query_counter SET web = web + 1; UPDATE caller_counter SET queries = queries + 1');
  const differences = found(db);
  expect(differences.length).toBeGreaterThan(50);
  expect(differences).toEqual([...differences].sort(inOrderOfBuckets));
  expect(new Set(differences.map(({ projectId }) => projectId)).size).toBe(2);
});

test('the number of reported differences is limited, and all are counted', () => {
  const db = open();
  const more = verifyDifferencesMax + 5;
  db.exec(`WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${more})
    INSERT INTO query_counter SELECT 2, 0, 1000 + at, 1, 0, 0 FROM n`);
  const { differences, differencesTotal } = verify(db);
  expect(differences).toHaveLength(verifyDifferencesMax);
  expect(differencesTotal).toBe(more);
});
