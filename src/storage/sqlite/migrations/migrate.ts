import { statSync } from 'node:fs';
import { CallerStatsError } from '../../../domain/errors.js';
import { SqlDirectoryReads } from '../../sql/directory-reads.js';
import { SqlIngestionReads } from '../../sql/ingestion.js';
import { OLDEST_VERSION, requireReleased } from '../../sql/oldest-version.js';
import {
  type Connection,
  inTransaction,
  openConnection,
  openReader,
  openUnchanged,
  setUpWriter,
} from '../connection.js';
import { SQLITE } from '../dialect.js';
import { isDamage, storeError } from '../errors.js';
import { using, writeSnapshot } from '../files/snapshot.js';
import { prepareArrays, Statements } from '../statements.js';
import { MIGRATIONS, NEWEST_VERSION, newestOf } from './index.js';
import { requireOwnActions } from './schema.js';

/** Marks our files (`PRAGMA application_id`), so that the database of another program is never migrated. */
const APPLICATION_ID = 0x43535453;

/** Whether a file of an older version is backed up before it is migrated. */
export interface BackupOptions {
  /** True by default. */
  readonly keepOld?: boolean | undefined;
  /** Called with the file name of the backup. */
  readonly onBackup?: (copy: string) => void;
}

/** Opens a file for writing and migrates it to the newest version. */
export function openMigrated(
  file: string,
  migrations: readonly string[] = MIGRATIONS,
  backup: BackupOptions = {},
): Connection {
  const db = openConnection(file);
  try {
    versionOf(db, file, newestOf(migrations));
    setUpWriter(db);
    migrate(db, file, migrations, backup);
    // For the small sorts of recording. Those of migrations are as large as the tables, so they stay on disk.
    db.exec('PRAGMA temp_store = MEMORY');
    return db;
  } catch (error) {
    db.close();
    throw isDamage(error) ? damaged(file, error) : error;
  }
}

/** The schema version of a file, which stays as it is. Throws `unavailable` if this program cannot use the file. */
export function inspectFile(file: string, open = openUnchanged): number {
  return inspect(open, file, (_db, version) => version);
}

/**
 * Whether a file can be read as it is, and changed later: it has the newest schema, and a log. A file that was restored gets its log
 * from its first writer, which would have to wait for all that read it.
 */
export function isReady(file: string): boolean {
  const hasLog = (db: Connection) => db.prepare('PRAGMA journal_mode').get()['journal_mode'] === 'wal';
  return inspect(openReader, file, (db, version) => version === NEWEST_VERSION && hasLog(db));
}

function inspect<T>(
  open: (file: string) => Connection,
  file: string,
  look: (db: Connection, version: number) => T,
): T {
  try {
    return using(open(file), (db) => look(db, versionOf(db, file, NEWEST_VERSION)));
  } catch (error) {
    throw isDamage(error) ? damaged(file, error) : storeError(error);
  }
}

/** Reads the tables of the newest schema in a file, which stays as it is. */
export async function readFile<T>(
  file: string,
  read: (reads: {
    readonly directory: SqlDirectoryReads;
    readonly ingestion: SqlIngestionReads;
  }) => Promise<T>,
): Promise<T> {
  const db = openUnchanged(file);
  try {
    const statements = new Statements(db);
    return await read({
      directory: new SqlDirectoryReads(statements, SQLITE),
      ingestion: new SqlIngestionReads(statements, SQLITE),
    });
  } catch (error) {
    throw storeError(error);
  } finally {
    db.close();
  }
}

function damaged(file: string, cause: unknown): CallerStatsError {
  return new CallerStatsError(
    'unavailable',
    `${file} is not a database, or is damaged; name another, or restore a backup.`,
    { cause },
  );
}

/**
 * Migrates a file in one transaction, so a process killed half-way leaves the old version. Processes that start at the same
 * time take turns, and the later ones find nothing to do. Makes a backup first, so that the upgrade can be undone; without
 * room for it, the file stays as it is.
 */
function migrate(db: Connection, file: string, migrations: readonly string[], backup: BackupOptions): void {
  const newest = newestOf(migrations);
  if (versionOf(db, file, newest) === newest) return;
  inTransaction(db, () => {
    // Another process may have migrated it meanwhile.
    const version = versionOf(db, file, newest);
    if (version === newest) return;
    // The transaction holds the write lock and has changed nothing yet, so the backup is of exactly this state.
    if (version > 0) backUpOld(file, version, backup);
    const done = version === 0 ? 0 : version - OLDEST_VERSION + 1;
    for (const statements of migrations.slice(done)) db.exec(statements);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${newest};`);
  });
}

function backUpOld(file: string, version: number, { keepOld = true, onBackup }: BackupOptions): void {
  if (!keepOld) return;
  const copy = `${file}.version-${version}`;
  try {
    writeSnapshot(file, copy, { mode: 0o600, owner: statSync(file) });
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

/**
 * The schema version, 0 for an empty file. Throws `unavailable` if it is newer than `newest`, was never released, or the file
 * is not ours or has triggers or views that are not.
 */
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
  requireReleased(version, file);
  requireOwnActions(db, file);
  return version;
}

/** Returns a function that throws `unavailable` if a program of another version has changed the schema since the file was opened. */
export function prepareVersionCheck(db: Connection): () => void {
  const readVersion = prepareArrays<readonly [number]>(db, 'PRAGMA user_version');
  return () => {
    const version = readVersion.get()?.[0];
    if (version === NEWEST_VERSION) return;
    throw new CallerStatsError(
      'unavailable',
      `The database has schema version ${version} now, made by another caller-stats; this one works with ${NEWEST_VERSION}.`,
    );
  };
}

/** A change of the file that changes nothing in it. */
export function rewriteVersion(db: Connection): null {
  db.exec(`PRAGMA user_version = ${readPragma(db, 'user_version')}`);
  return null;
}

function readPragma(db: Connection, name: 'application_id' | 'user_version'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()[name]);
}
