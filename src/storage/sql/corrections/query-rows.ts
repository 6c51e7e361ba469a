/** What corrections need of the rows of queries, which each store keeps in its own way. */
import type { CorrectionAction } from '../../../domain/corrections/correction.js';
import { isSameState, type KnownState, type QueryState } from '../../../domain/corrections/state.js';
import type { PastRange } from '../../ports/history.js';
import type { CountRow } from '../received-rows.js';

/** A query as its row is. Withdrawn ones are not counted. */
export interface QueryRow extends QueryState {
  readonly id: string;
  readonly occurredAt: number;
  /** The narrowest level whose counters include it. */
  readonly level: number;
}

/** Which queries that are counted to find. */
export interface QueryFilter {
  /** The first one, exclusive, and the last one, inclusive: in the store's order of ids. */
  readonly after: string | undefined;
  readonly last: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly caller: string | null;
  /** The numbers of the receipts that they may have. */
  readonly receipts: readonly number[];
  /** Whether they may have none. */
  readonly withoutReceipt: boolean;
  readonly limit: number;
}

/** A query, and its new state. */
export interface Move {
  readonly row: QueryRow;
  readonly to: QueryState;
}

/** What to add to the counters of a caller at a time; negative to subtract. */
export interface CounterChange {
  readonly occurredAt: number;
  readonly caller: string;
  readonly level: number;
  readonly queries: number;
}

/** An imported count, whose queries count at the start of its span. */
export interface ImportedRow {
  readonly caller: string;
  readonly start: number;
  readonly queries: number;
}

/** The imported counts of a source that this correction has withdrawn, or none if null. */
export interface ImportedFilter {
  readonly source: string;
  readonly withdrawnBy: number | null;
  readonly after: Pick<ImportedRow, 'caller' | 'start'>;
  readonly limit: number;
}

/** The correction of a query, and the caller for which that counted before. */
export interface CorrectedRow {
  readonly id: string;
  readonly correction: number;
  readonly caller: string;
}

/** With what the correction does, and the correction that has undone it. */
export interface EffectiveRow extends CorrectedRow {
  readonly action: CorrectionAction;
  /** The caller of a rename. */
  readonly to: string | null;
  readonly undoneBy: string | null;
}

/** See `KnownState`. */
export interface LateChange extends KnownState {
  readonly id: string;
}

/** Which queries of a range to read, withdrawn or not. */
export interface PastFilter extends PastRange, Pick<QueryFilter, 'after' | 'last'> {}

/**
 * Queries that no correction has changed and whose other columns are alike, with the number of them; or one query that is told apart.
 */
export interface PastRow extends QueryState {
  readonly first: number;
  readonly last: number;
  readonly queries: number;
  readonly arrivedFrom: string | null;
  /** The numbers of its corrections, separated by commas. */
  readonly corrections: string | null;
  /** The caller for which it counted before them. */
  readonly firstCaller: string | null;
  /** The `NotedRow`s of the query as JSON. */
  readonly known: string | null;
}

/** The place of an imported count in the store's order of them. */
export type CountPlace = Pick<ImportedRow, 'caller' | 'start'> & { readonly source: string };

/** `project` is the key of a project in its rows. */
export interface QueryRows {
  findPast(project: unknown, filter: PastFilter): Promise<PastRow[]>;
  /** See `CountStore.readImportedCounts`. */
  findPastCounts(project: unknown, after: CountPlace, limit: number): Promise<CountRow[]>;
  /** The id of the last of the next `rows` queries after `after`, or of fewer if they have many corrections; undefined if there are no more. */
  findEnd(project: unknown, after: string | undefined, rows: number): Promise<string | undefined>;
  /** In the order of ids. */
  find(project: unknown, filter: QueryFilter): Promise<QueryRow[]>;
  /** Those of the ids that the project has. */
  findByIds(project: unknown, ids: readonly string[]): Promise<QueryRow[]>;
  /** The ids of queries that a correction changed, after `after`, in their order. */
  listCorrected(
    project: unknown,
    correction: number,
    after: string | undefined,
    limit: number,
  ): Promise<string[]>;
  /** All corrections of these queries. */
  findCorrections(project: unknown, ids: readonly string[]): Promise<CorrectedRow[]>;
  /** Those that are not undone, and the first one of each query, which tells for whom it was recorded. */
  findEffective(project: unknown, ids: readonly string[]): Promise<EffectiveRow[]>;
  /** In an order of callers and starts. */
  findImported(project: unknown, filter: ImportedFilter): Promise<ImportedRow[]>;
  /** Those of a source with these callers and starts. */
  findImportedAt(
    project: unknown,
    source: string,
    places: readonly Pick<ImportedRow, 'caller' | 'start'>[],
  ): Promise<(ImportedRow & { readonly withdrawnBy: number | null })[]>;
}

/** Within a transaction. */
export interface QueryChanges extends QueryRows {
  /** Notes that a correction changes these queries. */
  noteCorrected(project: unknown, rows: readonly CorrectedRow[]): Promise<void>;

  /** Notes what queries were before they change, unless that is noted for the day. */
  noteLate(project: unknown, changes: readonly LateChange[]): Promise<void>;
  /** Those of the ids of which something is noted. */
  findLate(project: unknown, ids: readonly string[]): Promise<ReadonlySet<string>>;

  /** Notes which correction has withdrawn imported counts, or null for none. */
  markImported(
    project: unknown,
    source: string,
    rows: readonly ImportedRow[],
    withdrawnBy: number | null,
  ): Promise<void>;

  /** Gives queries another state, and moves them from the counters of one caller to those of another, or to none. */
  move(project: unknown, moves: readonly Move[]): Promise<void>;
  /** Counters that become zero are removed. */
  addToCounters(project: unknown, changes: readonly CounterChange[]): Promise<void>;
}

/** None if it is in that state. */
export function toMove(row: QueryRow, to: QueryState): Move[] {
  return isSameState(row, to) ? [] : [{ row, to }];
}

/** How the counters change when queries get another state. */
export function toCounterChanges(moves: readonly Move[]): CounterChange[] {
  return moves.flatMap(({ row, to }) => {
    const { occurredAt, level } = row;
    const change = ({ caller, isWithdrawn }: QueryState, queries: number): CounterChange[] =>
      isWithdrawn ? [] : [{ occurredAt, caller, level, queries }];
    return row.caller === to.caller && row.isWithdrawn === to.isWithdrawn
      ? []
      : [...change(row, -1), ...change(to, 1)];
  });
}
