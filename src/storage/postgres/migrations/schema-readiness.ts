/** Whether the schema has the version that this program works with. Checked again after each failure. */
import { CallerStatsError } from '../../../domain/errors.js';
import type { OpenOptions } from '../../ports/open-options.js';
import { type Database, type DatabaseOptions, withDatabaseDeadline } from '../connection/database.js';
import { diagnose, unavailable } from '../connection/errors.js';
import type { PostgresLocation } from '../connection/location.js';
import { statementsIn } from '../statements/statements.js';
import { NEWEST_VERSION } from './index.js';
import { isComplete, migrate, otherVersion } from './migrate.js';

export type PostgresOptions = OpenOptions & DatabaseOptions;

export class SchemaReadiness {
  readonly #database: Database;
  readonly #location: PostgresLocation;
  readonly #options: PostgresOptions;
  #isReady = false;
  /** A schema that was ready and is gone is being restored, so it must not be created again. */
  #wasReady = false;
  #preparing: Promise<void> | undefined;
  /** Ends `#preparing`, which may wait for another node for long. */
  readonly #givenUp = new AbortController();

  constructor(database: Database, location: PostgresLocation, options: PostgresOptions) {
    this.#database = database;
    this.#location = location;
    this.#options = options;
  }

  /** Migrates the schema unless it is ready. After a failure the next call tries again. */
  async ready(): Promise<void> {
    if (this.#isReady) return;
    this.#preparing ??= this.#prepare().finally(() => {
      this.#preparing = undefined;
    });
    const preparing = this.#preparing;
    await withDatabaseDeadline(this.#options.timeoutMs, () => preparing);
  }

  /** Reads the version, and throws if it does not match. */
  async check(): Promise<void> {
    await this.ready();
    this.requireVersion(await this.#readVersion());
  }

  /** Throws if `version`, just read from the database, does not match: another node has changed the schema. */
  requireVersion(version: unknown): void {
    if (version === NEWEST_VERSION) return;
    this.#isReady = false;
    throw otherVersion(typeof version === 'number' ? version : null, this.#location.name);
  }

  /** Cancels a migration in progress. */
  giveUp(): void {
    this.#givenUp.abort();
  }

  async #prepare(): Promise<void> {
    const create = !(this.#options.mustExist || this.#wasReady);
    try {
      // Read with a deadline first, because a session has none and could wait forever on a dead connection.
      if (!((await this.#isNewest()) && (await this.#isComplete()))) {
        await this.#database.session(
          (session) => migrate(session, this.#location, create),
          this.#givenUp.signal,
        );
      }
    } catch (error) {
      const gone = this.#wasReady && error instanceof CallerStatsError && error.code === 'not_found';
      throw gone ? unavailable('The database cannot be used now: its tables are gone.', error) : error;
    }
    this.#isReady = true;
    this.#wasReady = true;
  }

  async #readVersion(): Promise<number | undefined> {
    const { version: text } = statementsIn(this.#location.schema);
    const [row] = await this.#database.read<{ readonly version: number }>({ text });
    return row?.version;
  }

  async #isNewest(): Promise<boolean> {
    try {
      return (await this.#readVersion()) === NEWEST_VERSION;
    } catch (error) {
      if (error instanceof CallerStatsError && diagnose(error.cause).otherSchema) return false;
      throw error;
    }
  }

  #isComplete(): Promise<boolean> {
    const all = <R>(text: string, values?: readonly unknown[]) => this.#database.read<R>({ text }, values);
    return isComplete({ all }, this.#location.schema);
  }
}
