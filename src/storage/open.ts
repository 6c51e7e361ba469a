import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CallerStatsError } from '../domain/errors.js';
import { databaseConnectionsMax, databaseTimeoutMs } from '../domain/limits.js';
import { failure, type Result, success } from '../domain/result.js';
import { regularStatsOf } from './files.js';
import type { DirectoryReads } from './ports/directory.js';
import type { IngestionReads } from './ports/ingestion.js';
import type { OpenOptions } from './ports/open-options.js';
import type { Store } from './ports/store.js';
import type { Inspected } from './ports/store-stats.js';
import { POSTGRES_SCHEMES, type PostgresLocation, parsePostgresUrl } from './postgres/connection/location.js';

export type { OpenOptions };

/** A parsed database URL. The file of SQLite is absolute or relative to the working directory. */
export type DatabaseLocation = { readonly kind: 'sqlite'; readonly file: string } | PostgresLocation;

const postgresDefaults = { connectionsMax: databaseConnectionsMax, timeoutMs: databaseTimeoutMs };

const examples = 'sqlite:./data/caller-stats.db or postgres://user@host:5432/database';

/**
 * Parses `sqlite:./data/caller-stats.db`, `sqlite:/var/lib/caller-stats.db`, `sqlite:///var/lib/caller-stats.db` or
 * `postgres://…` (see `parsePostgresUrl`). Problems never repeat the URL, which may contain a password.
 */
export function parseDatabaseUrl(url: string): Result<DatabaseLocation> {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)/is.exec(url) ?? [];
  if (scheme === '') return failure(`is not a database URL; write it as ${examples}`);
  if (POSTGRES_SCHEMES.some((one) => one === scheme.toLowerCase())) return parsePostgresUrl(url);
  if (scheme.toLowerCase() !== 'sqlite') {
    return failure(`has the scheme ${scheme}:, which there is no store for; write it as ${examples}`);
  }
  return parseSqliteUrl(rest);
}

function parseSqliteUrl(rest: string): Result<DatabaseLocation> {
  const file = rest.startsWith('//') ? rest.slice(2) : rest;
  if (file === '' || file.includes('\0'))
    return failure('names no file; write it as sqlite:./data/caller-stats.db');
  if (rest.startsWith('//') && !file.startsWith('/')) {
    return failure('has a host after sqlite://; write sqlite:./file or sqlite:///absolute/file');
  }
  if (file.startsWith(':memory:'))
    return failure('is in memory, where nothing recorded would last; name a file');
  return success({ kind: 'sqlite', file });
}

/** For messages, without the password. */
export function nameOfStore(location: DatabaseLocation): string {
  return location.kind === 'sqlite' ? resolve(location.file) : location.name;
}

/**
 * Opens a store, creates it if it does not exist, and migrates its schema. Throws `invalid` for an invalid URL, and
 * `unavailable` if the store cannot be opened.
 */
export async function openStore(url: string, options: OpenOptions = {}): Promise<Store> {
  const location = locationOf(url);
  if (location.kind === 'sqlite') return openFile(location.file, options);
  // Loaded only if needed, because it would slow down every start with SQLite.
  const { openPostgresStore } = await import('./postgres/store.js');
  return openPostgresStore(location, { ...postgresDefaults, ...options });
}

export interface Migrated {
  /** The schema version that there was; 0 if there was none. */
  readonly before: number;
  readonly version: number;
  /** The tables and functions that this call distributed. */
  readonly distributed: readonly string[];
  /** The backup of an older SQLite file; null if none was made. */
  readonly kept: string | null;
}

/**
 * Migrates the schema, creates it if it does not exist, and with `distribute` distributes it over a Citus cluster. `backup`
 * applies to SQLite only. Has no deadline. Throws `invalid` if there is no cluster.
 */
