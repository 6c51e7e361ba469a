/** What corrections change, found out in parts of bounded time. */

import { hashIds } from '../../../domain/corrections/carried.js';
import type { Correction, CorrectionRequest, Selection } from '../../../domain/corrections/correction.js';
import type { Affected } from '../../../domain/corrections/figures.js';
import { type Applied, correct, type QueryState } from '../../../domain/corrections/state.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { formatCount, formatTime } from '../../../domain/format.js';
import {
  correctionRowsPerQuery,
  correctionsMax,
  undoStepCorrectionsMax,
  unknownNamesMax,
} from '../../../domain/limits.js';
import {
  isSelected,
  knownReceipt,
  type Receipt,
  type ReceiptFilter,
} from '../../../domain/queries/receipt.js';
import { notFound } from '../changes.js';
import type { Dialect, Session } from '../session.js';
import { SqlTables } from '../tables.js';
import {
  type CorrectedRow,
  type ImportedFilter,
  type ImportedRow,
  type Move,
  type QueryRow,
  type QueryRows,
  toMove,
} from './query-rows.js';

/** A project as its corrections need it. */
export interface CorrectedProject {
  readonly key: unknown;
  readonly organizationId: string;
  readonly rowsFrom: number | null;
}

/** A correction as it is carried out. */
export interface Plan {
  readonly request: CorrectionRequest;
  /** Receipts with higher numbers came later. */
  readonly receiptsTo: number;
  /** What an undo takes back. */
  readonly undone: Correction | undefined;
  /** How many queries a step changes at most. */
  readonly limit: number;
}

/** What a step changes. */
export interface Part {
  readonly moves: readonly Move[];
  readonly imported: readonly ImportedRow[];
  readonly next: string | null;
}

export interface CorrectionRow {
  readonly number: number;
  readonly request: string;
  readonly figures: string;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly undoneBy: string | null;
}

/** A request as it is stored: of ids that were restored, only their hash. */
interface StoredRequest {
  readonly request: string;
  readonly ids: string | null;
}

/** Before the first imported count. */
const BEFORE_ALL: Pick<ImportedRow, 'caller' | 'start'> = { caller: '', start: Number.MIN_SAFE_INTEGER };

/** The columns of a `CorrectionRow`. */
export const SUMMARY = `number, request, figures, created_by AS "createdBy", created_at AS "createdAt",
  finished_at AS "finishedAt", undone_by AS "undoneBy"`;

export class CorrectionPlanner extends SqlTables {
  readonly #rows: QueryRows;
  readonly #corrections = this.table('correction');
  readonly #project = this.dialect.projectColumn;

  constructor(session: Session, dialect: Dialect, rows: QueryRows) {
    super(session, dialect);
    this.#rows = rows;
  }

  async findById(key: unknown, correctionId: string): Promise<Correction | undefined> {
    const row = await this.get<CorrectionRow>(
      `SELECT ${SUMMARY} FROM ${this.#corrections} WHERE ${this.#project} = $1 AND id = $2`,
      [key, correctionId],
    );
    return row && toCorrection(row);
  }

  /** The correction with this id if it is the same request; `already_exists` if it is another one. */
  async findSame(key: unknown, id: string, { request, ids }: StoredRequest): Promise<Correction | undefined> {
    const present = await this.get<CorrectionRow & StoredRequest>(
      `SELECT ${SUMMARY}, ids FROM ${this.#corrections} WHERE ${this.#project} = $1 AND id = $2`,
      [key, id],
    );
    if (present === undefined) return undefined;
    const hash = (text: string | null) => text && hashIds(text);
    if (present.request === request && hash(present.ids) === hash(ids)) return toCorrection(present);
    throw new CallerStatsError(
      'already_exists',
      `There is another correction with the id ${id}; choose a new id for each correction.`,
    );
  }

  /** `lock` ends the statement. */
  async findProject(projectId: string, lock: string): Promise<CorrectedProject> {
    const project = await this.get<CorrectedProject>(
      `SELECT ${this.dialect.projectKeyColumn} AS key, organization_id AS "organizationId", rows_from AS "rowsFrom"
       FROM ${this.table('project')} WHERE id = $1 ${this.dialect.andNotDeleted} ${lock}`,
      [projectId],
    );
    if (project === undefined) throw notFound(`project ${projectId}`);
    return project;
  }

  /** Throws `invalid` with the reason if a request cannot be carried out. Returns what an undo takes back. */
  async requireAcceptable(
    project: CorrectedProject,
    request: CorrectionRequest,
  ): Promise<Correction | undefined> {
    if (request.action === 'undo') return this.#requireUndoable(project, request.correction);
    await this.#requireRoom(project);
    const { selection } = request;
    if ('range' in selection) await this.#requireRows(project, selection.range.from);
    return undefined;
  }

