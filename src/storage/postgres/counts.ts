/** Recording and counting on PostgreSQL. */
import { type Segment, splitIntoBuckets } from '../../domain/counting/buckets.js';
import {
  type CallerCounts,
  type Counts,
  countsOfType,
  sumByType,
  type TypeCounts,
  toCallerCounts,
  withTotal,
  zeroCounts,
} from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import {
  type Conflict,
  type CutSpan,
  conflictError,
  distinctCounts,
  type ImportedCount,
} from '../../domain/counting/imported-count.js';
import {
  combinerFor,
  combineSeriesCounts,
  splitSeriesIntoBuckets,
} from '../../domain/counting/series-segments.js';
import { CallerStatsError } from '../../domain/errors.js';
import { importedSpanDaysMax } from '../../domain/limits.js';
import { callerType } from '../../domain/queries/caller.js';
import type { ArrivingQuery, Receipt, RecordedQuery } from '../../domain/queries/receipt.js';
import { dayMs } from '../../domain/time/duration.js';
import type { ComparedCallerCounts, CountStore, RecordResult, SeriesByCaller } from '../ports/counts.js';
import type { CommitObserver } from '../ports/store-stats.js';
import { type ReceivedRow, toRecordedQuery } from '../sql/received-rows.js';
import { withDatabaseDeadline } from './connection/database.js';
import { rowsFromOf } from './connection/errors.js';
import type { OpenDatabase } from './connection/open-database.js';
import { bytesOf, decodeQueryId } from './query-id.js';
import { type RecordAnswer, type RecordCall, Recorder } from './recorder.js';

/** What `import_counts` and `checkCounts` return; null if there is no such project. */
interface ImportOutcome {
  readonly recorded: number;
  readonly conflicts: readonly (Conflict['present'] & { readonly index: number })[] | null;
}

export class PostgresCounts implements CountStore {
  readonly #database: OpenDatabase;
  readonly #recorder: Recorder;

  constructor(database: OpenDatabase, observer: CommitObserver) {
    this.#database = database;
    this.#recorder = new Recorder((call) => this.#callRecord(call), observer);
  }

  get pending(): Recorder['pending'] {
    return this.#recorder.pending;
  }

  /** Resolves when all accepted queries are recorded. */
  close(): Promise<void> {
    return this.#recorder.close();
  }

  readonly importBatchQueries = undefined;

  async record(
    projectId: string,
    queries: readonly ArrivingQuery[],
    receipt?: Receipt,
  ): Promise<RecordResult> {
    this.#database.requireOpen();
    return withDatabaseDeadline(this.#database.timeoutMs, (signal) =>
      this.#recorder.record(projectId, { queries, receipt, signal }),
    );
  }

  async count(projectId: string, range: DateRange, caller?: string): Promise<Counts> {
    if (caller !== undefined) {
      const [counts] = await this.countSeries(projectId, [range.from, range.to], caller);
      return counts ?? withTotal(zeroCounts());
    }
    const values = [projectId, ...toColumns(splitIntoBuckets(range))];
    const [sums] = await this.#database.read<TypeCounts>('count', values);
    if (sums === undefined) throw new Error('Invariant violated: a sum is one row.');
    return withTotal(sums);
  }

  async countSeries(
    projectId: string,
    bounds: readonly number[],
    caller?: string,
  ): Promise<readonly Counts[]> {
    if (caller !== undefined) {
      const type = callerType(caller);
      if (type !== 'other') {
        return (await this.countSeries(projectId, bounds)).map((counts) => countsOfType(type, counts[type]));
      }
      const [numbers = []] = (await this.#countByCaller(projectId, bounds, [caller], false)).callers;
      return numbers.map((number) => countsOfType(type, number));
    }
    const segments = splitSeriesIntoBuckets(bounds);
    const values = [projectId, segments.map(({ sum }) => sum), ...toColumns(segments)];
    const rows = await this.#database.read<TypeCounts & { readonly sum: number }>('countSeries', values);
    return combineSeriesCounts(bounds, new Map(rows.map((row) => [row.sum, row])));
  }

  countSeriesByCaller(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
  ): Promise<SeriesByCaller> {
    return this.#countByCaller(projectId, bounds, callers, true);
  }

  /** Without `withTypes`, `all` is zero, and so are the callers `web` and `api`. */
  async #countByCaller(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
    withTypes: boolean,
  ): Promise<SeriesByCaller> {
    type Sum = TypeCounts & { readonly sum: number; readonly caller: string | null };
    const segments = splitSeriesIntoBuckets(bounds);
    const values = [projectId, segments.map(({ sum }) => sum), ...toColumns(segments), callers, withTypes];
    const rows = await this.#database.read<Sum>('countSeriesByCaller', values);
    const sumsOf = (caller: string | null): Map<number, TypeCounts> =>
      new Map(rows.filter((row) => row.caller === caller).map((row) => [row.sum, row]));
    const all = combineSeriesCounts(bounds, sumsOf(null));
    const combine = combinerFor(bounds);
    return {
      all,
      callers: callers.map((caller) => {
        const type = callerType(caller);
        if (type !== 'other') return all.map((counts) => counts[type]);
        const sums = sumsOf(caller);
        return combine((index) => sums.get(index)?.other ?? 0);
      }),
    };
  }

