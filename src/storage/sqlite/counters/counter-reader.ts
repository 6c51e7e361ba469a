/**
 * Answers questions from the counters. Like all reads, it runs on the main thread; what may take more than a few milliseconds is
 * divided into steps, which must be taken within one snapshot.
 */
import { bucketWidthMs, type Segment, splitIntoBuckets } from '../../../domain/counting/buckets.js';
import {
  addCounts,
  type CallerCounts,
  type Counts,
  countsFromList,
  countsOfType,
  type TypeCounts,
  toCallerCounts,
  withTotal,
  zeroCounts,
} from '../../../domain/counting/counts.js';
import type { DateRange } from '../../../domain/counting/date-range.js';
import {
  combinerFor,
  combineSeriesCounts,
  type SumSegment,
  splitSeriesIntoBuckets,
} from '../../../domain/counting/series-segments.js';
import {
  CALLER_TYPES,
  type CallerType,
  callerType,
  SINGLE_CALLER_TYPES,
} from '../../../domain/queries/caller.js';
import type { Steps } from '../../../shared/steps.js';
import type { ComparedCallerCounts, SeriesByCaller } from '../../ports/counts.js';
import type { Connection } from '../connection.js';
import { type Prepared, prepareArrays } from '../statements.js';
import { TYPE_INDEX, typeOfNumber } from './counter-deltas.js';
import { MomentReader } from './moment-reader.js';
import { KEPT_LEVELS, readMoments } from './moments.js';
import type { ReadSnapshot } from './read-snapshot.js';
import { RollupCache } from './rollup-cache.js';
import { VersionedCache } from './versioned-cache.js';

const PROJECT_NUMBER = '(SELECT number FROM project WHERE id = ?)';

/** The common table expressions of the statements below: the project number, and the segments given as parameters. */
function segmentTables(segments: number): string {
  const values = Array.from({ length: segments }, () => '(?, ?, ?)').join(', ');
  return `asked (number) AS (SELECT number FROM project WHERE id = ?),
    segment (level, first, "end") AS (VALUES ${values})`;
}

/** The counters in the segments. The order of the joins is the order of the look-ups. */
const countersIn = (table: 'query_counter' | 'caller_counter'): string =>
  `asked CROSS JOIN segment CROSS JOIN ${table} AS counter
   ON counter.project = asked.number AND counter.level = segment.level
     AND counter.bucket >= segment.first AND counter.bucket < segment."end"`;

const columnSums = (types: readonly string[]): string =>
  types.map((type) => `coalesce(sum(${type}), 0)`).join(', ');

/** One statement for all segments: one snapshot, and cheaper than a statement each. */
const sumSql = (segments: number): string => `
  WITH ${segmentTables(segments)}
  SELECT ${columnSums(CALLER_TYPES)} FROM ${countersIn('query_counter')}`;

/**
 * The sums of each segment, in order, as a text with a number for each type, so that one look-up finds all of them. A join with GROUP BY
 * would sort, and reading the segments from JSON takes longer than reading their counters.
 */
const segmentSumsSql = (segments: number): string => `
  WITH ${segmentTables(segments)}
  SELECT (
    SELECT ${CALLER_TYPES.map((type) => `sum(${type})`).join(" || ' ' || ")} FROM query_counter AS counter
    WHERE counter.project = (SELECT number FROM asked) AND counter.level = segment.level
      AND counter.bucket >= segment.first AND counter.bucket < segment."end"
  ) FROM segment`;

/**
 * The counters of some callers in each segment, in order, as a text with the number of the caller and the number of queries
 * of each. Rows of their own would take several times as long.
 */
const callerCountersSql = (segments: number): string => `
  WITH ${segmentTables(segments)}
  SELECT (
    SELECT group_concat(caller || ' ' || queries, ' ') FROM caller_counter AS counter
    WHERE counter.project = (SELECT number FROM asked) AND counter.level = segment.level
      AND counter.bucket >= segment.first AND counter.bucket < segment."end"
      AND counter.caller IN (SELECT value FROM json_each(?))
  ) FROM segment`;

/** The sum of one caller, looked up in each bucket that has queries: however many callers there are, it takes as long. */
const callerSumSql = (segments: number): string => `
  WITH ${segmentTables(segments)}
  SELECT coalesce(sum(one.queries), 0) FROM ${countersIn('query_counter')}
  CROSS JOIN caller_counter AS one
    ON one.project = counter.project AND one.level = counter.level AND one.bucket = counter.bucket
      AND one.caller = (SELECT number FROM caller WHERE name = ?)`;

