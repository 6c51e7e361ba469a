/**
 * The schema's history. The first entry creates the schema of `OLDEST_VERSION`, each later one brings a file to the next
 * version. Append new ones; released ones never change.
 *
 * The rollup cache relies on counters of a project decreasing only when its revision changes. A migration that decreases them
 * otherwise must rename the table.
 */
import { listIndexes } from '../../sql/list-indexes.js';
import { OLDEST_VERSION } from '../../sql/oldest-version.js';
import { SQL as V19 } from './019-initial-schema.js';
import { SQL as V20 } from './020-week-start.js';
import { SQL as V21 } from './021-proved-addresses.js';
import { SQL as V22 } from './022-receipts.js';
import { SQL as V23 } from './023-corrections.js';
import { SQL as V24 } from './024-found-queries.js';
import { SQL as V25 } from './025-history.js';
import { SQL as V26 } from './026-known-states.js';
import { SQL as V27 } from './027-readers.js';
import { SQL as V28 } from './028-earliest-time.js';
import { SQL as V29 } from './029-import-ranges.js';
import { SQL as V30 } from './030-moments.js';

/** Nothing: the schema versions of both stores have the same number. Released: never change it. */
const V31 = '';

const V32 = listIndexes().join(';\n');

export const MIGRATIONS: readonly string[] = [
  V19,
  V20,
  V21,
  V22,
  V23,
  V24,
  V25,
  V26,
  V27,
  V28,
  V29,
  V30,
  V31,
  V32,
];

/** The version to which `migrations` bring a file. */
export const newestOf = (migrations: readonly string[]): number => OLDEST_VERSION + migrations.length - 1;

export const NEWEST_VERSION = newestOf(MIGRATIONS);
