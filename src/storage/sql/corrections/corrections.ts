/** Corrections of what was recorded, for every SQL database. Each method of the changes is one transaction. */

import { hashIds } from '../../../domain/corrections/carried.js';
import {
  type Correction,
  type CorrectionRequest,
  describeCorrection,
  splitRequest,
} from '../../../domain/corrections/correction.js';
import { addToFigures, NO_FIGURES } from '../../../domain/corrections/figures.js';
import { correctionStepQueriesMax } from '../../../domain/limits.js';
import type { Actor } from '../../../domain/people/audit.js';
import { dayOf } from '../../../domain/queries/receipt.js';
import type {
  CorrectionChanges,
  CorrectionReads,
  Measured,
  NumberedCorrection,
} from '../../ports/corrections.js';
import { SqlChanges } from '../changes.js';
import { SqlFoundStates } from '../identities/found-states.js';
import type { Dialect, Session } from '../session.js';
import {
  affectedBy,
  CorrectionPlanner,
  type CorrectionRow,
  type Part,
  type Plan,
  SUMMARY,
  toCorrection,
} from './planner.js';
import type { Move, QueryChanges, QueryRows } from './query-rows.js';
import { Restoring } from './restoring.js';

interface UnfinishedRow extends CorrectionRow {
  readonly ids: string | null;
  readonly receiptsTo: number;
  readonly address: string | null;
  readonly position: string | null;
}

/** Reads need no transaction, and do not wait for changes. */
export class SqlCorrectionReads extends SqlChanges implements CorrectionReads {
  protected readonly planner: CorrectionPlanner;
  protected readonly corrections = this.table('correction');
  protected readonly project = this.dialect.projectColumn;

  constructor(session: Session, dialect: Dialect, rows: QueryRows) {
    super(session, dialect);
    this.planner = new CorrectionPlanner(session, dialect, rows);
  }

  async listCorrections(projectId: string, before: number | undefined, limit: number): Promise<Correction[]> {
    const { key } = await this.planner.findProject(projectId, '');
    const rows = await this.session.all<CorrectionRow>(
      `SELECT ${SUMMARY} FROM ${this.corrections} WHERE ${this.project} = $1 AND number < $2
       ORDER BY number DESC LIMIT $3`,
      [key, before ?? 2 ** 31 - 1, limit],
    );
    return rows.map(toCorrection);
  }

  async findCorrection(projectId: string, correctionId: string): Promise<Correction | undefined> {
    const { key } = await this.planner.findProject(projectId, '');
    return this.planner.findById(key, correctionId);
  }

  async listUnfinished(): Promise<string[]> {
    const rows = await this.session.all<{ readonly id: string }>(
      `SELECT DISTINCT project.id FROM ${this.corrections} AS correction JOIN ${this.table('project')} AS project
         ON project.${this.dialect.projectKeyColumn} = correction.${this.project}
       WHERE finished_at IS NULL ${this.dialect.andNotDeleted} ORDER BY project.id`,
    );
    return rows.map(({ id }) => id);
  }

  async listFinished(projectId: string, after: number, limit: number): Promise<NumberedCorrection[]> {
    const { key } = await this.planner.findProject(projectId, '');
    const rows = await this.session.all<CorrectionRow & { readonly ids: string | null }>(
      `SELECT ${SUMMARY}, ids FROM ${this.corrections}
       WHERE ${this.project} = $1 AND number > $2 AND finished_at IS NOT NULL ORDER BY number LIMIT $3`,
      [key, after, limit],
    );
    return rows.map(({ ids, ...row }) => {
      const { number, request, figures, createdBy, createdAt, finishedAt } = toCorrection(row);
      const idsHash = ids === null ? null : hashIds(ids);
      return { number, request, idsHash, figures, createdBy, createdAt, finishedAt: Number(finishedAt) };
    });
  }