  /** Undos are always accepted: each takes back another correction. */
  async #requireRoom({ key }: CorrectedProject): Promise<void> {
    const found = await this.get<{ readonly corrections: number }>(
      `SELECT count(*) AS corrections FROM ${this.#corrections} WHERE ${this.#project} = $1 AND action <> 'undo'
         AND (SELECT max(number) FROM ${this.#corrections} WHERE ${this.#project} = $1) >= ${correctionsMax}`,
      [key],
    );
    if (Number(found?.corrections) < correctionsMax) return;
    throw refusal(
      `id: the project has ${formatCount(correctionsMax)} corrections, the most that it can have; only undos are still accepted`,
    );
  }

  async #requireUndoable({ key, rowsFrom }: CorrectedProject, id: string): Promise<Correction> {
    const found = await this.findById(key, id);
    if (found === undefined) throw refusal(`correction: there is no correction ${id}`);
    const { request, finishedAt, undoneBy, figures } = found;
    if (request.action === 'undo')
      throw refusal(`correction: ${id} is an undo; repeat what it has undone with a new id instead`);
    if (undoneBy !== null) throw refusal(`correction: ${id} was undone by ${undoneBy} already`);
    if (finishedAt === null) throw refusal(`correction: ${id} is not finished yet; try again when it is`);
    const isOfRows = !('source' in request.selection);
    if (isOfRows && rowsFrom !== null && figures.first !== null && figures.first < rowsFrom)
      throw refusal(
        `correction: retention has removed rows that ${id} has changed, those from before ${formatTime(rowsFrom)}`,
      );
    return found;
  }

  /** Whose row is gone can be neither found nor moved. */
  async #requireRows({ key, rowsFrom }: CorrectedProject, from: number): Promise<void> {
    if (rowsFrom === null || from >= rowsFrom) return;
    if (!(await this.hasCounts(key, { from, to: rowsFrom }))) return;
    const since = formatTime(rowsFrom);
    throw refusal(
      `dateFrom: retention has removed the rows of queries from before ${since}, so they cannot be corrected; ` +
        `begin at ${since} or later`,
    );
  }

  /** The part of a correction that begins at `from`. */
  async plan(project: CorrectedProject, plan: Plan, from: string | null): Promise<Part> {
    const { request, undone } = plan;
    if (request.action === 'undo') {
      if (undone === undefined) throw new Error('Invariant violated: an undo takes something back.');
      return this.#planUndo(project, undone, plan.limit, from);
    }
    const { selection } = request;
    if ('source' in selection)
      return this.#planImported(
        project,
        { source: selection.source, withdrawnBy: null, limit: plan.limit },
        from,
      );
    const { rows, next } =
      'ids' in selection
        ? await this.#selectIds(project, selection.ids, plan.limit, from)
        : await this.#selectFiltered(project, selection, plan, from);
    const applied: Applied = {
      action: request.action,
      to: request.action === 'rename' ? request.to : undefined,
    };
    const moves = rows.flatMap((row) => toMove(row, correct(row, applied)));
    return { moves, imported: [], next };
  }

  async #selectIds(
    project: CorrectedProject,
    ids: readonly string[],
    limit: number,
    from: string | null,
  ): Promise<{ rows: readonly QueryRow[]; next: string | null }> {
    const at = Number(from ?? 0);
    const end = at + limit;
    const rows = await this.requireIds(project, ids.slice(at, end));
    return { rows, next: end < ids.length ? String(end) : null };
  }

  async #selectFiltered(
    { key, rowsFrom }: CorrectedProject,
    { range, caller, receipts }: Extract<Selection, { receipts: ReceiptFilter }>,
    { receiptsTo, limit }: Plan,
    from: string | null,
  ): Promise<{ rows: readonly QueryRow[]; next: string | null }> {
    const after = from ?? undefined;
    const last = await this.#rows.findEnd(key, after, limit * correctionRowsPerQuery);
    const rows = await this.#rows.find(key, {
      ...{ after, last, caller, limit },
      from: Math.max(range.from, rowsFrom ?? range.from),
      to: range.to,
      receipts: await this.#selectReceipts(key, receipts, receiptsTo),
      withoutReceipt: isSelected(null, receipts),
    });
    return { rows, next: (rows.length === limit ? rows.at(-1)?.id : last) ?? null };
  }

  async #selectReceipts(key: unknown, filter: ReceiptFilter, receiptsTo: number): Promise<number[]> {
    const receipts = await this.session.all<Receipt & { readonly number: number }>(
      `SELECT number, day, sender FROM ${this.table('receipt')} WHERE ${this.#project} = $1`,
      [key],
    );
    return receipts
      .filter((receipt) => receipt.number <= receiptsTo && isSelected(knownReceipt(receipt), filter))
      .map(({ number }) => number);
  }

  async #planImported(
    { key }: CorrectedProject,
    filter: Pick<ImportedFilter, 'source' | 'withdrawnBy' | 'limit'>,
    from: string | null,
  ): Promise<Part> {
    const { limit } = filter;
    const after = from === null ? BEFORE_ALL : (JSON.parse(from) as typeof BEFORE_ALL);
    const imported = await this.#rows.findImported(key, { ...filter, after });
    const { caller, start } = imported.at(-1) ?? BEFORE_ALL;
    return {
      moves: [],
      imported,
      next: imported.length === limit ? JSON.stringify({ caller, start }) : null,
    };
  }

  /** Gives queries the state that they would have without this correction. */
  async #planUndo(
    project: CorrectedProject,
    undone: Correction,
    limit: number,
    from: string | null,
  ): Promise<Part> {
    const { number, request } = undone;
    if (request.action !== 'undo' && 'source' in request.selection)
      return this.#planImported(
        project,
        { source: request.selection.source, withdrawnBy: number, limit },
        from,
      );
    const { key } = project;
    const room = await this.#roomForUndo(key, limit);
    const ids = await this.#rows.listCorrected(key, number, from ?? undefined, room);
    const states = await this.findStates(key, ids, number);
    const rows = await this.#rows.findByIds(key, ids);
    // What telemetry took back after a rename stays so.
    const keeps = request.action === 'rename';
    const moves = rows.flatMap((row) => {
      const { caller, isWithdrawn } = states.get(row.id) ?? row;
      return toMove(row, { caller, isWithdrawn: keeps ? row.isWithdrawn : isWithdrawn });
    });
    return { moves, imported: [], next: ids.length === room ? (ids.at(-1) ?? null) : null };
  }

  /** For how many queries all corrections can be read in one step: each may have been changed by all of the project. */
  async #roomForUndo(key: unknown, limit: number): Promise<number> {
    const last = await this.get<{ readonly number: number }>(
      `SELECT max(number) AS number FROM ${this.#corrections} WHERE ${this.#project} = $1`,
      [key],
    );
    return Math.max(1, Math.min(limit, Math.floor(undoStepCorrectionsMax / (last?.number ?? 1))));
  }

  /** The states that follow from all corrections of queries that are not undone, but for the one with the number `without`. */
  async findStates(
    key: unknown,
    ids: readonly string[],
    without?: number,
  ): Promise<ReadonlyMap<string, QueryState>> {
    const rows = await this.#rows.findEffective(key, ids);
    const states = new Map<string, QueryState>();
    // In their order, each changes what the ones before have left. The first knows for whom a query was recorded.
    for (const { id, caller, correction, action, to, undoneBy } of rows.toSorted(byCorrection)) {
      const before = states.get(id) ?? { caller, isWithdrawn: false };
      const isInEffect = undoneBy === null && action !== 'undo' && correction !== without;
      states.set(id, isInEffect ? correct(before, { action, to: to ?? undefined }) : before);
    }
    return states;
  }

  /** The queries with these ids. Throws `invalid` if the rows of some are not there. */
  async requireIds(
    { key, rowsFrom }: CorrectedProject,
    ids: readonly string[],
  ): Promise<readonly QueryRow[]> {
    const found = await this.#rows.findByIds(key, ids);
    const rows = found.filter(({ occurredAt }) => occurredAt >= (rowsFrom ?? occurredAt));
    const known = new Set(rows.map(({ id }) => id));
    const missing = ids.filter((id) => !known.has(id));
    if (missing.length > 0) throw missingError(missing, rowsFrom);
    return rows;
  }
}