const FIND_CALLERS = 'SELECT number, name FROM caller WHERE name IN (SELECT value FROM json_each(?))';

/** Not grouped, so that it returns its first row without reading the others. */
const callerRowsSql = (segments: number): string => `
  WITH ${segmentTables(segments)}
  SELECT caller, queries FROM ${countersIn('caller_counter')}`;

const FIND_CALLER_NAMES = 'SELECT number, name FROM caller WHERE number IN (SELECT value FROM json_each(?))';

/** Callers whose counters or names one step reads. */
const callersInStep = 500;

/** Segments per statement of a series. More are not faster, and each number of segments has its own statement. */
const seriesSegmentsMax = 64;

/** The same with callers, of which each segment may have thousands. */
const callerSegmentsMax = 4;

/** With the largest series, these take 40 MB; with the largest by caller, 16 MB. */
const cachedSeriesMax = 50;

/** What is at both ends of each key: look-ups, because with min and max, SQLite would read everything in between. */
const FIND_EXTENT = ['ASC', 'DESC']
  .flatMap((order) => [
    `SELECT * FROM (SELECT 0, bucket, NULL FROM query_counter
       WHERE project = ${PROJECT_NUMBER} AND level = 0 ORDER BY bucket ${order} LIMIT 1)`,
    ...KEPT_LEVELS.map(
      (level) => `SELECT * FROM (SELECT ${level}, bucket, queries FROM moment
        WHERE project = ${PROJECT_NUMBER} AND level = ${level} ORDER BY bucket ${order} LIMIT 1)`,
    ),
  ])
  .join(' UNION ALL ')
  // The same parameter everywhere.
  .replaceAll('?', '?1');

export class CounterReader {
  readonly #snapshot: ReadSnapshot;
  readonly #cache: RollupCache;
  readonly #series: VersionedCache<readonly Counts[]>;
  readonly #byCaller: VersionedCache<SeriesByCaller>;
  readonly #moments: MomentReader;
  readonly #findExtent: Prepared<readonly [level: number, bucket: number, queries: Uint8Array | null]>;
  readonly #prepareSum: (segments: number) => Prepared<readonly number[]>;
  readonly #prepareCallerSum: (segments: number) => Prepared<readonly [sum: number]>;
  readonly #prepareSegmentSums: (segments: number) => Prepared<readonly [sums: string | null]>;
  readonly #prepareCallerRows: (segments: number) => Prepared<readonly [caller: number, queries: number]>;
  readonly #prepareCallerCounters: (segments: number) => Prepared<readonly [counters: string | null]>;
  readonly #findCallerNames: Prepared<readonly [number: number, name: string]>;
  readonly #findCallers: Prepared<readonly [number: number, name: string]>;

  constructor(db: Connection, snapshot: ReadSnapshot) {
    this.#snapshot = snapshot;
    this.#cache = new RollupCache(db);
    this.#series = new VersionedCache(snapshot, cachedSeriesMax);
    this.#byCaller = new VersionedCache(snapshot, cachedSeriesMax);
    this.#prepareSum = prepareOnce(db, sumSql);
    this.#prepareCallerSum = prepareOnce(db, callerSumSql);
    this.#prepareSegmentSums = prepareOnce(db, segmentSumsSql);
    this.#prepareCallerRows = prepareOnce(db, callerRowsSql);
    this.#findCallerNames = prepareArrays(db, FIND_CALLER_NAMES);
    this.#prepareCallerCounters = prepareOnce(db, callerCountersSql);
    this.#findCallers = prepareArrays(db, FIND_CALLERS);
    this.#moments = new MomentReader(db);
    this.#findExtent = prepareArrays(db, FIND_EXTENT);
  }

