/** The store on one SQLite file. */
import type { OpenOptions } from '../ports/open-options.js';
import type { Store } from '../ports/store.js';
import type { CommitObserver } from '../ports/store-stats.js';
import { RecordingCheck } from '../recording-check.js';
import { SqlHistory } from '../sql/history.js';
import { SqlCorrections, SqlIdentities, SqlIngestion, SqlNotifications, SqlThrottles } from '../sql/parts.js';
import type { Session } from '../sql/session.js';
import { SqliteCounts } from './counts.js';
import { SQLITE } from './dialect.js';
import { SqliteDirectory } from './directory.js';
import { storeError } from './errors.js';
import { SqliteFile } from './file.js';
import { makePrivately } from './files/opened-file.js';
import { SqliteMaintenance } from './maintenance.js';
import { isReady } from './migrations/migrate.js';
import { SqliteQueryRows } from './query-rows.js';
import { SqliteUserTables } from './user-tables.js';
import { WriterHandle } from './writer/writer-handle.js';

/** Opens the file, creates it and its folder if they do not exist, and migrates its schema. */
export async function openSqliteStore(
  file: string,
  { forImport, commits, onBackup }: OpenOptions = {},
): Promise<Store> {
  await makePrivately(file);
  const start = () => WriterHandle.start({ file, forImport });
  // Most commands only read. The thread starts with the first change, if nothing must be changed before.
  const writer = isReady(file) ? undefined : await start();
  if (writer?.kept) onBackup?.(writer.kept);
  try {
    return new SqliteStore(file, start, writer, commits);
  } catch (error) {
    await writer?.close();
    throw storeError(error);
  }
}

class SqliteStore implements Store {
  readonly counts: SqliteCounts;
  readonly corrections: SqlCorrections;
  readonly history: SqlHistory;
  readonly directory: SqliteDirectory;
  readonly maintenance: SqliteMaintenance;
  readonly users: SqliteUserTables;
  readonly throttles: SqlThrottles;
  readonly ingestion: SqlIngestion;
  readonly identities: SqlIdentities;
  readonly notifications: SqlNotifications;
  readonly #file: SqliteFile;

  constructor(
    name: string,
    startWriter: () => Promise<WriterHandle>,
    writer: WriterHandle | undefined,
    commits: CommitObserver | undefined,
  ) {
    const recordingCheck = new RecordingCheck(() => file.submit({ kind: 'tryCommit' }));
    const file: SqliteFile = new SqliteFile(name, startWriter, writer, recordingCheck.observe(commits));
    const reads: Session = {
      all: (sql, values) => file.read(({ statements }) => statements.all(sql, values)),
      run: () => {
        throw new Error('a read changes nothing');
      },
    };
    this.#file = file;
    this.counts = new SqliteCounts(file);
    const rows = new SqliteQueryRows(reads);
    this.history = new SqlHistory(reads, SQLITE, rows);
    this.corrections = new SqlCorrections(reads, SQLITE, rows, (method, args) =>
      file.submit({ kind: 'corrections', method, args }),
    );
    this.directory = new SqliteDirectory(file, reads, (method, args) =>
      file.submit({ kind: 'directory', method, args }),
    );
    this.maintenance = new SqliteMaintenance(file, recordingCheck);
    this.users = new SqliteUserTables(file);
    this.throttles = new SqlThrottles((method, args) => file.submit({ kind: 'throttles', method, args }));
    this.ingestion = new SqlIngestion(reads, SQLITE, (method, args) =>
      file.submit({ kind: 'ingestion', method, args }),
    );
    this.identities = new SqlIdentities((method, args) => file.submit({ kind: 'identities', method, args }));
    this.notifications = new SqlNotifications(reads, SQLITE, (method, args) =>
      file.submit({ kind: 'notifications', method, args }),
    );
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