  async measure(projectId: string, request: CorrectionRequest, from: string | null): Promise<Measured> {
    const project = await this.planner.findProject(projectId, '');
    const undone = await this.planner.requireAcceptable(project, request);
    const [receiptsTo, limit] = [Number.MAX_SAFE_INTEGER, correctionStepQueriesMax];
    const part = await this.planner.plan(project, { request, receiptsTo, undone, limit }, from);
    return { figures: addToFigures(NO_FIGURES, affectedBy(part)), next: part.next };
  }
}

export class SqlCorrectionChanges extends SqlCorrectionReads implements CorrectionChanges {
  readonly #changes: QueryChanges;
  readonly #restoring: Restoring;
  readonly #states: SqlFoundStates;

  constructor(session: Session, dialect: Dialect, changes: QueryChanges) {
    super(session, dialect, changes);
    this.#changes = changes;
    this.#restoring = new Restoring(session, dialect, this.planner, changes);
    this.#states = new SqlFoundStates(session, dialect);
  }

  restore(...args: Parameters<CorrectionChanges['restore']>): Promise<void> {
    return this.#restoring.restore(...args);
  }

  restoreChanges(...args: Parameters<CorrectionChanges['restoreChanges']>): Promise<void> {
    return this.#restoring.restoreChanges(...args);
  }

  restoreWithdrawals(...args: Parameters<CorrectionChanges['restoreWithdrawals']>): Promise<void> {
    return this.#restoring.restoreWithdrawals(...args);
  }

