/** Recording and counting on SQLite: reads on this thread, changes on the writer's. */
import type { Counts } from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import {
  type ArrivingCount,
  type CutSpan,
  type ImportedCount,
  joinCuts,
} from '../../domain/counting/imported-count.js';
import { type ImportRange, importsOf } from '../../domain/history/import-range.js';
import { importCommitQueriesMax } from '../../domain/limits.js';
import {
  type ArrivingQuery,
  collectReceipts,
  type Receipt,
  type RecordedQuery,
} from '../../domain/queries/receipt.js';
import { finish } from '../../shared/steps.js';
import { Turns } from '../../shared/turns.js';
import {
  type ComparedCallerCounts,
  type CountReads,
  type CountStore,
  OutdatedAccess,
  type RecordedCount,
  type RecordResult,
  type SeriesByCaller,
} from '../ports/counts.js';
import type { AccessProof } from '../ports/directory.js';
import type { SqliteFile } from './file.js';
import type { SpanRow } from './reader.js';

/** A series with as many bounds takes a few milliseconds. */
const shortSeriesBoundsMax = 100;

/** Imported spans that are read at once, in some milliseconds. A project may have any number of them in a range. */
const spansInPage = 2_000;

/** All who look for cut spans share its turns. */
const spanTurns = new Turns();

export class SqliteCounts implements CountStore {
  readonly importBatchQueries = importCommitQueriesMax;
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  async record(
    projectId: string,
    queries: readonly ArrivingQuery[],
    receipt?: Receipt,
    proof?: AccessProof,
  ): Promise<RecordResult> {
    const result = await this.#file.submit({
      kind: 'record',
      projectId,
      ids: queries.map(({ id }) => id),
      callers: queries.map(({ caller }) => caller),
      occurredAt: queries.map(({ occurredAt }) => occurredAt),
      ...collectReceipts(queries, receipt),
      imports: importsOf(queries, receipt),
      stamp: proof?.stamp,
    });
    if (result === 'outdated') throw new OutdatedAccess();
    return result;
  }

  async importCounts(
    projectId: string,
    counts: readonly ArrivingCount[],
    { dryRun = false, day }: { readonly dryRun?: boolean; readonly day?: number } = {},
  ): Promise<RecordResult> {
    return this.#file.submit({ kind: 'importCounts', projectId, counts, dryRun, day });
  }

  async count(projectId: string, range: DateRange, caller?: string): Promise<Counts> {
    return this.#file.read(({ counters }) =>
      caller === undefined
        ? counters.count(projectId, range)
        : counters.countCaller(projectId, range, caller),
    );
  }

  async countSeries(
    projectId: string,
    bounds: readonly number[],
    caller?: string,
  ): Promise<readonly Counts[]> {
    if (bounds.length > shortSeriesBoundsMax)
      return this.readTogether(projectId, (counts) => counts.countSeries(projectId, bounds, caller));
    return this.#file.read(({ counters, snapshot }) =>
      snapshot.run(() =>
        caller === undefined
          ? finish(counters.countSeries(projectId, bounds))
          : bounds.slice(1).map((to, at) => {
              return counters.countCaller(projectId, { from: bounds[at] ?? to, to }, caller);
            }),
      ),
    );
  }

  countSeriesByCaller(...args: Parameters<CountReads['countSeriesByCaller']>): Promise<SeriesByCaller> {
    return this.readTogether(args[0], (counts) => counts.countSeriesByCaller(...args));
  }

  countCallers(...args: Parameters<CountReads['countCallers']>): Promise<ComparedCallerCounts> {
    return this.readTogether(args[0], (counts) => counts.countCallers(...args));
  }

  readTogether<T>(_projectId: string, read: (counts: CountReads) => Promise<T>): Promise<T> {
    return this.#file.readInTurns((counters, inTurns) =>
      read({
        countSeries: (...args) => inTurns(counters.countSeries(...args)),
        countSeriesByCaller: (...args) => inTurns(counters.countSeriesByCaller(...args)),
        countCallers: (...args) => inTurns(counters.countCallers(...args)),
        findExtent: async (projectId) => counters.findExtent(projectId),
      }),
    );
  }

  async findExtent(projectId: string): Promise<DateRange | undefined> {
    return this.#file.read(({ counters }) => counters.findExtent(projectId));
  }

  async readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<RecordedQuery[]> {
    return this.#file.read((reader) => reader.readQueries(projectId, afterId, limit));
  }

  async readImportedCounts(
    projectId: string,
    after: ImportedCount | undefined,
    limit: number,
  ): Promise<RecordedCount[]> {
    return this.#file.read((reader) => reader.readImportedCounts(projectId, after, limit));
  }

  async listImports(projectId: string, limit: number): Promise<readonly ImportRange[]> {
    return this.#file.read((reader) => reader.listImports(projectId, limit));
  }

  async findCutSpan(projectId: string, edges: readonly number[]): Promise<CutSpan | undefined> {
    const range = { from: edges[0] ?? 0, to: edges.at(-1) ?? 0 };
    const readAfter = async (last: SpanRow | undefined) =>
      this.#file.read((reader) => reader.readSpans(projectId, range, last, spansInPage));
    let cut: CutSpan | undefined;
    let page = await readAfter(undefined);
    for (;;) {
      cut = cutBy(edges, page, cut);
      if (page.length < spansInPage) return cut;
      const last = page.at(-1);
      page = await spanTurns.next(() => readAfter(last));
    }
  }
}

/** The spans that end after the first edge behind their starts, by which they are sorted, together with `cut`. */
function cutBy(edges: readonly number[], spans: readonly CutSpan[], cut?: CutSpan): CutSpan | undefined {
  let [at, all] = [0, cut];
  for (const span of spans) {
    while (span.start >= (edges[at] ?? Number.POSITIVE_INFINITY)) at++;
    if (span.count > 0 && span.end > (edges[at] ?? Number.POSITIVE_INFINITY)) all = joinCuts(all, span);
  }
  return all;
}