export async function migrateStore(
  url: string,
  options: Pick<OpenOptions, 'connectionsMax' | 'timeoutMs'> & {
    readonly distribute: boolean;
    readonly backup?: boolean;
  },
): Promise<Migrated> {
  const location = locationOf(url);
  if (location.kind === 'postgres') {
    const { administer } = await import('./postgres/migrations/migrate.js');
    return { ...(await administer(location, { ...postgresDefaults, ...options })), kept: null };
  }
  if (options.distribute) {
    throw new CallerStatsError(
      'invalid',
      `${resolve(location.file)} is a file, which cannot be distributed; that is for PostgreSQL with Citus.`,
    );
  }
  regularStatsOf(location.file);
  const { migrateSqliteFile } = await import('./sqlite/writer/writer-handle.js');
  return { ...(await migrateSqliteFile(location.file, options.backup ?? true)), distributed: [] };
}

/** What can be read of a database that stays as it is. */
export interface UnchangedReads {
  readonly directory: DirectoryReads;
  readonly ingestion: IngestionReads;
}

/** Reads a database with the newest schema, without changing it. Throws `unavailable` if that fails. */
export async function readStore<T>(
  url: string,
  options: Pick<OpenOptions, 'connectionsMax' | 'timeoutMs'>,
  read: (reads: UnchangedReads) => Promise<T>,
): Promise<T> {
  const location = locationOf(url);
  if (location.kind === 'postgres') {
    const { readSchema } = await import('./postgres/migrations/migrate.js');
    return readSchema(location, { ...postgresDefaults, ...options }, read);
  }
  regularStatsOf(location.file);
  const { readFile } = await import('./sqlite/migrations/migrate.js');
  return readFile(location.file, read);
}

/** Looks at a database without creating, migrating or changing it. Throws `unavailable` if this program cannot use it. */
export async function inspectStore(
  url: string,
  options: Pick<OpenOptions, 'connectionsMax' | 'timeoutMs'> = {},
): Promise<Inspected> {
  const location = locationOf(url);
  if (location.kind === 'postgres') {
    const { inspect } = await import('./postgres/migrations/migrate.js');
    return inspect(location, { ...postgresDefaults, ...options });
  }
  const { inspectFile } = await import('./sqlite/migrations/migrate.js');
  const { NEWEST_VERSION } = await import('./sqlite/migrations/index.js');
  return { version: regularStatsOf(location.file) ? inspectFile(location.file) : 0, newest: NEWEST_VERSION };
}

/** Whether two valid URLs name the same store. Follows paths and links, but not different names of one server. */
export async function isSameStore(oneUrl: string, otherUrl: string): Promise<boolean> {
  const [one, other] = [locationOf(oneUrl), locationOf(otherUrl)];
  if (one.kind === 'sqlite' && other.kind === 'sqlite') return isSameFile(one.file, other.file);
  if (one.kind !== 'postgres' || other.kind !== 'postgres' || one.schema !== other.schema) return false;
  const { addressesOf } = await import('./postgres/connection/database.js');
  const addresses = new Set(addressesOf(one));
  return addressesOf(other).some((address) => addresses.has(address));
}

function isSameFile(one: string, other: string): boolean {
  try {
    const [stats, otherStats] = [one, other].map((file) => statSync(file, { bigint: true }));
    return stats?.dev === otherStats?.dev && stats?.ino === otherStats?.ino;
  } catch {
    return resolve(one) === resolve(other);
  }
}

/** Throws `invalid` for an invalid database URL. */
export function locationOf(url: string): DatabaseLocation {
  const location = parseDatabaseUrl(url);
  if (location.ok) return location.value;
  throw new CallerStatsError('invalid', `The database URL ${location.problems.join(', ')}.`);
}

async function openFile(file: string, options: OpenOptions): Promise<Store> {
  if (regularStatsOf(resolve(file)) === undefined && options.mustExist) {
    throw new CallerStatsError(
      'not_found',
      `There is no database ${resolve(file)}; serve or project create makes one.`,
    );
  }
  const { openSqliteStore } = await import('./sqlite/store.js');
  return openSqliteStore(file, options);
}