  count(projectId: string, range: DateRange): Counts {
    return this.#snapshot.run((version) => {
      const { sum, rest } = this.#cache.lookUp(projectId, range, version);
      return withTotal(addCounts([sum, this.#sum(projectId, rest)]));
    });
  }

  /** The queries of one caller. */
  countCaller(projectId: string, range: DateRange, caller: string): Counts {
    const type = callerType(caller);
    if (type !== 'other') return countsOfType(type, this.count(projectId, range)[type]);
    return this.#snapshot.run(() => countsOfType(type, this.#sumCaller(projectId, range, caller)));
  }

  #sumCaller(projectId: string, range: DateRange, caller: string): number {
    const segments = splitIntoBuckets(range);
    if (segments.length === 0) return 0;
    const row = this.#prepareCallerSum(segments.length).get(projectId, ...toParameters(segments), caller);
    if (row === undefined) throw new Error('a sum returned no row');
    let [sum] = row;
    const [number] = this.#findCallers.get(JSON.stringify([caller])) ?? [];
    this.#moments.read(projectId, [range], (_index, _timeMs, one) => {
      if (one === number) sum++;
    });
    return sum;
  }

  /** Reads only from the file. */
  countUncached(projectId: string, range: DateRange): Counts {
    return this.#snapshot.run(() => withTotal(this.#sum(projectId, [range])));
  }

  countSeries(projectId: string, bounds: readonly number[], caller?: string): Steps<readonly Counts[]> {
    // No caller has an empty name.
    return this.#series.getInSteps(`${projectId} ${caller ?? ''} ${bounds.join()}`, () =>
      caller === undefined
        ? this.#countSeries(projectId, bounds)
        : this.#countSeriesOfCaller(projectId, bounds, caller),
    );
  }

  countSeriesByCaller(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
  ): Steps<SeriesByCaller> {
    const read = function* (this: CounterReader): Steps<SeriesByCaller> {
      const all = yield* this.countSeries(projectId, bounds);
      return { all, callers: yield* this.#countEachCaller(projectId, bounds, callers) };
    };
    return this.#byCaller.getInSteps(`${projectId} ${callers.join()} ${bounds.join()}`, () =>
      read.call(this),
    );
  }

  *countCallers(projectId: string, range: DateRange, compared?: DateRange): Steps<ComparedCallerCounts> {
    const counts = yield* this.#countCallers(projectId, range);
    return compared === undefined ? counts : { ...counts, inCompared: this.count(projectId, compared) };
  }

  *#countCallers(projectId: string, range: DateRange): Steps<CallerCounts> {
    const segments = splitIntoBuckets(range);
    if (segments.length === 0) return yield* toCallerCounts([]);
    const types = this.#sum(projectId, [range]);
    const sums = new Map<number, number>();
    let rows = 0;
    for (const [caller, queries] of this.#prepareCallerRows(segments.length).iterate(
      projectId,
      ...toParameters(segments),
    )) {
      sums.set(caller, (sums.get(caller) ?? 0) + queries);
      if (++rows % callersInStep === 0) yield;
    }
    this.#moments.read(projectId, [range], (_index, _timeMs, caller) => {
      if (caller >= TYPE_INDEX.other) sums.set(caller, (sums.get(caller) ?? 0) + 1);
    });
    const counted: (readonly [caller: string, count: number])[] = SINGLE_CALLER_TYPES.map((type) => [
      type,
      types[type],
    ]);
    const numbers = [...sums.keys()];
    for (let at = 0; at < numbers.length; at += callersInStep) {
      const some = JSON.stringify(numbers.slice(at, at + callersInStep));
      for (const [number, name] of this.#findCallerNames.all(some))
        counted.push([name, sums.get(number) ?? 0]);
      yield;
    }
    return yield* toCallerCounts(counted);
  }

  findExtent(projectId: string): DateRange | undefined {
    const times: number[] = [];
    for (const [level, bucket, queries] of this.#findExtent.all(projectId))
      if (queries === null) times.push(bucket);
      else readMoments(level, bucket, queries, (timeMs) => times.push(timeMs));
    return times.length === 0 ? undefined : { from: Math.min(...times), to: Math.max(...times) + 1 };
  }

  *#countSeriesOfCaller(projectId: string, bounds: readonly number[], caller: string): Steps<Counts[]> {
    const [numbers = []] = yield* this.#countEachCaller(projectId, bounds, [caller]);
    return numbers.map((number) => countsOfType(callerType(caller), number));
  }

  *#countEachCaller(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
  ): Steps<(readonly number[])[]> {
    const segments = yield* splitSeriesIntoBuckets(bounds);
    const others = callers.filter((caller) => callerType(caller) === 'other');
    const sums = yield* this.#sumCallers(projectId, segments, others);
    const all = others.length === callers.length ? [] : yield* this.countSeries(projectId, bounds);
    const combine = combinerFor(bounds);
    return callers.map((caller) => {
      const type = callerType(caller);
      if (type !== 'other') return all.map((counts) => counts[type]);
      const ofCaller = sums.get(caller);
      return combine((index) => ofCaller?.get(index) ?? 0);
    });
  }

  /** The sums of the segments' counters by caller and index of the sum, for callers of type other. */
  *#sumCallers(
    projectId: string,
    segments: readonly SumSegment[],
    callers: readonly string[],
  ): Steps<ReadonlyMap<string, ReadonlyMap<number, number>>> {
    const numbers = this.#findCallers.all(JSON.stringify(callers));
    const sums = new Map(numbers.map(([number]) => [number, new Map<number, number>()] as const));
    const wanted = JSON.stringify([...sums.keys()]);
    for (let at = 0; at < segments.length && sums.size > 0; at += callerSegmentsMax) {
      const some = segments.slice(at, at + callerSegmentsMax);
      const rows = this.#prepareCallerCounters(some.length).all(projectId, ...toParameters(some), wanted);
      for (const [index, { sum }] of some.entries()) addCounters(sums, sum, rows[index]?.[0]);
      this.#moments.read(projectId, some.map(rangeOf), (index, _timeMs, caller) =>
        addToCaller(sums.get(caller), (some[index] as SumSegment).sum, 1),
      );
      yield;
    }
    return new Map(numbers.map(([number, name]) => [name, sums.get(number) ?? new Map()]));
  }

  *#countSeries(projectId: string, bounds: readonly number[]): Steps<Counts[]> {
    const segments = yield* splitSeriesIntoBuckets(bounds);
    yield;
    const sums = new Map<number, Record<CallerType, number>>();
    for (let at = 0; at < segments.length; at += seriesSegmentsMax) {
      const some = segments.slice(at, at + seriesSegmentsMax);
      const rows = this.#prepareSegmentSums(some.length).all(projectId, ...toParameters(some));
      for (const [index, { sum }] of some.entries()) addTo(sums, sum, rows[index]?.[0]);
      this.#moments.read(projectId, some.map(rangeOf), (index, _timeMs, caller) => {
        countsOf(sums, (some[index] as SumSegment).sum)[typeOfNumber(caller)]++;
      });
      yield;
    }
    return yield* combineSeriesCounts(bounds, sums);
  }

  #sum(projectId: string, ranges: readonly DateRange[]): TypeCounts {
    const segments = ranges.flatMap(splitIntoBuckets);
    if (segments.length === 0) return addCounts([]);
    const row = this.#prepareSum(segments.length).get(projectId, ...toParameters(segments));
    if (row === undefined) throw new Error('a sum returned no row');
    const sum = { ...countsFromList(row) };
    this.#moments.read(projectId, ranges, (_index, _timeMs, caller) => {
      sum[typeOfNumber(caller)]++;
    });
    return sum;
  }
}

