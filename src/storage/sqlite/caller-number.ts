import type { Statements } from './statements.js';

/** The number of a caller, assigned with its first query. */
export function callerNumber(statements: Statements, name: string): number {
  const find = (sql: string) => statements.get<{ readonly number: number }>(sql, [name]);
  const row =
    find('SELECT number FROM caller WHERE name = $1') ??
    find('INSERT INTO caller (name) VALUES ($1) RETURNING number');
  if (row === undefined) throw new Error('Invariant violated: an inserted caller has a number.');
  return row.number;
}
