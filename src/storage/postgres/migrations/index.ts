/**
 * The schema's history, one statement after the other. The first entry creates the schema of `OLDEST_VERSION`, each later one
 * brings a schema to the next version. Append new ones; released ones never change.
 *
 * Citus spreads `project`, `query` and the counters over many servers by project. This requires:
 * - Every unique key of these tables includes the project, and they refer to no other table.
 * - `record` and `record_one` are functions of one project, which Citus sends as a whole to the project's server. Their statements
 *   change one table each, so that no other server takes part.
 * - Everything that is sorted has one collation (byte order). Writers that lock rows in one order cannot deadlock.
 *
 * So a migration that adds such a table, or replaces such a function by one with other parameters, distributes it if `query`
 * is distributed, and adds it to `distribute.ts`. What that adds to functions, and `project_copy`, `migrate` adds again by itself.
 */
import { listIndexes } from '../../sql/list-indexes.js';
import { OLDEST_VERSION } from '../../sql/oldest-version.js';
import { sql as v19 } from './019-initial-schema.js';
import { sql as v20 } from './020-week-start.js';
import { sql as v21 } from './021-proved-addresses.js';
import { sql as v22 } from './022-receipts.js';
import { sql as correctionsOfV23 } from './023-corrections.js';
import { sql as v24 } from './024-found-queries.js';
import { sql as historyOfV25 } from './025-history.js';
import { sql as v26 } from './026-known-states.js';
import { sql as v27 } from './027-readers.js';
import { sql as v28 } from './028-earliest-time.js';
import { sql as v29 } from './029-import-ranges.js';
import { sql as recordingOfV31 } from './031-record-one.js';
import { recordOne } from './functions/record-one.js';
import { importCounts, record } from './functions/recording.js';

/** The statements for a schema of that name. */
export type Migration = (schema: string) => readonly string[];

const v23: Migration = (schema) => correctionsOfV23(schema, record(schema));

/** Nothing: the schema versions of both stores have the same number. Released: never change it. */
const v30: Migration = () => [];

const v25: Migration = (schema) => historyOfV25(schema, importCounts(schema));

const v31: Migration = (schema) => recordingOfV31(schema, record(schema), recordOne(schema));

const v32: Migration = (schema) => listIndexes(`${schema}.`);

export const MIGRATIONS: readonly Migration[] = [
  v19,
  v20,
  v21,
  v22,
  v23,
  v24,
  v25,
  v26,
  v27,
  v28,
  v29,
  v30,
  v31,
  v32,
];

/** The version to which `migrations` bring a schema. */
export const newestOf = (migrations: readonly Migration[]): number => OLDEST_VERSION + migrations.length - 1;

export const NEWEST_VERSION = newestOf(MIGRATIONS);
