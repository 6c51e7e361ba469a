/** Removes what nobody can ask for any more, a bounded piece at a time. On the writer thread. */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import { bucketAt, DAY_LEVEL } from '../../../domain/counting/buckets.js';
import { EARLIEST_MS } from '../../../domain/counting/date-range.js';
import { nextRowsFrom } from '../../../domain/projects/retention.js';
import type { Cleanup } from '../../ports/store.js';

/** What a project has rows in, and the column that its rows are sorted by behind the project. */
const TABLES = [
  { table: 'query', columns: ['id'] },
  { table: 'type_counter', columns: ['level', 'bucket'] },
  { table: 'caller_counter', columns: ['level', 'bucket', 'caller'] },
] as const;

/** How far the retention of a project has come. While its rows are looked through, `sweptTo` is the last that was. */
interface Retention {
  readonly number: number;
  readonly retentionDays: number | null;
  readonly rowsFrom: number | null;
  readonly sweptTo: string | Uint8Array | null;
}

/** Reads all that there may be something to do for. */
export const RETENTIONS = `
  SELECT number, retention_days AS retentionDays, rows_from AS rowsFrom, swept_to AS sweptTo FROM project
  WHERE retention_days IS NOT NULL OR swept_to IS NOT NULL ORDER BY number`;

/** The first of them that there is something to do for. */
export function projectToClean(retentions: readonly Retention[], nowMs: number): Retention | undefined {
  return retentions.find((one) => one.sweptTo !== null || nextRowsFrom(one, nowMs) !== undefined);
}

/** More than fit three pages of SQLite's usual size. */
const fillerRows = 600;

export class Cleaner {
  readonly #prepare: (sql: string) => StatementSyncInstance;
  #tookAll = false;

  /** `prepare` gives the same statement for the same text. */
  constructor(prepare: (sql: string) => StatementSyncInstance) {
    this.#prepare = prepare;
  }

  /** Whether it has come to an end since it was last asked: time to empty the log of what was removed. */
  tookAll(): boolean {
    const tookAll = this.#tookAll;
    this.#tookAll = false;
    return tookAll;
  }

  /** See `Store.purgeDeleted`. Within the transaction that is open. */
  purgeDeleted(limit: number): Cleanup {
    const project = this.#prepare('SELECT min(number) AS number FROM deleted_project').get().number;
    if (project === null) return { removed: 0, done: true };
    let removed = 0;
    for (const { table, columns } of TABLES) {
      removed += this.#removeFirst(table, columns.join(), project, limit - removed);
      if (removed === limit) return { removed, done: false };
    }
    this.#overwriteBorders(project);
    this.#prepare('DELETE FROM deleted_project WHERE number = ?').run(project);
    this.#tookAll = true;
    return { removed, done: false };
  }

  /** See `Store.applyRetention`. Within the transaction that is open. */
  applyRetention(nowMs: number, limit: number): Cleanup {
    const project = projectToClean(this.#prepare(RETENTIONS).all(), nowMs);
    if (project === undefined) return { removed: 0, done: true };
    // What is begun is finished first: moved every day, it might never be.
    if (project.sweptTo !== null) return { removed: this.#sweep(project, limit), done: false };
    const next = nextRowsFrom(project, nowMs);
    if (next !== undefined) this.#moveRowsFrom(project, next);
    return { removed: 0, done: false };
  }

  /** Texts sort before blobs, so a sweep begins behind ''. There is none where no query is of the time that is given up. */
  #moveRowsFrom({ number, rowsFrom }: Retention, next: number): void {
    const days = [rowsFrom ?? EARLIEST_MS, next].map((timeMs) => bucketAt(timeMs, DAY_LEVEL));
    const counted = this.#prepare(
      `SELECT 1 FROM type_counter WHERE project = ? AND level = ${DAY_LEVEL} AND bucket >= ? AND bucket < ? LIMIT 1`,
    ).get(number, ...days);
    this.#prepare('UPDATE project SET rows_from = ?, swept_to = ? WHERE number = ?').run(
      next,
      counted === undefined ? null : '',
      number,
    );
  }

  /** Gives how many rows it removed. */
  #sweep({ number, rowsFrom, sweptTo }: Retention, limit: number): number {
    const last = this.#prepare(
      'SELECT id FROM query WHERE project = ? AND id > ? ORDER BY id LIMIT 1 OFFSET ?',
    ).get(number, sweptTo, limit - 1)?.id;
    const { changes } = this.#prepare(
      `DELETE FROM query WHERE project = ?1 AND id > ?2 AND occurred_at < ?3 ${last === undefined ? '' : 'AND id <= ?4'}`,
    ).run(number, sweptTo, rowsFrom, ...(last === undefined ? [] : [last]));
    this.#prepare('UPDATE project SET swept_to = ? WHERE number = ?').run(last ?? null, number);
    if (last === undefined) this.#tookAll = true;
    return Number(changes);
  }

  /**
   * A page that was split while it was written keeps copies of rows in its unused part, which SQLite overwrites only when
   * it frees the page. Those that hold rows of the projects before and behind this one as well are not freed: they are
   * written full, with nothing.
   */
  #overwriteBorders(project: number): void {
    this.#prepare(
      `WITH RECURSIVE filler (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM filler WHERE number < ?2)
       INSERT INTO query (project, id, occurred_at, caller)
       SELECT ?1, CAST(printf('%012d', number) AS BLOB), 0, 0 FROM filler`,
    ).run(project, fillerRows);
    this.#prepare('DELETE FROM query WHERE project = ?').run(project);
  }

  /** The first so many of a project's rows in the order of the table's key: whole pages, which costs least. */
  #removeFirst(table: string, columns: string, project: number, limit: number): number {
    const { changes } = this.#prepare(
      `DELETE FROM ${table} WHERE project = ?1 AND (${columns}) IN (
         SELECT ${columns} FROM ${table} WHERE project = ?1 ORDER BY ${columns} LIMIT ?2)`,
    ).run(project, limit);
    return Number(changes);
  }
}