  async countCallers(
    projectId: string,
    range: DateRange,
    compared?: DateRange,
  ): Promise<ComparedCallerCounts> {
    type Counted = { readonly sum: number; readonly caller: string; readonly queries: number | null };
    const segments = [range, ...(compared === undefined ? [] : [compared])].flatMap((one, sum) =>
      splitIntoBuckets(one).map((segment) => ({ ...segment, sum })),
    );
    const values = [projectId, segments.map(({ sum }) => sum), ...toColumns(segments)];
    const rows = await this.#database.read<Counted>('countCallers', values);
    const countsOf = (index: number): CallerCounts =>
      // A type without counters has the sum null.
      toCallerCounts(
        rows.filter(({ sum }) => sum === index).map(({ caller, queries }) => [caller, queries ?? 0]),
      );
    return compared === undefined
      ? countsOf(0)
      : { ...countsOf(0), inCompared: sumByType(countsOf(1).callers) };
  }

  async findExtent(projectId: string): Promise<DateRange | undefined> {
    type Extent = { readonly first: number | null; readonly last: number };
    const [row] = await this.#database.read<Extent>('findExtent', [projectId]);
    return row === undefined || row.first === null ? undefined : { from: row.first, to: row.last + 1 };
  }

  async readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<RecordedQuery[]> {
    const values = [projectId, bytesOf(afterId), limit];
    const rows = await this.#database.read<ReceivedRow<Buffer>>('readQueries', values);
    return rows.map((row) => toRecordedQuery(row, decodeQueryId));
  }

  async importCounts(
    projectId: string,
    counts: readonly ImportedCount[],
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<RecordResult> {
    await this.#database.requireReady();
    const distinct = distinctCounts(counts);
    const columns = (['source', 'caller', 'start', 'end', 'count'] as const).map((field) =>
      distinct.map((one) => one[field]),
    );
    const outcome = dryRun
      ? await this.#checkCounts([projectId, ...columns])
      : await this.#callImport([projectId, ...columns]);
    if (outcome === null) throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
    if (outcome.conflicts === null)
      return { recorded: outcome.recorded, duplicates: counts.length - outcome.recorded };
    throw conflictError(
      outcome.conflicts.flatMap(({ index, ...present }): Conflict[] => {
        const sent = distinct[index];
        return sent === undefined ? [] : [{ sent, present }];
      }),
    );
  }

  async readImportedCounts(
    projectId: string,
    after: ImportedCount | undefined,
    limit: number,
  ): Promise<ImportedCount[]> {
    const { source = '', caller = '', start = Number.MIN_SAFE_INTEGER } = after ?? {};
    return this.#database.read('readImportedCounts', [projectId, source, caller, start, limit]);
  }

  async findCutSpan(projectId: string, timeMs: number): Promise<CutSpan | undefined> {
    type Found = { readonly [Field in keyof CutSpan]: number | null };
    const values = [projectId, timeMs, timeMs - importedSpanDaysMax * dayMs];
    const [row] = await this.#database.read<Found>('findCutSpan', values);
    return row === undefined || row.start === null ? undefined : (row as CutSpan);
  }

  /** Without a name, so that each call is planned with its project: Citus then sends all of it to the project's server. */
  async #callRecord(call: RecordCall): Promise<RecordAnswer> {
    await this.#database.schema.ready();
    const { projectId, ids, times, callers, days, senders, receiptOf } = call;
    try {
      const { rows } = await this.#database.connections.write<{
        readonly duplicates: readonly number[] | null;
      }>(
        { text: this.#database.statements.record },
        [projectId, ids, times, callers, days, senders, receiptOf],
        { repeatable: true },
      );
      if (rows[0] === undefined) throw new Error('Invariant violated: the function record returns one row.');
      return rows[0].duplicates;
    } catch (error) {
      const rowsFrom = rowsFromOf(error);
      if (rowsFrom === undefined) throw error;
      return { rowsFrom };
    }
  }

  /** Takes no lock, so that recordings do not wait for it. */
  async #checkCounts(values: readonly unknown[]): Promise<ImportOutcome | null> {
    const [outcome] = await this.#database.connections.read<ImportOutcome>(
      { text: this.#database.statements.checkCounts },
      values,
    );
    return outcome ?? null;
  }

  /** Without a name, as `#callRecord`. */
  async #callImport(values: readonly unknown[]): Promise<ImportOutcome | null> {
    const { rows } = await this.#database.connections.write<{
      readonly outcome: Partial<ImportOutcome> | null;
    }>({ text: this.#database.statements.importCounts }, values, { repeatable: true });
    const { outcome = null } = rows[0] ?? {};
    return outcome && { recorded: 0, conflicts: null, ...outcome };
  }
}

function toColumns(segments: readonly Segment[]): number[][] {
  return [
    segments.map(({ level }) => level),
    segments.map(({ first }) => first),
    segments.map(({ end }) => end),
  ];
}
