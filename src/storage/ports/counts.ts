/** The storage port for recording and counting queries. `store.ts` says what holds for every method. */
import type { CallerCounts, Counts } from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import type { ArrivingCount, CutSpan, ImportedCount } from '../../domain/counting/imported-count.js';
import type { ImportRange } from '../../domain/history/import-range.js';
import type { ArrivingQuery, Receipt, RecordedQuery } from '../../domain/queries/receipt.js';
import type { AccessProof } from './directory.js';

/** An imported count that a store has. */
export interface RecordedCount extends ArrivingCount {
  /** The number of the correction that has withdrawn it. */
  readonly withdrawnBy?: number;
  /** The numbers of all corrections that ever have, also of those that were undone. */
  readonly withdrawals?: readonly number[];
}

/** The outcome of a batch: `recorded + duplicates` is its length. */
export interface RecordResult {
  readonly recorded: number;
  readonly duplicates: number;
}

/** Nothing was recorded, because `findAccess` would find something else now. */
export class OutdatedAccess extends Error {
  override readonly name = 'OutdatedAccess';
}

/** The counts by caller of a range, and those of another one if it was asked for. */
export interface ComparedCallerCounts extends CallerCounts {
  readonly inCompared?: Counts;
}

/** Adjacent ranges: the counts of all callers, and the numbers of queries of each that was asked for, in that order. */
export interface SeriesByCaller {
  readonly all: readonly Counts[];
  readonly callers: readonly (readonly number[])[];
}

/** What `readTogether` reads from one snapshot. */
export type CountReads = Pick<
  CountStore,
  'countSeries' | 'countSeriesByCaller' | 'countCallers' | 'findExtent'
>;

export interface CountStore {
  /**
   * Records queries into a project: all of them or, when it rejects, none. Idempotent forever by (project, id): a query
   * is a duplicate and changes nothing if its id was recorded before or earlier in the same batch, whatever else it
   * says. Counters change in the same transaction as the rows, so a count never sees one without the other. Any number
   * of handles and processes may record the same ids at once.
   * `not_found` if there is no such project. `invalid`, with a detail for each query by its index, if queries are older
   * than the project's `rowsFrom`: duplicates of them can no longer be detected. `unavailable` if too much is waiting.
   * New queries that do not say how they arrived get this receipt. With a `proof`, throws `OutdatedAccess` unless `findAccess` finds
   * the same at some time after the call.
   */
  record(
    projectId: string,
    queries: readonly ArrivingQuery[],
    receipt?: Receipt,
    proof?: AccessProof,
  ): Promise<RecordResult>;
  /** How many queries an import should pass to `record` at once; undefined if it makes no difference. */
  readonly importBatchQueries: number | undefined;

  /**
   * Counts the project's queries in a range, exactly; with `caller`, only those of this caller. Four zeros if the range
   * is empty or there is no such project or caller. Takes bounded time, whatever was recorded; with `caller`, the time
   * depends on the number of callers.
   */
  count(projectId: string, range: DateRange, caller?: string): Promise<Counts>;

  /**
   * Counts the project's queries in each of the adjacent ranges between ascending `bounds`: n bounds give n - 1 counts,
   * all from one snapshot, so that they add up to `count` of the whole. Zeros if there is no such project. The time
   * depends on the number of bounds only; with `caller`, also on the number of callers.
   */
  countSeries(projectId: string, bounds: readonly number[], caller?: string): Promise<readonly Counts[]>;

  /** As `countSeries` without and with each of these callers, all from one snapshot. */
  countSeriesByCaller(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
  ): Promise<SeriesByCaller>;

  /**
   * Counts the project's queries in a range by caller, from one snapshot: `total` equals `count`. Empty if the range is
   * empty or there is no such project. The time depends on the number of callers only. With `compared`, `inCompared` is
   * `count` of that range, from the same snapshot.
   */
  countCallers(projectId: string, range: DateRange, compared?: DateRange): Promise<ComparedCallerCounts>;

  /**
   * The range from the project's first query to just after its last one, by when they occurred; undefined if it has no
   * queries or does not exist. It never shrinks. Takes bounded time.
   */
  findExtent(projectId: string): Promise<DateRange | undefined>;

  /** Runs reads of a project that are all from one snapshot. `read` may be run again, and awaits nothing else. */
  readTogether<T>(projectId: string, read: (counts: CountReads) => Promise<T>): Promise<T>;

  /**
   * A page of the project's queries, the withdrawn ones too, for copying and exporting them: at most `limit` queries after the one
   * with the id `afterId`, in the store's own order of ids, and fewer if they have many corrections. Each page is its own snapshot; an
   * empty one comes after the last. Empty if there is no such project.
   */
  readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<RecordedQuery[]>;

  /**
   * Imports counts into a project: all of them or, when it rejects, none. Idempotent forever by (project, source, caller,
   * start). The queries of a count are counted at the start of its span, and the counters change in the same transaction
   * as the imported counts. Retention never removes or refuses imported counts. Those without a UTC day of arrival get `day`. With
   * `dryRun`, changes nothing.
   * `recorded` counts those that are new, `duplicates` those that are there already or repeated.
   * `not_found` if there is no such project. `already_exists`, with a detail for each conflict, if a count contradicts
   * (see `contradicts`) another one of its source and caller that is there or among those given.
   */
  importCounts(
    projectId: string,
    counts: readonly ArrivingCount[],
    options?: { readonly dryRun?: boolean; readonly day?: number },
  ): Promise<RecordResult>;

  /**
   * A page of the project's imported counts, the withdrawn ones too, for copying and exporting them: at most `limit` after `after`, in
   * the store's own order, and fewer if they were withdrawn often. Each page is its own snapshot; an empty one comes after the last.
   */
  readImportedCounts(
    projectId: string,
    after: ImportedCount | undefined,
    limit: number,
  ): Promise<RecordedCount[]>;

  /**
   * The newest imports that reach back (see `reachesBack`), newest first, at most `limit`. An import that recorded nothing new is none.
   * If a node on PostgreSQL is killed right after a batch of an import was recorded, that batch may be missing.
   */
  listImports(projectId: string, limit: number): Promise<readonly ImportRange[]>;

  /** The imported spans with queries that begin between two neighbours of these edges and end after both; undefined if there are none. */
  findCutSpan(projectId: string, edges: readonly number[]): Promise<CutSpan | undefined>;
}