function byCorrection(one: CorrectedRow, other: CorrectedRow): number {
  return one.correction - other.correction;
}

export function toCorrection({ request, figures, ...row }: CorrectionRow): Correction {
  const { number, createdBy, createdAt, finishedAt, undoneBy } = row;
  return {
    ...{ number, createdBy, createdAt, finishedAt, undoneBy },
    request: JSON.parse(request),
    figures: JSON.parse(figures),
  };
}

export function affectedBy({ moves, imported }: Part): Affected[] {
  return [
    ...moves.flatMap(({ row, to }) => {
      const counted = [row, to].find(({ isWithdrawn }) => !isWithdrawn);
      return counted === undefined
        ? []
        : [{ caller: counted.caller, occurredAt: row.occurredAt, queries: 1 }];
    }),
    ...imported.map(({ caller, start, queries }) => ({ caller, occurredAt: start, queries })),
  ];
}

function refusal(...details: readonly string[]): CallerStatsError {
  return new CallerStatsError('invalid', 'Nothing was corrected.', { details });
}

function missingError(missing: readonly string[], rowsFrom: number | null): CallerStatsError {
  const gone =
    rowsFrom === null ? '' : `, or retention has removed it: rows are kept from ${formatTime(rowsFrom)} on`;
  const named = missing
    .slice(0, unknownNamesMax)
    .map((id) => `ids: the project has no query ${JSON.stringify(id)}${gone}`);
  const more = missing.length - named.length;
  return refusal(...named, ...(more > 0 ? [`and ${more} more unknown ids`] : []));
}
