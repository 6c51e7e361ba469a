/** Files of another schema version, and what the newest one keeps to by itself. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import { migrateStore } from '../../../src/storage/open.js';
import { OLDEST_VERSION } from '../../../src/storage/sql/oldest-version.js';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { recount } from '../../laws/events.js';
import { keptQueries } from '../../support/kept-queries.js';
import { keptFile } from '../../support/storage/kept-schemas.js';
import { withFile } from '../../support/storage/sqlite-file.js';
import { by, projectOf } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';

/** The version, tables, indexes and triggers, without the differences that `ALTER TABLE` leaves in their texts. */
const schemaOf = (file: string) =>
  withFile(file, (db) => ({
    version: db.prepare('PRAGMA user_version').get()['user_version'],
    objects: db
      .prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name')
      .all()
      .map(({ type, name, sql }) => [type, name, plain(String(sql))]),
  }));

/** Without comments, spaces and quotes. */
const plain = (sql: string): string => sql.replaceAll(/--.*/g, '').replaceAll(/[\s"]+/g, '');

test.each([1, OLDEST_VERSION - 1])(
  'a file of version %i, which was never released, is refused with what upgrades it, and unchanged',
  async (version) => {
    const file = await keptFile(OLDEST_VERSION);
    withFile(file, (db) => db.exec(`PRAGMA user_version = ${version}`));
    const before = readFileSync(file);
    const refused = {
      code: 'unavailable',
      message: expect.stringMatching(
        /kept\.db has schema version \d+, which was never released; .* Open it with commit [0-9a-f]{40} of caller-stats/,
      ),
    };
    await expect(openSqliteStore(file)).rejects.toMatchObject(refused);
    await expect(migrateStore(`sqlite:${file}`, { distribute: false })).rejects.toMatchObject(refused);
    expect(readFileSync(file).equals(before)).toBe(true);
  },
);

test('a file of the oldest version gets the same schema as a new one, with all its queries', async () => {
  const file = await keptFile(OLDEST_VERSION);
  const store = await openSqliteStore(file);
  expect(await store.counts.count('docs', ALL_TIME)).toEqual(recount(keptQueries, ALL_TIME));
  await store.close();
  const newFile = join(await temporaryFolder(), 'new.db');
  await (await openSqliteStore(newFile)).close();
  expect(schemaOf(file)).toEqual(schemaOf(newFile));
  expect(schemaOf(newFile)).toMatchObject({ version: NEWEST_VERSION });
});

test('a file of the oldest version is upgraded once when several stores open it concurrently', async () => {
  const file = await keptFile(OLDEST_VERSION);
  const copies: string[] = [];
  const onBackup = (copy: string): void => void copies.push(copy);
  const stores = await Promise.all(Array.from({ length: 4 }, () => openSqliteStore(file, { onBackup })));
  for (const store of stores) {
    expect(await store.maintenance.verify()).toMatchObject({
      queries: keptQueries.length,
      differencesTotal: 0,
    });
    await store.close();
  }
  expect(copies).toHaveLength(NEWEST_VERSION > OLDEST_VERSION ? 1 : 0);
});

test('the file refuses changes of audit log entries', async () => {
  const file = join(await temporaryFolder(), 'store.db');
  const store = await openSqliteStore(file);
  await store.directory.createProject(projectOf('p'), by);
  const before = await store.directory.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 10 });
  for (const change of ["actor = 'nobody'", 'at = at', 'number = number + 1', "organization_id = 'other'"]) {
    expect(() => withFile(file, (db) => db.exec(`UPDATE audit SET ${change}`)), change).toThrow(
      /the audit log is never changed/,
    );
  }
  expect(before).toHaveLength(1);
  expect(await store.directory.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 10 })).toEqual(before);
  await store.close();
});
