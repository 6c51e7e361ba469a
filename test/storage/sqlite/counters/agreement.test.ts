import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BUCKET_WIDTHS_MS, bucketAt, bucketWidthMs } from '../../../../src/domain/counting/buckets.js';
import { dayMs } from '../../../../src/domain/time/duration.js';
import { prepareAgreement } from '../../../../src/storage/sqlite/counters/agreement.js';
import { prepareDifferences } from '../../../../src/storage/sqlite/counters/differences.js';
import { momentBytes, writeMoment } from '../../../../src/storage/sqlite/counters/moments.js';
import { verify } from '../../../../src/storage/sqlite/counters/verify.js';
import { databaseInMemory, recordInto } from '../../../support/storage/sqlite.js';

const times = [-40 * dayMs - 1, -1, 0, 5, 6, 3 * dayMs + 7, 50 * dayMs];

const queries = times.flatMap((occurredAt, at) =>
  ['web', 'api', 'slack', 'sdk'].map((caller) => ({ id: `${caller} ${at}`, caller, occurredAt })),
);

interface Change {
  readonly project: number;
  readonly level: number;
  readonly time: number;
  readonly by: number;
  readonly caller: number;
  readonly type: string;
  readonly withdrawn: string;
}

const CHANGES: Readonly<Record<string, (change: Change) => string>> = {
  typeCounter: ({ project, level, time, type, by }) =>
    `INSERT INTO query_counter (project, level, bucket, web, api, other)
     VALUES (${project}, ${level}, ${bucketAt(time, level)}, ${['web', 'api', 'other'].map((one) => (one === type ? by : 0))})
     ON CONFLICT DO UPDATE SET ${type} = ${type} + ${by}`,
  callerCounter: ({ project, level, time, caller, by }) =>
    `INSERT INTO caller_counter VALUES (${project}, ${level}, ${bucketAt(time, level)}, ${caller}, ${by})
     ON CONFLICT DO UPDATE SET queries = queries + ${by}`,
  kept: ({ project, time, caller, by }) => {
    const level = by > 0 ? 1 : 2;
    const bucket = bucketAt(time, level);
    const bytes = new Uint8Array(2 * momentBytes);
    for (const at of [0, momentBytes])
      writeMoment(bytes, at, time - bucket * bucketWidthMs(level), Math.abs(caller) + (at === 0 ? 0 : 1));
    const hex = Buffer.from(by === 1 ? bytes : bytes.subarray(0, momentBytes)).toString('hex');
    return `INSERT OR REPLACE INTO moment VALUES (${project}, ${level}, ${bucket}, x'${hex}')`;
  },
  newQuery: ({ project, time, caller }) =>
    `INSERT OR REPLACE INTO query (project, id, occurred_at, caller) VALUES (${project}, 'new', ${time}, ${caller})`,
  removedQueries: ({ project, time, caller }) =>
    `DELETE FROM query WHERE project = ${project} AND occurred_at = ${time} AND caller > ${caller}`,
  imported: ({ project, time, caller, by, withdrawn }) =>
    `INSERT OR REPLACE INTO imported_count (project, source, caller, start_at, end_at, queries, withdrawn_by)
     VALUES (${project}, 'old', ${Math.abs(caller)}, ${time}, ${time + 1}, ${Math.abs(by)}, ${withdrawn})`,
};

test('a recount of counters that agree sorts nothing', () => {
  const db = databaseInMemory();
  recordInto(db, 'docs', queries);
  const prepare = db.prepare.bind(db);
  const prepared: string[] = [];
  Object.defineProperty(db, 'prepare', {
    value: (sql: string) => {
      prepared.push(sql);
      return prepare(sql);
    },
  });
  expect(verify(db)).toMatchObject({ differencesTotal: 0, queries: queries.length });
  expect(prepared.filter((sql) => /GROUP BY|ORDER BY/.test(sql))).toEqual([]);
  db.exec('UPDATE query_counter SET web = web + 1');
  expect(verify(db).differencesTotal).toBeGreaterThan(0);
  expect(prepared.filter((sql) => sql.includes('GROUP BY')).length).toBeGreaterThan(0);
});

test('counters agree if and only if a recount finds no difference, whatever was changed and whichever rows are gone', () => {
  const db = databaseInMemory();
  recordInto(db, 'docs', queries);
  recordInto(db, 'other', queries.slice(3, 9));
  const agrees = prepareAgreement(db);
  const findDifferences = prepareDifferences(db);
  const place = {
    level: fc.constantFrom(...BUCKET_WIDTHS_MS.keys()),
    time: fc.constantFrom(...times, 40 * dayMs),
    by: fc.constantFrom(-2, -1, 1, 2 ** 31, 2 ** 33),
    caller: fc.integer({ min: -3, max: 3 }),
    type: fc.constantFrom('web', 'api', 'other'),
    withdrawn: fc.constantFrom('NULL', '1'),
  };
  const statement = fc.constantFrom(...Object.values(CHANGES));
  const change = fc.tuple(statement, fc.record(place));
  const project = fc.constantFrom(1, 2, 77);
  const rowsFrom = fc.constantFrom(null, null, ...times, 7, 3 * dayMs, 60 * dayMs, -dayMs);
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), project, rowsFrom, (changes, project, rowsFrom) => {
      const statements = changes.map(([toSql, values]) => toSql({ ...values, project }));
      db.exec('SAVEPOINT before');
      for (const sql of statements) db.exec(sql);
      const isRight = findDifferences({ project, rowsFrom }).next().done === true;
      seen.add(`${rowsFrom === null ? 'all' : 'some'} rows, ${isRight ? 'right' : 'wrong'}`);
      expect(agrees({ project, rowsFrom }), `from ${rowsFrom}: ${statements.join('; ')}`).toBe(isRight);
      db.exec('ROLLBACK TO before; RELEASE before');
    }),
    { numRuns: 200 },
  );
  expect([...seen].sort()).toEqual([
    'all rows, right',
    'all rows, wrong',
    'some rows, right',
    'some rows, wrong',
  ]);
});
