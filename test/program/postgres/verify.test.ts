/** What `verify` finds where counters are not what the queries give: both kinds of counters, each in three ways. */
import { expect, inject, test } from 'vitest';
import {
  by,
  newSchemaIn,
  onDatabase,
  openForTest,
  projectOf,
  schemaOf,
} from '../../support/storage/store.js';

/** A bucket with so many queries has counters of all levels. */
const busy = { source: 'old', caller: 'api', count: 10_000 };

const databaseUrl = inject('postgresServers').at(-1)?.url ?? '';

test.each<[what: string, change: string, found: object]>([
  [
    'changed',
    'UPDATE caller_type_counter SET web = web + 2 WHERE level = 0 AND web = 1',
    { counted: { web: 3 }, recounted: { web: 1 } },
  ],
  [
    'removed',
    'DELETE FROM caller_type_counter WHERE level = 3 AND other = 1',
    { counted: { other: 0 }, recounted: { other: 1 } },
  ],
  [
    'added',
    "INSERT INTO caller_type_counter VALUES (77, 0, 5, 0, 2, 'p')",
    { counted: { api: 5 }, recounted: { api: 0 } },
  ],
  [
    'changed for one caller',
    'UPDATE caller_counter SET queries = queries + 2 WHERE level = 5',
    {
      caller: 'slack',
      level: 5,
      counted: { web: 0, api: 0, other: 3 },
      recounted: { web: 0, api: 0, other: 1 },
    },
  ],
  [
    'removed for one caller',
    'DELETE FROM caller_counter WHERE level = 0',
    { caller: 'slack', level: 0, bucket: -1, counted: { other: 0 }, recounted: { other: 1 } },
  ],
  [
    'added for one caller',
    "INSERT INTO caller_counter VALUES (77, 5, 2, 'p', 'zed')",
    { caller: 'zed', level: 2, bucket: 77, counted: { other: 5 }, recounted: { other: 0 } },
  ],
  [
    'changed, if some say that they include another query',
    "UPDATE query SET level = 1 WHERE caller = 'web'",
    { level: 0, counted: { web: 1 }, recounted: { web: 0 } },
  ],
])('verify finds a counter that was %s', async (_what, change, found) => {
  const url = newSchemaIn(databaseUrl);
  const store = await openForTest(url);
  await store.directory.createProject(projectOf('p'), by);
  const starts = [1_767_225_600_000, -1];
  await store.counts.importCounts(
    'p',
    starts.map((start) => ({ ...busy, start, end: start + 1 })),
  );
  await store.counts.record('p', [
    { id: 'a', caller: 'web', occurredAt: 1_767_225_600_000 },
    { id: 'b', caller: 'slack', occurredAt: -1 },
  ]);
  expect(await store.maintenance.verify()).toMatchObject({ queries: 2, differencesTotal: 0 });
  const schema = schemaOf(url);
  await onDatabase(url, (client) => client.query(`SET search_path = ${schema}; ${change}`));
  expect(await store.maintenance.verify()).toMatchObject({
    damage: [],
    differencesTotal: 1,
    differences: [{ projectId: 'p', ...found }],
  });
});

test('verify finds an imported count that changed or is gone', async () => {
  const url = newSchemaIn(databaseUrl);
  const store = await openForTest(url);
  await store.directory.createProject(projectOf('p'), by);
  const count = (caller: string) => ({ source: 'old', caller, start: -1, end: 5, count: 7 });
  await store.counts.importCounts('p', [count('web'), count('slack')]);
  expect(await store.maintenance.verify()).toMatchObject({ importedQueries: 14, differencesTotal: 0 });
  const change = (sql: string) =>
    onDatabase(url, (client) => client.query(`SET search_path = ${schemaOf(url)}; ${sql}`));
  await change("UPDATE imported_count SET queries = 6 WHERE caller = 'web'");
  // Every level has a counter of types.
  expect(await store.maintenance.verify()).toMatchObject({
    differencesTotal: 6,
    differences: [{ level: 0, bucket: -1, counted: { web: 7 }, recounted: { web: 6 } }, {}, {}, {}, {}, {}],
  });
  await change("DELETE FROM imported_count WHERE caller = 'slack'");
  // And one of the caller.
  expect(await store.maintenance.verify()).toMatchObject({ importedQueries: 6, differencesTotal: 12 });
});
