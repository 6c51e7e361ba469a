import { CallerStatsError } from '../../../domain/errors.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../domain/projects/project.js';
import {
  type Connection,
  inTransaction,
  keepTemporariesInMemory,
  openConnection,
  setUpWriter,
} from '../connection.js';
import { isDamage } from '../errors.js';
import { writeSnapshot } from '../files/snapshot.js';
import { USER_TABLES } from './user-tables.js';

/** Marks a file as ours (`PRAGMA application_id`), so that another program's database is never migrated. */
export const APPLICATION_ID = 0x43535453;

/**
 * Each level of the callers' counters from the one below it, which has fewer rows than there are queries, and ever fewer.
 * A bucket's number is divided as a time is, floored.
 */
const WIDER_CALLER_COUNTERS = [10_000, 90, 12, 8, 32]
  .map(
    (times, at) => `
  INSERT INTO caller_counter (project, level, bucket, caller, queries)
    SELECT project, ${at + 1}, (bucket - ((bucket % ${times}) + ${times}) % ${times}) / ${times}, caller, sum(queries)
    FROM caller_counter WHERE level = ${at} GROUP BY 1, 3, 4 ORDER BY 1, 3, 4;`,
  )
  .join('');

/**
 * The schema's history: entry n brings a file from version n to n + 1. Released entries never change.
 *
 * - Project and caller are small integers in the rows and counters, for size; `query.id` is a canonical UUID's 16
 *   bytes or the text itself (see `query-id.ts`).
 * - `deleted_project` has the numbers of projects whose queries and counters are still to be removed. A number is never
 *   given twice, so a project that is made again with the same id has nothing to do with them.
 * - `type_counter` has a row per project, bucket level and bucket (see `domain/counting/buckets.ts`) in which anything happened,
 *   `caller_counter` one per caller of type other as well. The former was called `counter` before the latter was there:
 *   a process of that time that still has the file open would count by type alone, and cannot do so under this name.
 * - A project number's counters never fall while it is not deleted, which `rollup-cache.ts` relies on: whoever would have them fall
 *   gives the table another name.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE organization (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  INSERT INTO organization (id, name, created_at) VALUES ('${DEFAULT_ORGANIZATION_ID}', 'Default', 0);

  CREATE TABLE project (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL REFERENCES organization (id),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE api_key (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id),
    project_id TEXT REFERENCES project (id),
    type TEXT NOT NULL CHECK (type IN ('admin', 'recording')),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    start TEXT NOT NULL,
    "end" TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    CHECK ((type = 'recording') = (project_id IS NOT NULL))
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE caller (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  INSERT INTO caller (number, name) VALUES (0, 'web'), (1, 'api');

  CREATE TABLE query (
    project INTEGER NOT NULL,
    id ANY NOT NULL,
    occurred_at INTEGER NOT NULL,
    caller INTEGER NOT NULL,
    PRIMARY KEY (project, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE counter (
    project INTEGER NOT NULL,
    level INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    web INTEGER NOT NULL,
    api INTEGER NOT NULL,
    other INTEGER NOT NULL,
    PRIMARY KEY (project, level, bucket)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE api_key ADD COLUMN disabled_at INTEGER;
  ALTER TABLE api_key ADD COLUMN scopes TEXT NOT NULL DEFAULT 'read,write';
  ALTER TABLE api_key ADD COLUMN allow TEXT NOT NULL DEFAULT '';
  ALTER TABLE api_key ADD COLUMN successor_id TEXT;
  UPDATE api_key SET scopes = 'write' WHERE type = 'recording';

  CREATE TABLE member (
    organization_id TEXT NOT NULL REFERENCES organization (id),
    email TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, email)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    target_id TEXT NOT NULL,
    detail TEXT NOT NULL
  ) STRICT;

  CREATE INDEX audit_of_organization ON audit (organization_id, number);

  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit log is never changed');
  END;
  `,
  `
  ALTER TABLE counter RENAME TO type_counter;

  CREATE TABLE caller_counter (
    project INTEGER NOT NULL,
    level INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    caller INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    PRIMARY KEY (project, level, bucket, caller)
  ) STRICT, WITHOUT ROWID;

  INSERT INTO caller_counter (project, level, bucket, caller, queries)
    SELECT project, 0, occurred_at, caller, count(*) FROM query WHERE caller > 1 GROUP BY 1, 3, 4 ORDER BY 1, 3, 4;
  ${WIDER_CALLER_COUNTERS}
  `,
  USER_TABLES,
  `
  ALTER TABLE project ADD COLUMN time_zone TEXT;
  ALTER TABLE project ADD COLUMN retention_days INTEGER;
  ALTER TABLE project ADD COLUMN rows_from INTEGER;
  ALTER TABLE project ADD COLUMN swept_to ANY;

  CREATE TABLE deleted_project (
    number INTEGER PRIMARY KEY
  ) STRICT;

  CREATE INDEX audit_of_actor ON audit (organization_id, actor, number);
  CREATE INDEX audit_of_action ON audit (organization_id, action, number);
  CREATE INDEX audit_of_target ON audit (organization_id, target_id, number);
  `,
];

export const NEWEST_VERSION = MIGRATIONS.length;

/** What becomes of a file of an older version. */
export interface Keeping {
  /** Whether it is kept beside the new one; it is unless told. */
  readonly keepOld?: boolean | undefined;
  /** Called with the name of the copy. */
  readonly onBackup?: (copy: string) => void;
}