  async accept(projectId: string, request: CorrectionRequest, by: Actor): Promise<Correction> {
    const project = await this.planner.findProject(projectId, this.dialect.lock('UPDATE'));
    const { key } = project;
    const { summary, ids } = splitRequest(request);
    const stored = { request: JSON.stringify(summary), ids: ids && JSON.stringify(ids) };
    const present = await this.planner.findSame(key, request.id, stored);
    if (present !== undefined) return present;
    const undone = await this.planner.requireAcceptable(project, request);
    if (ids !== null) await this.planner.requireIds(project, ids);
    const receiptsTo = request.action === 'undo' ? 0 : await this.#endReceipts(projectId, key);
    const last = await this.get<{ readonly number: number }>(
      `SELECT coalesce(max(number), 0) AS number FROM ${this.corrections} WHERE ${this.project} = $1`,
      [key],
    );
    const number = (last?.number ?? 0) + 1;
    await this.session.run(
      `INSERT INTO ${this.corrections} (${this.project}, number, id, action, to_caller, request, ids, receipts_to,
         created_by, address, created_at, figures) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        ...[key, number, request.id, request.action, request.action === 'rename' ? request.to : null],
        ...[stored.request, stored.ids, receiptsTo, by.name, by.address, by.at, JSON.stringify(NO_FIGURES)],
      ],
    );
    if (undone !== undefined)
      await this.session.run(
        `UPDATE ${this.corrections} SET undone_by = $3 WHERE ${this.project} = $1 AND number = $2`,
        [key, undone.number, request.id],
      );
    return {
      ...{ number, request: summary, figures: NO_FIGURES },
      ...{ createdBy: by.name, createdAt: by.at, finishedAt: null, undoneBy: null },
    };
  }

  async step(projectId: string, nowMs: number, limit: number): Promise<Correction | undefined> {
    const project = await this.planner.findProject(projectId, this.dialect.lock('UPDATE'));
    const { key } = project;
    const row = await this.get<UnfinishedRow>(
      `SELECT ${SUMMARY}, ids, receipts_to AS "receiptsTo", address, position FROM ${this.corrections}
       WHERE ${this.project} = $1 AND finished_at IS NULL ORDER BY number LIMIT 1`,
      [key],
    );
    if (row === undefined) return undefined;
    const correction = toCorrection(row);
    const { request } = correction;
    const undone =
      request.action === 'undo' ? await this.planner.findById(key, request.correction) : undefined;
    const plan: Plan = {
      request: joinRequest(correction, row.ids),
      receiptsTo: row.receiptsTo,
      undone,
      limit,
    };
    const part = await this.planner.plan(project, plan, row.position);
    const moved = part.moves.map(({ row: { id } }) => id);
    const told = undone === undefined ? new Set<string>() : await this.#states.reopen(key, moved);
    await this.#noteLate(key, part.moves, told, dayOf(nowMs));
    await this.#carryOut(key, correction, undone, part);
    if (told.size > 0) await this.#states.settle(key, [...told], nowMs, this.#changes);
    const figures = addToFigures(correction.figures, affectedBy(part));
    const finishedAt = part.next === null ? nowMs : null;
    await this.session.run(
      `UPDATE ${this.corrections} SET figures = $3, position = $4, finished_at = $5
       WHERE ${this.project} = $1 AND number = $2`,
      [key, correction.number, JSON.stringify(figures), part.next, finishedAt],
    );
    const after = { ...correction, figures, finishedAt };
    if (finishedAt !== null) {
      const by: Actor = { name: correction.createdBy, address: row.address, at: nowMs };
      const { organizationId } = project;
      const action = `correction.${request.action}` as const;
      const detail = describeCorrection(after);
      await this.log({ organizationId, action, targetId: projectId, detail }, by);
    }
    return after;
  }

  /** Of queries that telemetry has changed, too, corrections do not tell what they were. */
  async #noteLate(
    key: unknown,
    moves: readonly Move[],
    told: ReadonlySet<string>,
    day: number,
  ): Promise<void> {
    const late = await this.#changes.findLate(
      key,
      moves.map(({ row }) => row.id),
    );
    const noted = moves.flatMap(({ row: { id, caller, isWithdrawn } }) =>
      late.has(id) || told.has(id) ? [{ id, day, caller, isWithdrawn, isCorrected: true }] : [],
    );
    if (noted.length > 0) await this.#changes.noteLate(key, noted);
  }

  async #carryOut(
    key: unknown,
    { number, request }: Correction,
    undone: Correction | undefined,
    { moves, imported }: Part,
  ): Promise<void> {
    if (undone === undefined && moves.length > 0)
      await this.#changes.noteCorrected(
        key,
        moves.map(({ row: { id, caller } }) => ({ id, caller, correction: number })),
      );
    if (moves.length > 0) await this.#changes.move(key, moves);
    if (imported.length === 0) return;
    const { request: original } = undone ?? { request };
    if (original.action === 'undo' || !('source' in original.selection))
      throw new Error('Invariant violated: imported counts are corrected by their source.');
    const isUndo = undone !== undefined;
    await this.#changes.markImported(key, original.selection.source, imported, isUndo ? null : number);
    await this.#changes.addToCounters(
      key,
      imported.map(({ caller, start, queries }) => ({
        ...{ caller, occurredAt: start, level: 0 },
        queries: isUndo ? queries : -queries,
      })),
    );
  }

  /** What is recorded from now on gets new receipts. Returns the last number of those that are there. */
  async #endReceipts(projectId: string, key: unknown): Promise<number> {
    await this.dialect.stopRecording(this.session, projectId);
    const last = await this.get<{ readonly number: number }>(
      `SELECT coalesce(max(number), 0) AS number FROM ${this.table('receipt')} WHERE ${this.project} = $1`,
      [key],
    );
    const number = last?.number ?? 0;
    await this.session.run(`UPDATE ${this.table('project')} SET receipt_fence = $2 WHERE id = $1`, [
      projectId,
      number,
    ]);
    await this.dialect.projectChanged(this.session, projectId);
    return number;
  }
}

function joinRequest({ request }: Correction, ids: string | null): CorrectionRequest {
  if (ids === null) return request as CorrectionRequest;
  return { ...request, selection: { ids: JSON.parse(ids) } } as CorrectionRequest;
}
