import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CallerStatsError } from '../domain/errors.js';
import { failure, type Result, success } from '../domain/result.js';
import { openSqliteStore } from './sqlite/store.js';
import type { Store } from './store.js';

/** Where a store is, read from a database URL. */
export interface DatabaseLocation {
  readonly kind: 'sqlite';
  /** The file, absolute or relative to the working directory. */
  readonly file: string;
}

/**
 * Reads a database URL: `sqlite:./data/caller-stats.db`, `sqlite:/var/lib/caller-stats/caller-stats.db`, or the
 * latter with `sqlite://` before it.
 */
export function parseDatabaseUrl(url: string): Result<DatabaseLocation> {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) {
    return failure('is not a database URL; send sqlite: and a file, as sqlite:./data/caller-stats.db');
  }
  if (scheme.toLowerCase() !== 'sqlite') {
    return failure(`has the scheme ${scheme}:, which this version has no store for; use sqlite:`);
  }
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

export interface OpenOptions {
  /** Refuses (`not_found`) where there is no store yet, instead of making one: a mistyped path should not. */
  readonly mustExist?: boolean;
}

/**
 * Opens the store, made where there is none yet, and brings its schema up to date. `invalid` for a URL that cannot be;
 * `unavailable` where the store cannot be opened, and why.
 */
export async function openStore(url: string, options: OpenOptions = {}): Promise<Store> {
  const location = parseDatabaseUrl(url);
  if (!location.ok)
    throw new CallerStatsError('invalid', `The database URL ${location.problems.join(', ')}.`);
  const { file } = location.value;
  if (options.mustExist && !existsSync(file)) {
    throw new CallerStatsError(
      'not_found',
      `There is no database ${resolve(file)}; serve or project create makes one.`,
    );
  }
  return openSqliteStore(file);
}