/** Adds the counters of a segment, as `callerCountersSql` returns them. */
function addCounters(
  sums: ReadonlyMap<number, Map<number, number>>,
  sum: number,
  text: string | null | undefined,
): void {
  if (text === undefined) throw new Error('a segment has no row');
  const numbers = text === null ? [] : text.split(' ');
  for (let at = 0; at < numbers.length; at += 2) {
    addToCaller(sums.get(Number(numbers[at])), sum, Number(numbers[at + 1]));
  }
}

/** Undefined is a caller that was not asked for. */
function addToCaller(ofCaller: Map<number, number> | undefined, sum: number, queries: number): void {
  ofCaller?.set(sum, (ofCaller.get(sum) ?? 0) + queries);
}

/** Prepares a statement for each number of segments, when it is first needed. */
function prepareOnce<Row extends readonly unknown[]>(
  db: Connection,
  sql: (segments: number) => string,
): (segments: number) => Prepared<Row> {
  const prepared: (Prepared<Row> | undefined)[] = [];
  return (segments) => {
    prepared[segments] ??= prepareArrays(db, sql(segments));
    return prepared[segments];
  };
}

/** Adds the sums of a segment, which are null if it has no counters. */
function addTo(
  sums: Map<number, Record<CallerType, number>>,
  sum: number,
  text: string | null | undefined,
): void {
  if (text === undefined) throw new Error('a segment has no row');
  if (text === null) return;
  const counts = countsOf(sums, sum);
  for (const [at, queries] of text.split(' ').entries()) counts[typeOfNumber(at)] += Number(queries);
}

function countsOf(sums: Map<number, Record<CallerType, number>>, sum: number): Record<CallerType, number> {
  let counts = sums.get(sum);
  if (counts === undefined) {
    counts = zeroCounts();
    sums.set(sum, counts);
  }
  return counts;
}

function rangeOf({ level, first, end }: Segment): DateRange {
  const widthMs = bucketWidthMs(level);
  return { from: first * widthMs, to: end * widthMs };
}

function toParameters(segments: readonly Segment[]): number[] {
  const parameters: number[] = [];
  for (const { level, first, end } of segments) parameters.push(level, first, end);
  return parameters;
}
