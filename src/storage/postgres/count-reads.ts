/** Counting on PostgreSQL: each count is one statement. */
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
  combinerFor,
  combineSeriesCounts,
  splitSeriesIntoBuckets,
} from '../../domain/counting/series-segments.js';
import { callerType } from '../../domain/queries/caller.js';
import { finishWithPauses, nextTurn, Pauses } from '../../shared/pauses.js';
import type { ComparedCallerCounts, CountReads, CountStore, SeriesByCaller } from '../ports/counts.js';
import type { ReadStatement } from './connection/open-database.js';

/** These take a few milliseconds. */
const stepsInTurn = 4;

export class PostgresCountReads implements CountReads, Pick<CountStore, 'count'> {
  readonly #read: ReadStatement;

  constructor(read: ReadStatement) {
    this.#read = read;
  }

  async count(projectId: string, range: DateRange, caller?: string): Promise<Counts> {
    if (caller !== undefined) {
      const [counts] = await this.countSeries(projectId, [range.from, range.to], caller);
      return counts ?? withTotal(zeroCounts());
    }
    const values = [projectId, ...toColumns(splitIntoBuckets(range))];
    const [sums] = await this.#read<TypeCounts>('count', values);
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
    const segments = await finishWithPauses(splitSeriesIntoBuckets(bounds));
    const values = [projectId, segments.map(({ sum }) => sum), ...toColumns(segments)];
    const rows = await this.#read<TypeCounts & { readonly sum: number }>('countSeries', values);
    return finishWithPauses(combineSeriesCounts(bounds, new Map(rows.map((row) => [row.sum, row]))));
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
    const segments = await finishWithPauses(splitSeriesIntoBuckets(bounds));
    const values = [projectId, segments.map(({ sum }) => sum), ...toColumns(segments), callers, withTypes];
    const rows = await this.#read<Sum>('countSeriesByCaller', values);
    const sumsOf = (caller: string | null): Map<number, TypeCounts> =>
      new Map(rows.filter((row) => row.caller === caller).map((row) => [row.sum, row]));
    const all = await finishWithPauses(combineSeriesCounts(bounds, sumsOf(null)));
    const combine = combinerFor(bounds);
    const counted: (readonly number[])[] = [];
    for (const caller of callers) {
      await nextTurn();
      const type = callerType(caller);
      if (type !== 'other') {
        counted.push(all.map((counts) => counts[type]));
        continue;
      }
      const sums = sumsOf(caller);
      counted.push(combine((index) => sums.get(index)?.other ?? 0));
    }
    return { all, callers: counted };
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
    const rows = await this.#read<Counted>('countCallers', values);
    const countsOf = (index: number): Promise<CallerCounts> => {
      const ofRange = rows.filter(({ sum }) => sum === index);
      // A type without counters has the sum null.
      const counted = ofRange.map(({ caller, queries }) => [caller, queries ?? 0] as const);
      return finishWithPauses(toCallerCounts(counted), new Pauses(stepsInTurn));
    };
    const counts = await countsOf(0);
    return compared === undefined
      ? counts
      : { ...counts, inCompared: sumByType((await countsOf(1)).callers) };
  }

  async findExtent(projectId: string): Promise<DateRange | undefined> {
    type Extent = { readonly first: number | null; readonly last: number };
    const [row] = await this.#read<Extent>('findExtent', [projectId]);
    return row === undefined || row.first === null ? undefined : { from: row.first, to: row.last + 1 };
  }
}

function toColumns(segments: readonly Segment[]): number[][] {
  return [
    segments.map(({ level }) => level),
    segments.map(({ first }) => first),
    segments.map(({ end }) => end),
  ];
}
