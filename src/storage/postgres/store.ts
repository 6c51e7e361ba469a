/** The store on PostgreSQL. Any number of processes may use the same database at once. */
import { isUnavailable } from '../../domain/errors.js';
import type { CorrectionChanges } from '../ports/corrections.js';
import type { Identities } from '../ports/identities.js';
import type { Store } from '../ports/store.js';
import { RecordingCheck } from '../recording-check.js';
import { SqlCorrectionChanges } from '../sql/corrections/corrections.js';
import { SqlHistory } from '../sql/history.js';
import { SqlIdentityChanges } from '../sql/identities/identity-changes.js';
import { SqlIngestionChanges } from '../sql/ingestion.js';
import { SqlNotificationChanges } from '../sql/notifications.js';
import { SqlCorrections, SqlIdentities, SqlIngestion, SqlNotifications, SqlThrottles } from '../sql/parts.js';
import { call } from '../sql/session.js';
import { SqlThrottleChanges } from '../sql/throttles.js';
import { cannotWrite } from './connection/errors.js';
import type { PostgresLocation } from './connection/location.js';
import { OpenDatabase } from './connection/open-database.js';
import { PostgresCounts } from './counts.js';
import { PostgresDirectory } from './directory.js';
import { PostgresMaintenance } from './maintenance.js';
import type { PostgresOptions } from './migrations/schema-readiness.js';
import { PostgresQueryChanges, PostgresQueryRows } from './query-rows.js';
import { PostgresUserTables } from './user-tables.js';

/** Opens the store, creates it if it does not exist, and migrates its schema. */
export async function openPostgresStore(
  location: PostgresLocation,
  options: PostgresOptions,
): Promise<Store> {
  const database = new OpenDatabase(location, options);
  const store = new PostgresStore(database, location, options);
  try {
    await database.schema.ready();
  } catch (error) {
    if (!(isUnavailable(error) && options.allowUnavailable)) {
      await store.close();
      throw error;
    }
  }
  return store;
}

class PostgresStore implements Store {
  readonly counts: PostgresCounts;
  readonly corrections: SqlCorrections;
  readonly history: SqlHistory;
  readonly directory: PostgresDirectory;
  readonly maintenance: PostgresMaintenance;
  readonly users: PostgresUserTables;
  readonly throttles: SqlThrottles;
  readonly ingestion: SqlIngestion;
  readonly identities: SqlIdentities;
  readonly notifications: SqlNotifications;
  readonly #database: OpenDatabase;
  #closing: Promise<void> | undefined;

  constructor(database: OpenDatabase, { schema }: PostgresLocation, { commits }: PostgresOptions) {
    const { session, dialect } = database;
    // Only a changed row finds a read-only server as well as a full disk. This one has no reader: its window has ended when it is
    // added, so the same transaction removes it.
    const recordingCheck = new RecordingCheck(() =>
      this.throttles.take('recording-check', { attemptsMax: 1, windowMs: 0 }, 0),
    );
    this.#database = database;
    // Other errors may concern a connection, or one server of a cluster.
    this.counts = new PostgresCounts(database, recordingCheck.observe(commits, cannotWrite));
    const { statements } = database;
    const rows = new PostgresQueryRows(session, statements);
    this.history = new SqlHistory(session, dialect, rows);
    this.corrections = new SqlCorrections(session, dialect, rows, (method, args) =>
      database.changeProject(String(args[0]), (own) =>
        call<CorrectionChanges, typeof method>(
          new SqlCorrectionChanges(own, dialect, new PostgresQueryChanges(own, statements)),
          method,
          args,
        ),
      ),
    );
    this.directory = new PostgresDirectory(database);
    this.maintenance = new PostgresMaintenance(database, this.counts, recordingCheck);
    this.users = new PostgresUserTables(database, schema);
    this.throttles = new SqlThrottles((method, args) =>
      database.changeInOrder((own) => call(new SqlThrottleChanges(own, dialect), method, args)),
    );
    this.ingestion = new SqlIngestion(session, dialect, (method, args) =>
      database.changeProject(String(args[0]), (own) =>
        call(new SqlIngestionChanges(own, dialect), method, args),
      ),
    );
    this.identities = new SqlIdentities((method, args) =>
      database.changeProject(String(args[0]), (own) =>
        call<Identities, typeof method>(
          new SqlIdentityChanges(own, dialect, new PostgresQueryChanges(own, statements)),
          method,
          args,
        ),
      ),
    );
    this.notifications = new SqlNotifications(session, dialect, (method, args) =>
      database.change((own) => call(new SqlNotificationChanges(own, dialect), method, args)),
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Finishes what was accepted first; all of it has a deadline. */
  async #close(): Promise<void> {
    this.#database.refuse();
    await this.counts.close();
    await this.#database.close();
  }
}
