/** Whether the database's schema is the one that this program works with, found out anew after each failure. */
import { CallerStatsError } from '../../../domain/errors.js';
import type { CommitWatch } from '../../ports/store-stats.js';
import { type Database, type DatabaseOptions, withDatabaseDeadline } from '../database.js';
import { diagnose, unavailable } from '../errors.js';
import type { PostgresLocation } from '../location.js';
import { statementsIn } from '../statements.js';
import { migrate, NEWEST_VERSION, otherVersion } from './migrations.js';

export interface PostgresOptions extends DatabaseOptions {
  /** Refuses (`not_found`) where there is no schema yet, instead of making one. */
  readonly mustExist?: boolean;
  /**
   * Gives a store even where the database cannot be used now. Its methods answer `unavailable` until it can, each call
   * finding out anew.
   */
  readonly allowUnavailable?: boolean;
  readonly commits?: CommitWatch | undefined;
}

export class SchemaReadiness {
  readonly #database: Database;
  readonly #location: PostgresLocation;
  readonly #options: PostgresOptions;
  /** Whether the schema is known to be the one that this program works with. */
  #isReady = false;
  /** Whether it ever was: a schema that is gone since then is being restored, and not for us to make anew. */
  #wasReady = false;
  #preparing: Promise<void> | undefined;
  /** Ends `#preparing`, which may have to wait long for another node. */
  readonly #givenUp = new AbortController();

  constructor(database: Database, location: PostgresLocation, options: PostgresOptions) {
    this.#database = database;
    this.#location = location;
    this.#options = options;
  }

  /** Brings the schema up to date, where that is not done yet; after a failure the next call tries again. */
  async ready(): Promise<void> {
    if (this.#isReady) return;
    this.#preparing ??= this.#prepare().finally(() => {
      this.#preparing = undefined;
    });
    const preparing = this.#preparing;
    await withDatabaseDeadline(this.#options.timeoutMs, () => preparing);
  }

  /** Reads the version and throws as `requireVersion` does. */
  async check(): Promise<void> {
    await this.ready();
    const { version: text } = statementsIn(this.#location.schema);
    const [row] = await this.#database.read({ text });
    this.requireVersion(row?.['version']);
  }

  /** Throws where `version`, as the database has just given it, is not ours: another node has changed the schema. */
  requireVersion(version: unknown): void {
    if (version === NEWEST_VERSION) return;
    this.#isReady = false;
    throw otherVersion(typeof version === 'number' ? version : null, this.#location.name);
  }

  /** Ends what is under way. */
  giveUp(): void {
    this.#givenUp.abort();
  }

  async #prepare(): Promise<void> {
    const create = !(this.#options.mustExist || this.#wasReady);
    try {
      // Asked first as any read is: a session has no deadline, and could wait for ever at a connection that is dead.
      if (!(await this.#isNewest())) {
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

  async #isNewest(): Promise<boolean> {
    try {
      const [row] = await this.#database.read({ text: statementsIn(this.#location.schema).version });
      return row?.['version'] === NEWEST_VERSION;
    } catch (error) {
      if (error instanceof CallerStatsError && diagnose(error.cause).otherSchema) return false;
      throw error;
    }
  }
}
