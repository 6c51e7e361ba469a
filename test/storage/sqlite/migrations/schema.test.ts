/** Files whose schema somebody else changed: what a backup may do when it is restored or opened. */
import { existsSync, readFileSync } from 'node:fs';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { OLDEST_VERSION } from '../../../../src/storage/sql/oldest-version.js';
import { backUpFile, restoreFile } from '../../../../src/storage/sqlite/files/backup.js';
import { MIGRATIONS, NEWEST_VERSION } from '../../../../src/storage/sqlite/migrations/index.js';
import { inspectFile, openMigrated } from '../../../../src/storage/sqlite/migrations/migrate.js';
import { withFile } from '../../../support/storage/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';

/** A backup of a file as migrations up to a version leave it, with a change. */
async function fileOf(change: Change, version = NEWEST_VERSION): Promise<string> {
  const folder = await temporaryFolder();
  const [first, file] = [`${folder}/first.db`, `${folder}/changed.db`];
  openMigrated(first, MIGRATIONS.slice(0, version - OLDEST_VERSION + 1)).close();
  backUpFile(first, file, false);
  withFile(file, (db) => (typeof change === 'string' ? db.exec(change) : change(db)));
  return file;
}

async function restored(file: string): Promise<string> {
  const target = `${await temporaryFolder()}/restored.db`;
  restoreFile(file, target, false, 0);
  return target;
}

type Change = string | ((db: DatabaseSyncInstance) => void);

/** Makes an empty table again, by another statement. */
const remade =
  (table: string, ours: string, theirs: string): Change =>
  (db) => {
    const { sql } = db.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(table);
    const changed = String(sql).replace(ours, theirs);
    expect(changed).not.toBe(sql);
    db.exec(`PRAGMA foreign_keys = OFF; DROP TABLE ${table}; ${changed}`);
  };

/** What runs statements of its own: refused by whatever opens the file, too. */
const ACTIONS: readonly (readonly [string, Change, string])[] = [
  ['a trigger', 'CREATE TRIGGER steal AFTER INSERT ON query BEGIN DELETE FROM audit; END', 'trigger "steal"'],
  [
    'a trigger with the name of a table',
    'CREATE TRIGGER query AFTER INSERT ON query BEGIN DELETE FROM audit; END',
    'trigger "query"',
  ],
  [
    'a trigger with the name of ours',
    'DROP TRIGGER audit_is_never_changed; CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN SELECT 1; END',
    'trigger "audit_is_never_changed"',
  ],
  ['a view', 'CREATE VIEW totals AS SELECT count(*) FROM query', 'view "totals"'],
  [
    'a view in place of a table',
    'ALTER TABLE user_session RENAME TO mine; CREATE VIEW user_session AS SELECT * FROM mine',
    'view "user_session"',
  ],
];
const CHANGES: readonly (readonly [string, Change, string])[] = [
  ['a table', 'CREATE TABLE theirs (x)', 'table "theirs"'],
  ['an index', 'CREATE INDEX theirs ON query (caller)', 'index "theirs"'],
  ['a column', 'ALTER TABLE project ADD COLUMN theirs TEXT', 'table "project"'],
  ['no trigger of ours', 'DROP TRIGGER audit_is_never_changed', 'no "audit_is_never_changed"'],
  ['no index of ours', 'DROP INDEX audit_of_actor', 'no "audit_of_actor"'],
  [
    'a comment that hides a text',
    remade('api_key', "'read,write'", "'read--' DEFAULT '\n,write'"),
    'table "api_key"',
  ],
  ['a constraint less', remade('organization', 'name TEXT NOT NULL', 'name TEXT'), 'table "organization"'],
  [
    'a name in quotes that is a keyword without them',
    remade('audit', 'detail TEXT NOT NULL', 'detail TEXT DEFAULT "NULL" NOT NULL'),
    'table "audit"',
  ],
  [
    'a default that is computed',
    remade('audit', 'detail TEXT NOT NULL', 'detail TEXT NOT NULL DEFAULT (hex(randomblob(9)))'),
    'table "audit"',
  ],
  [
    'a name with control characters',
    'CREATE TABLE "\u001b[2Jthree\nlines" (x)',
    'table "\\u001b[2Jthree\\nlines"',
  ],
];

describe.each([OLDEST_VERSION, NEWEST_VERSION])('a backup of version %i', (version) => {
  test.each([...ACTIONS, ...CHANGES])('is not restored with %s', async (_what, change, named) => {
    const file = await fileOf(change, version);
    const before = readFileSync(file);
    const target = `${await temporaryFolder()}/restored.db`;
    expect(() => restoreFile(file, target, false, 0)).toThrow(`${file} `);
    expect(() => restoreFile(file, target, false, 0)).toThrow(named);
    expect(existsSync(target)).toBe(false);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test.each(ACTIONS)('is not opened with %s', async (_what, change, named) => {
    const file = await fileOf(change, version);
    const before = readFileSync(file);
    for (const open of [openMigrated, inspectFile]) expect(() => open(file)).toThrow(named);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

test('a file that could not be restored is not backed up: its owner hears of it in time', async () => {
  const file = await fileOf('CREATE TABLE theirs (x)');
  expect(() => backUpFile(file, `${file}.copy`, false)).toThrow(/drop it with sqlite3/);
  withFile(file, (db) => db.exec('DROP TABLE theirs'));
  expect(backUpFile(file, `${file}.copy`, false)).toMatchObject({ projects: 0 });
});

test('a message names some of many differences', async () => {
  const file = await fileOf([1, 2, 3, 4, 5].map((at) => `CREATE TABLE theirs_${at} (x)`).join(';'));
  await expect(restored(file)).rejects.toThrow(
    /it has the table "theirs_1", the table "theirs_2", the table "theirs_3" and more\. If you/,
  );
});

test('a file whose statistics were made, and that was vacuumed, is restored', async () => {
  const file = await fileOf('ANALYZE; VACUUM');
  const target = await restored(file);
  openMigrated(target).close();
});
