import { type BigIntStats, existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CallerStatsError } from '../domain/errors.js';
import { databaseConnectionsMax, databaseTimeoutMs } from '../domain/limits.js';
import { failure, type Result, success } from '../domain/result.js';
import type { Store } from './ports/store.js';
import type { CommitObserver } from './ports/store-stats.js';
import { POSTGRES_SCHEMES, type PostgresLocation, parsePostgresUrl } from './postgres/location.js';

/** A SQLite file. */
interface SqliteLocation {
  readonly kind: 'sqlite';
  /** The file, absolute or relative to the working directory. */
  readonly file: string;
}

/** Where a store is, read from a database URL. */
export type DatabaseLocation = SqliteLocation | PostgresLocation;

const examples = 'sqlite:./data/caller-stats.db or postgres://user@host:5432/database';

/**
 * Reads a database URL: `sqlite:./data/caller-stats.db`, `sqlite:/var/lib/caller-stats/caller-stats.db`, or the
 * latter with `sqlite://` before it; or `postgres://…` (see `parsePostgresUrl`). Problems never repeat the URL, which
 * may hold a password.
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

function parseSqliteUrl(rest: string): Result<SqliteLocation> {
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

/** How messages call the store: never with a password. */
export function nameOfStore(location: DatabaseLocation): string {
  return location.kind === 'sqlite' ? resolve(location.file) : location.name;
}

export interface OpenOptions {
  /** Refuses (`not_found`) where there is no store yet, instead of making one: a mistyped path should not. */
  readonly mustExist?: boolean;
  /**
   * Gives a store even where its server cannot be reached now, or has a schema of another version. It answers
   * `unavailable` until that is mended, and then goes on by itself. Only for a database with a server of its own.
   */
  readonly allowUnavailable?: boolean;
  /** Takes less memory than suits a server, for a command beside one. Of a SQLite file only. */
  readonly lowMemory?: boolean;
  /** Connections to a database server, at least 2. */
  readonly connectionsMax?: number;
  /** Milliseconds until a read or write that a database server does not answer is given up. */
  readonly timeoutMs?: number;
  /** Is told how long commits take. */
  readonly commits?: CommitObserver | undefined;
  /** Is told the name of the copy that is kept of a SQLite file whose schema was of an older version. */
  readonly onBackup?: (copy: string) => void;
}

/**
 * Opens the store, made where there is none yet, and brings its schema up to date. `invalid` for a URL that cannot be;
 * `unavailable` where the store cannot be opened, and why.
 */
export async function openStore(url: string, options: OpenOptions = {}): Promise<Store> {
  const location = locationOf(url);
  if (location.kind === 'sqlite') return openFile(location, options);
  // Loaded only where it is needed: it would cost every start on a file some milliseconds.
  const { openPostgresStore } = await import('./postgres/store.js');
  return openPostgresStore(location, {
    connectionsMax: databaseConnectionsMax,
    timeoutMs: databaseTimeoutMs,
    ...options,
  });
}

/** What `migrateStore` did. */
export interface Migrated {
  /** The schema's version now. */
  readonly version: number;
  /** What this call distributed over a cluster, by name. */
  readonly distributed: readonly string[];
  /** The copy that is kept of a file as it was in an older version; null where there is none. */
  readonly kept: string | null;
}

/**
 * Brings the schema up to date, made where there is none, and with `distribute` spreads it over a Citus cluster.
 * Without `backup` no copy is kept of a file of an older version; a server's own backups are left to it.
 * Waits as long as it takes. `invalid` where there is no cluster to spread it over.
 */
export async function migrateStore(
  url: string,
  {
    connectionsMax = databaseConnectionsMax,
    timeoutMs = databaseTimeoutMs,
    distribute,
    backup = true,
  }: Pick<OpenOptions, 'connectionsMax' | 'timeoutMs'> & {
    readonly distribute: boolean;
    readonly backup?: boolean;
  },
): Promise<Migrated> {
  const location = locationOf(url);
  if (location.kind === 'postgres') {
    const { administer } = await import('./postgres/migrations/migrate.js');
    return { ...(await administer(location, { connectionsMax, timeoutMs, distribute })), kept: null };
  }
  if (distribute) {
    throw new CallerStatsError(
      'invalid',
      `${resolve(location.file)} is a file, which cannot be distributed; that is for PostgreSQL with Citus.`,
    );
  }
  const { migrateSqliteFile } = await import('./sqlite/writer/writer-handle.js');
  return { ...(await migrateSqliteFile(location.file, backup)), distributed: [] };
}

/**
 * Whether two URLs lead to the same store, as far as they tell: that two names are of the same server is not seen.
 * Files are the same whatever paths and links lead to them. Both URLs have been checked.
 */
export async function isSameStore(oneUrl: string, otherUrl: string): Promise<boolean> {
  const [one, other] = [locationOf(oneUrl), locationOf(otherUrl)];
  if (one.kind === 'sqlite' && other.kind === 'sqlite') return isSameFile(one.file, other.file);
  if (one.kind !== 'postgres' || other.kind !== 'postgres' || one.schema !== other.schema) return false;
  const { addressOf } = await import('./postgres/database.js');
  return addressOf(one) === addressOf(other);
}

function isSameFile(one: string, other: string): boolean {
  const [stats, otherStats] = [statsOf(one), statsOf(other)];
  if (stats === undefined || otherStats === undefined) return resolve(one) === resolve(other);
  return stats.dev === otherStats.dev && stats.ino === otherStats.ino;
}

/** Undefined where it is not there, or is not to be seen. */
function statsOf(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true });
  } catch {
    return undefined;
  }
}

/** What a database URL says. `invalid` where it cannot be one. */
export function locationOf(url: string): DatabaseLocation {
  const location = parseDatabaseUrl(url);
  if (location.ok) return location.value;
  throw new CallerStatsError('invalid', `The database URL ${location.problems.join(', ')}.`);
}

async function openFile(
  { file }: SqliteLocation,
  { mustExist, lowMemory, commits, onBackup }: OpenOptions,
): Promise<Store> {
  if (mustExist && !existsSync(file)) {
    throw new CallerStatsError(
      'not_found',
      `There is no database ${resolve(file)}; serve or project create makes one.`,
    );
  }
  const { openSqliteStore } = await import('./sqlite/store.js');
  return openSqliteStore(file, { lowMemory, commits, onBackup });
}
