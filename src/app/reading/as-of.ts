/** The counts as they were at the start of a UTC day: what they would have been answered then. */
import {
  addCounts,
  type Counts,
  countsFromList,
  mapTypes,
  sumByType,
  toCallerCounts,
  withTotal,
} from '../../domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../domain/counting/date-range.js';
import type { CountsRequest } from '../../domain/counting/report-request.js';
import { numbersBetween, tile } from '../../domain/counting/tiles.js';
import { CallerStatsError } from '../../domain/errors.js';
import { formatTime } from '../../domain/format.js';
import type { PastQueries } from '../../domain/history/timeline.js';
import { CALLER_TYPES, callerType } from '../../domain/queries/caller.js';
import { quarterHourMs } from '../../domain/time/duration.js';
import { finishWithPauses } from '../../shared/pauses.js';
import type {
  ComparedCallerCounts,
  CountReads,
  CountStore,
  SeriesByCaller,
} from '../../storage/ports/counts.js';
import type { Store } from '../../storage/ports/store.js';
import { visitPast } from './past.js';

type Reads = CountReads & Pick<CountStore, 'count' | 'readTogether'>;

/** The counts that a report reads: those of now, unless it asks for those of a day. */
export function countsThen(
  store: Pick<Store, 'counts' | 'history'>,
  { asOf }: Pick<CountsRequest, 'asOf'>,
  onStep?: () => void,
): Reads {
  return asOf === undefined ? store.counts : new CountsAsOf(store, asOf, onStep);
}

/**
 * Each read looks at all rows of the project. The reads of one report agree, because what was so at a moment stays so: they need
 * no common snapshot.
 */
class CountsAsOf implements Reads {
  readonly #store: Pick<Store, 'history'>;
  readonly #atMs: number;
  readonly #onStep: (() => void) | undefined;

  constructor(store: Pick<Store, 'history'>, atMs: number, onStep?: () => void) {
    this.#store = store;
    this.#atMs = atMs;
    this.#onStep = onStep;
  }

  readTogether<T>(_projectId: string, read: (counts: CountReads) => Promise<T>): Promise<T> {
    return read(this);
  }

  async count(projectId: string, { from, to }: DateRange, caller?: string): Promise<Counts> {
    return withTotal(addCounts(await this.countSeries(projectId, [from, to], caller)));
  }

  async countSeries(
    projectId: string,
    bounds: readonly number[],
    caller?: string,
  ): Promise<readonly Counts[]> {
    const { all } = await this.#countTiles(projectId, bounds, [], caller);
    return all;
  }

  countSeriesByCaller(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
  ): Promise<SeriesByCaller> {
    return this.#countTiles(projectId, bounds, callers);
  }

  async countCallers(
    projectId: string,
    range: DateRange,
    compared?: DateRange,
  ): Promise<ComparedCallerCounts> {
    const tiles = tile(
      [range, ...(compared === undefined ? [] : [compared])].flatMap(({ from, to }) => [from, to]),
    );
    const callers = new Map<string, number[]>();
    await this.#visit(projectId, tiles, (caller, at, queries) => {
      const numbers = callers.get(caller) ?? tiles.slice(1).map(() => 0);
      numbers[at] = (numbers[at] ?? 0) + queries;
      callers.set(caller, numbers);
    });
    const countIn = ({ from, to }: DateRange) =>
      finishWithPauses(
        toCallerCounts(
          [...callers].map(([caller, numbers]) => {
            return [caller, numbersBetween([from, to], tiles, numbers)[0] ?? 0] as const;
          }),
        ),
      );
    const counts = await countIn(range);
    return compared === undefined
      ? counts
      : { ...counts, inCompared: sumByType((await countIn(compared)).callers) };
  }

  async findExtent(projectId: string): Promise<DateRange | undefined> {
    let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    await this.#visit(projectId, [ALL_TIME.from, ALL_TIME.to], (_caller, _at, queries, { first, last }) => {
      if (queries === 0) return;
      from = Math.min(from, first);
      to = Math.max(to, last + 1);
    });
    return from < to ? { from, to } : undefined;
  }

  async #countTiles(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
    only?: string,
  ): Promise<SeriesByCaller> {
    const empty = () => bounds.slice(1).map(() => 0);
    const types = mapTypes(empty);
    const ofCallers = new Map(callers.map((caller) => [caller, empty()]));
    await this.#visit(projectId, bounds, (caller, at, queries) => {
      if (only !== undefined && caller !== only) return;
      for (const numbers of [types[callerType(caller)], ofCallers.get(caller)])
        if (numbers !== undefined) numbers[at] = (numbers[at] ?? 0) + queries;
    });
    return {
      all: empty().map((_, at) =>
        withTotal(countsFromList(CALLER_TYPES.map((type) => types[type][at] ?? 0))),
      ),
      callers: callers.map((caller) => ofCallers.get(caller) ?? empty()),
    };
  }

  /** Visits what counted then, with the place of its time among the ranges between ascending bounds. */
  async #visit(
    projectId: string,
    bounds: readonly number[],
    visit: (caller: string, at: number, queries: number, past: PastQueries) => void,
  ): Promise<void> {
    const [from, to] = [bounds[0], bounds.at(-1)];
    if (from === undefined || to === undefined || from === to) return;
    requireQuarters(bounds);
    const [atMs, onStep] = [this.#atMs, this.#onStep];
    const spanMs = spanOf(bounds);
    const question = { projectId, range: { from, to }, atMs, parameter: 'asOf', spanMs, onStep } as const;
    await visitPast(this.#store, question, (past, timeline) => {
      const caller = timeline.callerThen(past);
      if (caller !== undefined) visit(caller, placeAmong(bounds, past.first), past.queries, past);
      return undefined;
    });
  }
}

/** A zone whose offset was not a whole number of quarter hours begins its days between them, as most did before 1900. */
function requireQuarters(bounds: readonly number[]): void {
  const between = bounds.find((bound) => bound % quarterHourMs !== 0);
  if (between === undefined) return;
  const detail = `interval: a bucket begins at ${formatTime(between)}, within a quarter hour, and what was counted then is known by quarter hours`;
  throw new CallerStatsError('invalid', 'This past is not known.', { details: [detail] });
}

/** The longest span of which all ranges between bounds consist: the greatest common divisor of their lengths. */
function spanOf(bounds: readonly number[]): number {
  let span = 0;
  for (const [at, bound] of bounds.entries()) {
    let length = bound - (bounds[at - 1] ?? bound);
    while (length > 0) [span, length] = [length, span % length];
  }
  return span;
}

/** The place of the range that a time is in. */
function placeAmong(bounds: readonly number[], timeMs: number): number {
  let [low, high] = [0, bounds.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] ?? 0) <= timeMs) low = middle;
    else high = middle;
  }
  return low;
}
