/**
 * The part of the storage port that corrects what was recorded. What `store.ts` says of every method holds here too. Methods with
 * a project throw `not_found` if it does not exist.
 *
 * The row of a withdrawn query stays, so that its id is a duplicate for ever. The corrections of a project are carried out one
 * after the other, in steps of one transaction each, so that any handle finishes what another one began.
 */

import type { CarriedChange, CarriedCorrection, CarriedCount } from '../../domain/corrections/carried.js';
import type { Correction, CorrectionRequest } from '../../domain/corrections/correction.js';
import type { Figures } from '../../domain/corrections/figures.js';
import type { KnownState } from '../../domain/corrections/state.js';
import type { Actor } from '../../domain/people/audit.js';

/** A part of what a request would change. */
export interface Measured {
  readonly figures: Figures;
  /** Where the next part begins; null after the last one. */
  readonly next: string | null;
}

/** The id of a query, and the corrections that changed it, in their order. It may be withdrawn by none of them. */
export interface CarriedChanges {
  readonly id: string;
  readonly isWithdrawn?: boolean;
  readonly changes: readonly CarriedChange[];
  /** With them, the caller for which it counts, or would. */
  readonly known?: readonly KnownState[];
  readonly caller?: string;
  /** Of a query from telemetry: its row gets the same caller if it has this time and nothing has changed it here. */
  readonly occurredAt?: number | undefined;
}

export interface NumberedCorrection extends CarriedCorrection {
  readonly number: number;
}

/** The withdrawals of an imported count. */
export type CountWithdrawal = Pick<
  CarriedCount,
  'source' | 'caller' | 'start' | 'withdrawals' | 'withdrawnBy'
>;

export interface CorrectionReads {
  /** The project's corrections, the newest first: at most `limit` with numbers before `before`. */
  listCorrections(projectId: string, before: number | undefined, limit: number): Promise<Correction[]>;

  /** The correction with this id; undefined if there is none. */
  findCorrection(projectId: string, correctionId: string): Promise<Correction | undefined>;

  /** The projects that have corrections to be carried out. */
  listUnfinished(): Promise<string[]>;

  /**
   * The project's finished corrections after the number `after` in their order, at most `limit`, for copying and exporting them.
   * They are those before the first unfinished one.
   */
  listFinished(projectId: string, after: number, limit: number): Promise<NumberedCorrection[]>;

  /**
   * What a request would change now, in parts of bounded time: the part that begins at `from`, or the first one if that is null.
   * Changes nothing. Throws as `accept` does.
   */
  measure(projectId: string, request: CorrectionRequest, from: string | null): Promise<Measured>;
}

export interface CorrectionChanges {
  /**
   * Accepts a correction, which `step` then carries out. It concerns only queries that were recorded before. Idempotent by
   * (project, id): returns the one that is there if it is the same request, else `already_exists`. `invalid` if it names
   * queries or a correction that the project does not have, or queries whose rows retention has removed, or undoes what
   * is not finished, undone already, or an undo.
   */
  accept(projectId: string, request: CorrectionRequest, by: Actor): Promise<Correction>;

  /**
   * Carries out a part of the project's first unfinished correction, in one short transaction: changes at most `limit` queries.
   * The last part writes the audit log.
   * Returns the correction as it is then; undefined if there is none. Any number of handles may do it at once.
   */
  step(projectId: string, nowMs: number, limit: number): Promise<Correction | undefined>;

  /**
   * Adds a correction that another store has finished, without changing queries; an undo undoes. Idempotent by (project, id), and
   * `already_exists` as `accept`. `unavailable` while another correction is unfinished.
   */
  restore(projectId: string, carried: CarriedCorrection): Promise<void>;

  /**
   * Notes that restored corrections have changed these queries, and gives them the states that follow from all their corrections.
   * Idempotent. Leaves out queries that the project does not have. `invalid` if it has not one of the corrections.
   */
  restoreChanges(projectId: string, queries: readonly CarriedChanges[]): Promise<void>;

  /** The same for imported counts, which the project must have. */
  restoreWithdrawals(projectId: string, counts: readonly CountWithdrawal[]): Promise<void>;
}

export type Corrections = CorrectionReads & CorrectionChanges;
