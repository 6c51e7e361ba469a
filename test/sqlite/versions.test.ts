/** Files of an older schema, and what the newest one keeps to by itself. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/project.js';
import { CALLER_TYPES, callerType } from '../../src/domain/queries/caller.js';
import { MIGRATIONS } from '../../src/storage/sqlite/migrations/index.js';
import { openMigrated } from '../../src/storage/sqlite/migrations/migrate.js';
import { openSqliteStore } from '../../src/storage/sqlite/store.js';
import {
  expectUpToDate,
  firstVersionKeyColumns,
  firstVersionKeys,
  firstVersionKeyValues,
  firstVersionProjects,
  firstVersionQueries,
} from '../support/storage/first-version.js';
import { withFile } from '../support/storage/sqlite-file.js';
import { by, projectOf } from '../support/storage/store.js';
import { temporaryFolder } from '../support/temporary.js';

/** A file as the first version left it, closed. */
async function firstVersionFile(): Promise<string> {
  const file = join(await temporaryFolder(), 'store.db');
  openMigrated(file, MIGRATIONS.slice(0, 1)).close();
  withFile(file, (db) => {
    db.exec("INSERT INTO organization (id, name, created_at) VALUES ('rival', 'Rival', 500)");
    for (const { id, organizationId, name, createdAt } of firstVersionProjects) {
      db.prepare('INSERT INTO project (id, organization_id, name, created_at) VALUES (?, ?, ?, ?)').run(
        ...[id, organizationId, name, createdAt],
      );
    }
    for (const key of firstVersionKeys) {
      const values = firstVersionKeyValues(key);
      db.prepare(
        `INSERT INTO api_key (${firstVersionKeyColumns}) VALUES (${values.map(() => '?').join(', ')})`,
      ).run(...values);
    }
    for (const { id, caller, occurredAt } of firstVersionQueries) {
      db.prepare('INSERT INTO caller (name) VALUES (?) ON CONFLICT DO NOTHING').run(caller);
      db.prepare(
        'INSERT INTO query (project, id, occurred_at, caller) SELECT 1, ?, ?, number FROM caller WHERE name = ?',
      ).run(id, occurredAt, caller);
      const types = CALLER_TYPES.map((type) => (type === callerType(caller) ? 1 : 0));
      for (const [level, width] of BUCKET_WIDTHS_MS.entries()) {
        db.prepare(
          `INSERT INTO counter (project, level, bucket, web, api, other) VALUES (1, ?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET
             web = web + excluded.web, api = api + excluded.api, other = other + excluded.other`,
        ).run(...[level, Math.floor(occurredAt / width), ...types]);
      }
    }
  });
  return file;
}

const stateOf = (file: string) =>
  withFile(file, (db) => ({
    version: db.prepare('PRAGMA user_version').get().user_version,
    schema: db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all(),
    keys: db.prepare('SELECT * FROM api_key').all(),
  }));

describe('a file of the first version', () => {
  test('is migrated with all its data', async () => {
    const file = await firstVersionFile();
    expect(stateOf(file)).toMatchObject({ version: 1 });
    const store = await openSqliteStore(file);
    await expectUpToDate(store);
    await store.close();
    expect(stateOf(file)).toMatchObject({ version: MIGRATIONS.length });
  });

  test('is migrated once when several stores open it concurrently', async () => {
    const file = await firstVersionFile();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openSqliteStore(file)));
    for (const store of stores) expect(await store.listKeys('rival')).toHaveLength(1);
    const [store] = stores;
    if (store !== undefined) await expectUpToDate(store);
    for (const one of stores) await one.close();
  });

  test('is unchanged if a migration fails, and can be migrated later', async () => {
    const file = await firstVersionFile();
    // Comes in the way behind the changes of the keys.
    withFile(file, (db) => db.exec('CREATE TABLE member (x)'));
    const before = stateOf(file);
    await expect(openSqliteStore(file)).rejects.toThrow();
    expect(stateOf(file)).toEqual(before);
    withFile(file, (db) => db.exec('DROP TABLE member'));
    const store = await openSqliteStore(file);
    await expectUpToDate(store);
    await store.close();
  });
});

test('a process that has an older version open can no longer count', async () => {
  const file = await firstVersionFile();
  const old = openMigrated(file, MIGRATIONS.slice(0, 2));
  const add = old.prepare(
    'INSERT INTO counter (project, level, bucket, web, api, other) VALUES (1, 0, 7, 0, 0, 1)',
  );
  const store = await openSqliteStore(file);
  expect(() => add.run()).toThrow(/no such table: .*counter/);
  old.close();
  await expectUpToDate(store);
});

test('the file refuses changes of audit log entries', async () => {
  const file = join(await temporaryFolder(), 'store.db');
  const store = await openSqliteStore(file);
  await store.createProject(projectOf('p'), by);
  const before = await store.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 10 });
  for (const change of ["actor = 'nobody'", 'at = at', 'number = number + 1', "organization_id = 'other'"]) {
    expect(() => withFile(file, (db) => db.exec(`UPDATE audit SET ${change}`)), change).toThrow(
      /the audit log is never changed/,
    );
  }
  expect(before).toHaveLength(1);
  expect(await store.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 10 })).toEqual(before);
  await store.close();
});
