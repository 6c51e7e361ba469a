/** `caller-stats import` for history that exists only as counts: of a file, or of another server. */
import {
  type CountSink,
  importCounts,
  type ReadCounts,
  readCountFiles,
} from '../../../app/history/import.js';
import { listDays, readDays } from '../../../app/history/server.js';
import type { MonthCount } from '../../../app/import/dry-run.js';
import { openSource } from '../../../app/import/file/source.js';
import { describeTotals, type ImportTotals } from '../../../app/import/run.js';
import { noteImport } from '../../../app/ingestion.js';
import { recordCounts } from '../../../app/record.js';
import { retryWhileUnavailable } from '../../../app/retry.js';
import { type ImportedCount, sourceProblems } from '../../../domain/counting/imported-count.js';
import { formatCount, formatQuantity, formatTime } from '../../../domain/format.js';
import type { Store } from '../../../storage/ports/store.js';
import { type Io, UsageError } from '../../io.js';
import type { HistoryForm } from '../../options/history-form.js';
import { ServerClient } from '../../server-client.js';
import { SOURCE_KEY_VARIABLE } from '../../settings/settings.js';
import { readStoreSettings, runOnStore } from '../../store-command.js';
import { formatTable, printLine } from '../../terminal/output.js';
import { withProgress } from '../../terminal/progress.js';

interface TargetOptions {
  readonly project: string;
  readonly database?: string;
  readonly url?: string;
}

/** Imports all counts or, if one of them is bad or contradicts another, none. */
export async function importHistory(
  form: HistoryForm,
  files: readonly string[],
  options: TargetOptions,
  io: Io,
) {
  const read =
    form.format === 'caller-stats-api'
      ? prepareServer(form, files[0] ?? '', io)
      : () => readFiles(form, files, io);
  return withSink(options, io, async (sink, store) => {
    // Check that the project exists before reading anything.
    const note = (line: string) => printLine(io.stderr, line);
    await retryWhileUnavailable(() => sink([], { dryRun: true }), { note });
    const { counts, totals } = await read();
    const isGood = totals.bad === 0;
    const result = isGood
      ? await importCounts(counts, sink, { dryRun: form.dryRun, note })
      : { recorded: 0, duplicates: 0 };
    const queries = counts.reduce((sum, { count }) => sum + count, 0);
    const all = { ...totals, ...result };
    if (store !== undefined && !form.dryRun) await noteImport(store, options.project, all, io.clock.now());
    return {
      json: { ...all, queries, ...(form.dryRun ? { dryRun: true, months: sumByMonth(counts) } : {}) },
      text: [...(form.dryRun ? describeMonths(counts) : []), describeResult(form, all, queries)],
      failed: !isGood,
    };
  });
}

function describeResult({ dryRun }: HistoryForm, totals: ImportTotals, queries: number): string {
  const inCounts = `; the counts have ${formatQuantity(queries, 'query', 'queries')}`;
  if (totals.bad > 0) return `Nothing was imported: ${describeTotals(totals)}${inCounts}`;
  return dryRun
    ? `Dry run, nothing was imported: ${describeTotals(totals, 'to record')}${inCounts}`
    : `${describeTotals(totals)}${inCounts}`;
}

async function readFiles(form: HistoryForm, files: readonly string[], io: Io): Promise<ReadCounts> {
  const { caller, source = '', zone, table, includeUnfinished } = form;
  if (files.filter((file) => file === '-').length > 1) throw new UsageError(['FILE: - is given twice']);
  const sources = await Promise.all(files.map((file) => openSource(file, io.stdin)));
  return withProgress(io, undefined, (progress) => {
    const options = { nowMs: io.clock.now(), includeUnfinished, progress };
    return readCountFiles(sources, { source, caller, zone, table }, options);
  });
}

/** Checks the URL and the key at once, and returns the function that reads. */
function prepareServer(form: HistoryForm, url: string, io: Io): () => Promise<ReadCounts> {
  const { sourceProject, caller: otherCaller = 'other' } = form;
  if (otherCaller === 'web' || otherCaller === 'api')
    throw new UsageError([
      `--caller: names the caller of queries of type other; give one that is not ${otherCaller}`,
    ]);
  const client = new ServerClient(url, io, { flag: 'FILE', variable: SOURCE_KEY_VARIABLE });
  const source = form.source ?? sourceOf(url, sourceProject);
  // Cut to fit, the names of two servers could become one.
  const problems = sourceProblems(source);
  if (problems.length > 0) throw new UsageError(problems);
  const nowMs = io.clock.now();
  const days = listDays({ ...form, nowMs });
  const note = (line: string) => printLine(io.stderr, line);
  return async () => {
    const counts = await withProgress(io, days.length, (progress) =>
      readDays(
        days,
        ({ from, to }) => {
          const bounds = { dateFrom: formatTime(from), dateTo: formatTime(to) };
          return retryWhileUnavailable(() => client.get(sourceProject, 'caller-stats', bounds), { note });
        },
        { source, otherCaller, isGrowing: (days.at(-1)?.to ?? 0) > nowMs },
        progress,
      ),
    );
    return { counts, totals: { read: counts.length, bad: 0, skipped: 0 } };
  };
}

/** The host and path of the server, and the project. */
function sourceOf(url: string, project: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname.replace(/\/+$/, '')}/${encodeURIComponent(project)}`;
}

function sumByMonth(counts: readonly ImportedCount[]): MonthCount[] {
  const sums = new Map<string, number>();
  for (const { caller, start, count } of counts) {
    const key = `${formatTime(start).slice(0, 7)} ${caller}`;
    sums.set(key, (sums.get(key) ?? 0) + count);
  }
  return [...sums]
    .filter(([, queries]) => queries > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, queries]) => ({ month: key.slice(0, 7), caller: key.slice(8), queries }));
}

function describeMonths(counts: readonly ImportedCount[]): string[] {
  const rows = sumByMonth(counts).map(({ month, caller, queries }) => [month, caller, formatCount(queries)]);
  return rows.length === 0 ? [] : formatTable(['MONTH', 'CALLER', 'QUERIES'], rows, ['QUERIES']);
}

/** Runs `work` with the function that imports into the project, on the server or in the database. */
async function withSink<T>(
  { url, project, ...options }: TargetOptions,
  io: Io,
  work: (sink: CountSink, store?: Store) => Promise<T>,
): Promise<T> {
  if (url !== undefined) {
    const client = new ServerClient(url, io);
    return work((counts, { dryRun }) => client.importCounts(project, counts, dryRun));
  }
  return runOnStore(
    readStoreSettings(options, io),
    (store) =>
      work((counts, given) => recordCounts({ store, clock: io.clock }, project, counts, given), store),
    { mustExist: true, forImport: true },
  );
}
