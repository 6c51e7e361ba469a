/** Imports counts: all of a file or, if any of them is bad or contradicts another, none. */
import type { ImportedCount } from '../../domain/counting/imported-count.js';
import { CallerStatsError } from '../../domain/errors.js';
import { formatQuantity, formatTime } from '../../domain/format.js';
import { badRecordsNamedMax, importedCountsMax } from '../../domain/limits.js';
import type { RecordResult } from '../../storage/ports/store.js';
import { type Source, SourceError } from '../import/file/source.js';
import type { ImportTotals } from '../import/run.js';
import type { Progress } from '../progress.js';
import { retryWhileUnavailable } from '../retry.js';
import { type CountReading, type CountRecord, readCounts } from './records.js';

/** Where counts go: a store or a running server. It does not try again. */
export type CountSink = (
  counts: readonly ImportedCount[],
  options: { readonly dryRun: boolean },
) => Promise<RecordResult>;

/** Counts of one import; they are kept in memory. */
const countsMax = 1_000_000;

export interface ReadCounts {
  readonly counts: readonly ImportedCount[];
  readonly totals: Pick<ImportTotals, 'read' | 'bad' | 'skipped'>;
}

interface Located {
  readonly place: string;
  readonly count: ImportedCount;
}

/**
 * Reads all counts of the files. Names each bad record, and each one whose span overlaps another of its caller. Skips
 * counts of spans that have not ended, because these may still grow, unless `includeUnfinished` is set.
 */
export async function readCountFiles(
  sources: readonly Source[],
  reading: CountReading,
  { nowMs, includeUnfinished, progress }: ReadOptions,
): Promise<ReadCounts> {
  const totals = { read: 0, bad: 0, skipped: 0 };
  const located: Located[] = [];
  const refuse = (place: string, problem: string) => {
    totals.bad++;
    if (totals.bad <= badRecordsNamedMax) progress.note(`${place}: ${problem}`);
  };
  const take = ({ line, value }: CountRecord, name: string) => {
    totals.read++;
    const place = `${name}:${line}`;
    if (value === 'skipped') totals.skipped++;
    else if (!value.ok) refuse(place, value.problems.join('; '));
    else if (includeUnfinished || value.value.end <= nowMs) located.push({ place, count: value.value });
    else totals.skipped++;
    requireAtMost(countsMax, located.length);
  };
  for (const source of sources) {
    try {
      const records = readCounts(source.read(progress.advance), reading, nowMs);
      for await (const some of records) for (const record of some) take(record, source.name);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      totals.read++;
      refuse(source.name, error.message);
    }
  }
  for (const { place, problem } of findOverlaps(located)) refuse(place, problem);
  const unnamed = totals.bad - badRecordsNamedMax;
  if (unnamed > 0) progress.note(`… and ${formatQuantity(unnamed, 'more bad record')}`);
  return { counts: located.map(({ count }) => count), totals };
}

export interface ReadOptions {
  readonly nowMs: number;
  readonly includeUnfinished: boolean;
  readonly progress: Progress;
}

function requireAtMost(max: number, count: number): void {
  if (count <= max) return;
  throw new CallerStatsError('invalid', `There are more than ${max} counts; import them in several files.`);
}

/** Two lines about the same time and caller are refused: they could be parts of one count, or the same count twice. */
function findOverlaps(located: readonly Located[]): { place: string; problem: string }[] {
  const problems: { place: string; problem: string }[] = [];
  const lastOfCaller = new Map<string, Located>();
  for (const one of located.toSorted((a, b) => a.count.start - b.count.start)) {
    const { caller, start, end } = one.count;
    const before = lastOfCaller.get(caller);
    if (before === undefined || before.count.end <= start) {
      lastOfCaller.set(caller, one);
      continue;
    }
    const span = `${formatTime(start)} to ${formatTime(end)}`;
    const problem = `caller ${caller} has a count from ${span} here and one that overlaps it in ${before.place}; add them up, or remove one`;
    problems.push({ place: one.place, problem });
    if (end > before.count.end) lastOfCaller.set(caller, one);
  }
  return problems;
}

/** Imports the counts. If one contradicts another that is there already, throws and changes nothing. */
export async function importCounts(
  counts: readonly ImportedCount[],
  sink: CountSink,
  { dryRun, ...retrying }: { readonly dryRun: boolean } & Parameters<typeof retryWhileUnavailable>[1],
): Promise<RecordResult> {
  // All batches are checked before the first is imported. One batch alone is checked by importing it.
  if (!dryRun && counts.length > importedCountsMax)
    await sendAll(counts, (batch) => sink(batch, { dryRun: true }), retrying);
  return sendAll(counts, (batch) => sink(batch, { dryRun }), retrying);
}

/** Sends the counts in batches, and in smaller ones after a failure: a slow database may be able to write those in time. */
async function sendAll(
  counts: readonly ImportedCount[],
  send: (batch: readonly ImportedCount[]) => Promise<RecordResult>,
  retrying: Parameters<typeof retryWhileUnavailable>[1],
): Promise<RecordResult> {
  let [recorded, duplicates, size] = [0, 0, importedCountsMax];
  const sendFrom = async (at: number) => {
    const batch = counts.slice(at, at + size);
    try {
      return { ...(await send(batch)), sent: batch.length };
    } catch (error) {
      size = Math.ceil(size / 2);
      throw error;
    }
  };
  for (let at = 0; at < counts.length; ) {
    const result = await retryWhileUnavailable(() => sendFrom(at), retrying);
    recorded += result.recorded;
    duplicates += result.duplicates;
    at += result.sent;
    size = Math.min(2 * size, importedCountsMax);
  }
  return { recorded, duplicates };
}
