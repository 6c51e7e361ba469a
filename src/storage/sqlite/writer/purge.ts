/** Removes the queries of deleted projects and those past retention, in bounded steps. Runs on the writer thread. */
import { bucketAt, DAY_LEVEL } from '../../../domain/counting/buckets.js';
import { EARLIEST_MS } from '../../../domain/counting/date-range.js';
import { movedBack, needsRetention, nextRowsFrom } from '../../../domain/projects/retention.js';
import type { Cleanup } from '../../ports/maintenance.js';
import { RETENTIONS, type Retention } from '../retentions.js';
import type { Statements } from '../statements.js';

/** The tables with rows of a project, and the columns of their keys after the project. */
const TABLES = [
  { table: 'query', columns: ['id'] },
  { table: 'receipt', columns: ['number'] },
  { table: 'import_range', columns: ['day', 'sender'] },
  { table: 'correction', columns: ['number'] },
  { table: 'corrected_query', columns: ['correction', 'id'] },
  { table: 'withdrawn_count', columns: ['source', 'caller', 'start_at', 'correction'] },
  { table: 'imported_count', columns: ['source', 'caller', 'start_at'] },
  { table: 'query_counter', columns: ['level', 'bucket'] },
  { table: 'caller_counter', columns: ['level', 'bucket', 'caller'] },
  { table: 'moment', columns: ['level', 'bucket'] },
  { table: 'question_key', columns: ['name'] },
  { table: 'found_query', columns: ['id'] },
  { table: 'late_change', columns: ['id', 'day'] },
  { table: 'ingestion_source', columns: ['kind', 'name'] },
  { table: 'ingestion_count', columns: ['bucket', 'kind', 'name', 'operation'] },
] as const;

/** More than three pages of SQLite's default size hold. */
const fillerRows = 600;

export class Cleaner {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** See `Maintenance.purgeDeleted`. Within the transaction that is open. */
  purgeDeleted(limit: number): Cleanup {
    const project = this.#statements.get<{ readonly number: number | null }>(
      'SELECT min(number) AS number FROM deleted_project',
    )?.number;
    if (typeof project !== 'number') return { removed: 0, done: true };
    let removed = 0;
    for (const { table, columns } of TABLES) {
      removed += this.#removeFirst(table, columns.join(), project, limit - removed);
      if (removed === limit) return { removed, done: false };
    }
    this.#overwriteBorders(project);
    this.#statements.run('DELETE FROM deleted_project WHERE number = $1', [project]);
    return { removed, done: false };
  }

  /** See `Maintenance.applyRetention`. Within the transaction that is open. */
  applyRetention(nowMs: number, limit: number): Cleanup {
    const project = this.#statements.all<Retention>(RETENTIONS).find((one) => needsRetention(one, nowMs));
    if (project === undefined) return { removed: 0, done: true };
    // A sweep that has begun is finished first: if `rowsFrom` moved every day, it might never be.
    if (project.sweptTo !== null) return { removed: this.#sweep(project, limit), done: false };
    const next = nextRowsFrom(project, nowMs);
    if (next === undefined) return { removed: 0, done: false };
    this.#moveRowsFrom(project, next);
    return { removed: 0, done: false, ...movedBack(project, next) };
  }

  /** Texts sort before blobs, so a sweep starts after ''. None is needed if no query is from before `next`. */
  #moveRowsFrom({ number, rowsFrom }: Retention, next: number): void {
    const days = [rowsFrom ?? EARLIEST_MS, next].map((timeMs) => bucketAt(timeMs, DAY_LEVEL));
    const counted = this.#statements.get(
      `SELECT 1 FROM query_counter WHERE project = ? AND level = ${DAY_LEVEL} AND bucket >= ? AND bucket < ? LIMIT 1`,
      [number, ...days],
    );
    this.#statements.run('UPDATE project SET rows_from = ?, swept_to = ? WHERE number = ?', [
      next,
      counted === undefined ? null : '',
      number,
    ]);
  }

  /** Removes rows of queries and what is stored about their ids, which may be used again. Returns the number of rows. */
  #sweep({ number, rowsFrom, sweptTo }: Retention, limit: number): number {
    const last = this.#statements.get<{ readonly id: string | Uint8Array }>(
      'SELECT id FROM query WHERE project = ? AND id > ? ORDER BY id LIMIT 1 OFFSET ?',
      [number, sweptTo, limit - 1],
    )?.id;
    const swept = `project = $1 AND id > $2 AND occurred_at < $3 ${last === undefined ? '' : 'AND id <= $4'}`;
    const values = [number, sweptTo, rowsFrom, ...(last === undefined ? [] : [last])];
    for (const table of ['corrected_query INDEXED BY corrected_query_by_id', 'late_change'])
      this.#statements.run(
        `DELETE FROM ${table} WHERE project = $1 AND id IN (SELECT id FROM query WHERE ${swept})`,
        values,
      );
    const removed = this.#statements.run(`DELETE FROM query WHERE ${swept}`, values);
    this.#statements.run('UPDATE project SET swept_to = ? WHERE number = ?', [last ?? null, number]);
    return removed;
  }

  /**
   * A page that was split while it was written keeps copies of rows in its unused part, and SQLite overwrites that only
   * when it frees the page. Pages that also hold rows of the neighboring projects are not freed, so this fills them with
   * empty rows and removes those.
   */
  #overwriteBorders(project: number): void {
    this.#statements.run(
      `WITH RECURSIVE filler (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM filler WHERE number < $2)
       INSERT INTO query (project, id, occurred_at, caller)
       SELECT $1, CAST(printf('%012d', number) AS BLOB), 0, 0 FROM filler`,
      [project, fillerRows],
    );
    this.#statements.run('DELETE FROM query WHERE project = ?', [project]);
  }

  /** The first rows of a project in the order of the table's key: whole pages, which costs least. */
  #removeFirst(table: string, columns: string, project: number, limit: number): number {
    return this.#statements.run(
      `DELETE FROM ${table} WHERE project = $1 AND (${columns}) IN (
         SELECT ${columns} FROM ${table} WHERE project = $1 ORDER BY ${columns} LIMIT $2)`,
      [project, limit],
    );
  }
}
