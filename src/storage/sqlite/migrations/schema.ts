/** Refuses files whose schema somebody else changed: it could run statements of its own with ours, or let a query count twice. */
import { CallerStatsError } from '../../../domain/errors.js';
import { OLDEST_VERSION } from '../../sql/oldest-version.js';
import { type Connection, openInMemory } from '../connection.js';
import { prepareArrays } from '../statements.js';
import { MIGRATIONS } from './index.js';

/** The most differences that a message names. */
const namedMax = 3;

type Entry = readonly [type: string, name: string, table: string, sql: string | null];

/** What ANALYZE makes, which changes no answer. */
const STATISTICS = "name NOT IN ('sqlite_stat1', 'sqlite_stat4')";

/** Throws `invalid` unless the schema is exactly what the migrations make of this version. */
export function requireExactSchema(db: Connection, file: string, version: number): void {
  const expected = entriesOfVersion(version);
  const [differences, names] = [new Set<string>(), new Set<string>()];
  for (const entry of entriesIn(db)) {
    const [type, name] = entry;
    names.add(name);
    if (expected.get(name) !== meaningOf(entry)) differences.add(`the ${type} ${JSON.stringify(name)}`);
    if (differences.size > namedMax) break;
  }
  for (const name of expected.keys()) if (!names.has(name)) differences.add(`no ${JSON.stringify(name)}`);
  if (differences.size === 0) return;
  const named = [...differences].slice(0, namedMax).join(', ');
  throw new CallerStatsError(
    'invalid',
    `${file} does not have the schema that caller-stats made: it has ${named}${differences.size > namedMax ? ' and more' : ''}. ` +
      'If you added that yourself, drop it with sqlite3; otherwise, do not trust the file.',
  );
}

/** The cheap part, for files that are opened: throws `unavailable` if statements of somebody else would run with ours. */
export function requireOwnActions(db: Connection, file: string): void {
  const actions = prepareArrays<readonly [string, string, string]>(
    db,
    "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view')",
  );
  for (const [type, name, sql] of actions.iterate())
    if (!MIGRATIONS.some((statements) => statements.includes(sql)))
      throw new CallerStatsError(
        'unavailable',
        `${file} has the ${type} ${JSON.stringify(name)}, which caller-stats did not make. If you added it yourself, drop it with ` +
          'sqlite3; otherwise, do not trust the file, and restore a backup.',
      );
}

/** Texts, names in quotes, comments, white space, words, and any other character. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\s+|\w+|[\s\S]/g;
/** After these words, SQLite puts quotes around the name of a table that was renamed. */
const BEFORE_TABLES = new Set(['TABLE', 'ON', 'REFERENCES']);

/** The same for two files that differ in how the statements were written only: the first migrations were others once. */
function meaningOf([type, name, table, sql]: Entry): string {
  const meant: string[] = [];
  for (const token of sql?.match(TOKENS) ?? [])
    if (!/^(--|\s)/.test(token))
      meant.push(BEFORE_TABLES.has(meant.at(-1) ?? '') ? token.replace(/^"([a-z_]+)"$/, '$1') : token);
  return JSON.stringify([type, name, table, meant]);
}

function entriesIn(db: Connection): IterableIterator<Entry> {
  const sql = `SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE ${STATISTICS}`;
  return prepareArrays<Entry>(db, sql).iterate();
}

function entriesOfVersion(version: number): ReadonlyMap<string, string> {
  const db = openInMemory();
  try {
    for (const statements of MIGRATIONS.slice(0, version - OLDEST_VERSION + 1)) db.exec(statements);
    return new Map([...entriesIn(db)].map((entry) => [entry[1], meaningOf(entry)]));
  } finally {
    db.close();
  }
}
