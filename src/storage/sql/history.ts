/** How the counts of a project came about, for every SQL database. */
import { type DateRange, EARLIEST_MS } from '../../domain/counting/date-range.js';
import { type PastCorrection, type PastQueries, senderOfCounts } from '../../domain/history/timeline.js';
import { pastStepCounts, pastStepQueries } from '../../domain/limits.js';
import { dayOf } from '../../domain/queries/receipt.js';
import type { History, Past, PastPage, PastRange } from '../ports/history.js';
import { notFound } from './changes.js';
import type { CountPlace, PastRow, QueryRows } from './corrections/query-rows.js';
import { type CountRow, toKnown, toNumbers } from './received-rows.js';
import type { Dialect, Session } from './session.js';
import { SqlTables, turns } from './tables.js';

/** Where a page begins: first come the queries, after an id, then the imported counts. */
type Position = { readonly afterId: string | null } | { readonly afterCount: CountPlace };

const FIRST: Position = { afterId: null };
/** The figures of one correction may have a thousand callers. */
const figuresInPage = 50;

const FIRST_COUNT: CountPlace = { source: '', caller: '', start: EARLIEST_MS };

interface ProjectRow {
  readonly key: unknown;
  readonly knownFrom: number | null;
  readonly rowsFrom: number | null;
}

export class SqlHistory extends SqlTables implements History {
  readonly #rows: QueryRows;
  readonly #project = this.dialect.projectColumn;

  constructor(session: Session, dialect: Dialect, rows: QueryRows) {
    super(session, dialect);
    this.#rows = rows;
  }

  async findPast(projectId: string, { from }: DateRange): Promise<Past> {
    const { key, knownFrom, rowsFrom } = await this.#findProject(projectId);
    const corrections: PastCorrection[] = [];
    const columns =
      'id, action, to_caller AS "to", undone_by AS "undoneBy", created_by AS "createdBy", created_at AS "createdAt", finished_at AS "finishedAt"';
    for await (const page of this.#readCorrections<PastCorrection>(key, columns, pastStepQueries))
      for (const one of page) corrections.push(one);
    const late = await this.get<{ readonly day: number | null }>(
      `SELECT max(day) AS day FROM ${this.table('late_change')} WHERE ${this.#project} = $1 AND is_corrected IS NULL
         AND id IN (SELECT id FROM ${this.table('corrected_query')} WHERE ${this.#project} = $1)`,
      [key],
    );
    const isGone = rowsFrom !== null && from < rowsFrom && (await this.#hasBefore(key, from, rowsFrom));
    return { knownFrom, rowsFrom: isGone ? rowsFrom : null, corrections, lateDay: late?.day ?? null };
  }

  async readPast(projectId: string, range: PastRange, from: string | null): Promise<PastPage> {
    const { key } = await this.#findProject(projectId);
    const position: Position = from === null ? FIRST : JSON.parse(from);
    if ('afterCount' in position) return this.#readCounts(key, range, position.afterCount);
    const after = position.afterId ?? undefined;
    const last = await this.#rows.findEnd(key, after, pastStepQueries);
    const rows = await this.#rows.findPast(key, { ...range, after, last });
    const next: Position = last === undefined ? { afterCount: FIRST_COUNT } : { afterId: last };
    return { queries: rows.map(toPastQueries), next: JSON.stringify(next) };
  }

  async #readCounts(key: unknown, range: PastRange, after: CountPlace): Promise<PastPage> {
    const rows = await this.#rows.findPastCounts(key, after, pastStepCounts);
    const last = rows.at(-1);
    const next: Position | undefined = last && {
      afterCount: { start: last.start, source: last.source, caller: last.caller },
    };
    return {
      queries: rows
        .filter(({ start }) => start >= range.from && start < range.to)
        .map((row) => toPastCount(row, range.atMs)),
      next: next === undefined ? null : JSON.stringify(next),
    };
  }

  /** Whether anything counts there, or did until it was corrected. */
  async #hasBefore(key: unknown, from: number, rowsFrom: number): Promise<boolean> {
    if (await this.hasCounts(key, { from, to: rowsFrom })) return true;
    const isBefore = ({ figures }: { readonly figures: string }): boolean => {
      const { first } = JSON.parse(figures) as { readonly first: number | null };
      return first !== null && first < rowsFrom;
    };
    type Found = { readonly number: number; readonly figures: string };
    for await (const page of this.#readCorrections<Found>(key, 'figures', figuresInPage))
      if (page.some(isBefore)) return true;
    return false;
  }

  /** The corrections in their order, a page in each turn of the event loop: there may be any number of them. */
  async *#readCorrections<Found extends { readonly number: number }>(
    key: unknown,
    columns: string,
    limit: number,
  ): AsyncGenerator<readonly Found[]> {
    const readAfter = async (after: number) =>
      this.session.all<Found>(
        `SELECT number, ${columns} FROM ${this.table('correction')} WHERE ${this.#project} = $1 AND number > $2
         ORDER BY number LIMIT ${limit}`,
        [key, after],
      );
    let page = await readAfter(0);
    yield page;
    while (page.length === limit) {
      const after = page.at(-1)?.number ?? 0;
      page = await turns.next(() => readAfter(after));
      yield page;
    }
  }

  async #findProject(projectId: string): Promise<ProjectRow> {
    const project = await this.get<ProjectRow>(
      `SELECT ${this.dialect.projectKeyColumn} AS key, known_from AS "knownFrom", rows_from AS "rowsFrom"
       FROM ${this.table('project')} WHERE id = $1 ${this.dialect.andNotDeleted}`,
      [projectId],
    );
    if (project === undefined) throw notFound(`project ${projectId}`);
    return project;
  }
}

function toPastQueries({ firstCaller, corrections, known, ...row }: PastRow): PastQueries {
  return {
    ...row,
    firstCaller: firstCaller ?? row.caller,
    corrections: toNumbers(corrections),
    known: toKnown(JSON.parse(known ?? '[]')),
  };
}

function toPastCount({ source, caller, start, count, day, ...row }: CountRow, atMs: number): PastQueries {
  return {
    ...{ caller, isWithdrawn: row.withdrawnBy !== null, queries: count, first: start, last: start },
    arrivedFrom: day === null || day === undefined || day < dayOf(atMs) ? null : senderOfCounts(source),
    known: [],
    corrections: toNumbers(row.withdrawals),
    firstCaller: caller,
  };
}