/**
 * Opens a file for writing, with its schema at the newest version. See `migrate` for what is refused, untouched.
 */
export function openMigrated(
  file: string,
  migrations: readonly string[] = MIGRATIONS,
  keeping: Keeping = {},
): Connection {
  const db = openConnection(file);
  try {
    versionOf(db, file, migrations.length);
    setUpWriter(db);
    migrate(db, file, migrations, keeping);
    keepTemporariesInMemory(db);
    return db;
  } catch (error) {
    db.close();
    if (!isDamage(error)) throw error;
    throw new CallerStatsError(
      'unavailable',
      `${file} is not a database, or is damaged; name another, or restore a backup.`,
      { cause: error },
    );
  }
}

/**
 * Brings a file to the newest version, all of it in one transaction: a kill half-way leaves the old version.
 * Processes that start at the same moment take turns, and the later ones find nothing left to do. What was there before
 * is kept beside it, so that an upgrade can be taken back; without room for that, it stays.
 * Refuses, untouched, a file of a newer version or of another program.
 */
function migrate(db: Connection, file: string, migrations: readonly string[], keeping: Keeping): void {
  if (versionOf(db, file, migrations.length) === migrations.length) return;
  inTransaction(db, () => {
    // Again, for another process may have been first.
    const version = versionOf(db, file, migrations.length);
    if (version === migrations.length) return;
    // The transaction keeps all others from writing, and nothing is changed in it yet: the copy is of this very state.
    if (version > 0) keepAsItWas(file, version, keeping);
    for (const statements of migrations.slice(version)) db.exec(statements);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.length};`);
  });
}

function keepAsItWas(file: string, version: number, { keepOld = true, onBackup }: Keeping): void {
  if (!keepOld) return;
  const copy = `${file}.version-${version}`;
  try {
    writeSnapshot(file, copy);
    onBackup?.(copy);
  } catch (error) {
    if (!(error instanceof CallerStatsError)) throw error;
    throw new CallerStatsError(
      error.code,
      `${file} was not upgraded from schema version ${version}, for lack of a backup: ${error.message} Make room, or ` +
        'make a backup elsewhere and run caller-stats migrate --no-backup.',
      { cause: error.cause },
    );
  }
}

/** The schema's version; 0 for an empty file. `unavailable` for a newer one than `newest`, and for another program's file. */
export function versionOf(db: Connection, file: string, newest: number): number {
  const tables = Number(db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get().tables);
  if (tables === 0) return 0;
  if (readPragma(db, 'application_id') !== APPLICATION_ID) {
    throw new CallerStatsError('unavailable', `${file} is a database of another program; name another file.`);
  }
  const version = readPragma(db, 'user_version');
  if (version > newest) {
    throw new CallerStatsError(
      'unavailable',
      `${file} has schema version ${version}, made by a newer caller-stats; this one knows versions up to ${newest}. ` +
        'Start it with the newer version, or restore a backup from before the upgrade.',
    );
  }
  return version;
}

/** `unavailable` where a program of another version has changed the schema since the file was opened. */
export function requireNewest(db: Connection): void {
  const version = readPragma(db, 'user_version');
  if (version === NEWEST_VERSION) return;
  throw new CallerStatsError(
    'unavailable',
    `The database has schema version ${version} now, made by another caller-stats; this one works with ${NEWEST_VERSION}.`,
  );
}

function readPragma(db: Connection, name: 'application_id' | 'user_version'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()[name]);
}
