/** Reads import files and records their good records. Independent of options, stores and servers. */

import {
  type CarriedCorrection,
  type CarriedCount,
  type CarriedQuery,
  isCarriedCorrection,
  isCarriedCount,
  parseCarriedCorrection,
  parseCarriedCount,
  parseCarriedQuery,
} from '../../domain/corrections/carried.js';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { badRecordsNamedMax, importedCountsMax, likelyTimeMsMin } from '../../domain/limits.js';
import { failure, quote, type Result } from '../../domain/result.js';
import type { Clock } from '../../domain/time/clock.js';
import type { RecordResult } from '../../storage/ports/store.js';
import type { Progress } from '../progress.js';
import { Batcher, type Sink } from './batcher.js';
import { type Source, SourceError } from './file/source.js';
import type { Reader } from './formats.js';
import type { Parsed } from './records.js';
import { type ExportedRecord, Spool } from './spool.js';

/** The totals of an import. Without `strict`, `read = recorded + duplicates + bad + skipped`. */
export interface ImportTotals {
  /** All records but corrections; a file that cannot be read to its end counts as one bad record. */
  read: number;
  recorded: number;
  duplicates: number;
  bad: number;
  /** Records that are not queries: events of other types, other requests in a log. */
  skipped: number;
}

export interface ImportPlan {
  readonly sources: readonly Source[];
  /** The reader for a source of this name. */
  readonly selectReader: (name: string) => Reader;
  /** Records nothing unless every record is good. */
  readonly strict: boolean;
  /** How many bad records to name. All are counted. */
  readonly namedMax?: number;
  readonly sink: Sink;
  /** Takes the corrections of an export. Without it, they and what they have withdrawn are skipped. */
  readonly restore?: ((carried: CarriedCorrection) => Promise<void>) | undefined;
  /** Takes its imported counts. Without it, they are skipped. */
  readonly restoreCounts?: ((counts: readonly CarriedCount[]) => Promise<RecordResult>) | undefined;
  /** How many queries to pass to the sink at once; see `Batcher`. */
  readonly batchQueries?: number | undefined;
  readonly clock: Clock;
  readonly progress: Progress;
  /** Called when all was read, before anything is recorded. Nothing is if it throws. */
  readonly beforeRecording?: (() => void) | undefined;
  /** Called for each correction, withdrawn query and withdrawn count that is skipped. */
  readonly onSkippedCorrection?: () => void;
  /** Called with the place of each good query of a time before `likelyTimeMsMin`. */
  readonly onUnlikelyTime?: (place: string) => void;
}

/** Imports the sources. Reports bad records as `file:line: reason` and continues. */
export async function runImport(plan: ImportPlan): Promise<ImportTotals> {
  const batcher = new Batcher(plan.sink, plan.batchQueries);
  const totals: ImportTotals = { read: 0, recorded: 0, duplicates: 0, bad: 0, skipped: 0 };
  const counts = new CountBatch(plan.restoreCounts);
  const restore = async (correction: CarriedCorrection): Promise<void> => {
    // What came before it does not know it.
    await Promise.all([batcher.flush(), counts.flush()]);
    await plan.restore?.(correction);
  };
  const take: OnRecord = (record) => {
    if ('request' in record) return restore(record);
    return 'count' in record ? counts.add(record) : batcher.add(record);
  };
  if (plan.strict || plan.beforeRecording !== undefined) await recordAfterAll(plan, totals, take);
  else await readAll(plan, totals, take);
  await Promise.all([batcher.flush(), counts.flush()]);
  const unnamed = totals.bad - (plan.namedMax ?? badRecordsNamedMax);
  if (unnamed > 0) plan.progress.note(`… and ${formatQuantity(unnamed, 'more bad record')}`);
  return {
    ...totals,
    recorded: batcher.recorded + counts.recorded,
    duplicates: batcher.duplicates + counts.duplicates,
  };
}

async function recordAfterAll(plan: ImportPlan, totals: ImportTotals, take: OnRecord): Promise<void> {
  const spool = await Spool.create();
  try {
    await readAll(plan, totals, (record) => spool.add(record));
    if (plan.strict && totals.bad > 0) return;
    plan.beforeRecording?.();
    for await (const record of spool.read()) await take(record);
  } finally {
    await spool.remove();
  }
}

/** Imported counts, which go together to where they are recorded. */
class CountBatch {
  recorded = 0;
  duplicates = 0;
  readonly #send: ImportPlan['restoreCounts'];
  #counts: CarriedCount[] = [];

  constructor(send: ImportPlan['restoreCounts']) {
    this.#send = send;
  }

  async add(count: CarriedCount): Promise<void> {
    this.#counts.push(count);
    if (this.#counts.length === importedCountsMax) await this.flush();
  }

  async flush(): Promise<void> {
    const counts = this.#counts;
    this.#counts = [];
    if (counts.length === 0) return;
    const result = await this.#send?.(counts);
    this.recorded += result?.recorded ?? 0;
    this.duplicates += result?.duplicates ?? 0;
  }
}

/** If it returns a promise, wait for it before the next record. */
type OnRecord = (record: ExportedRecord) => Promise<void> | undefined;

/** Reads all sources, even after one that cannot be read to its end. */
async function readAll(plan: ImportPlan, totals: ImportTotals, onRecord: OnRecord): Promise<void> {
  const known = new Set<string>();
  for (const source of plan.sources) {
    try {
      await readSource(source, plan, totals, onRecord, known);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      totals.read++;
      addBad(plan, totals, `${source.name}: ${error.message}`);
    }
  }
}

async function readSource(
  source: Source,
  plan: ImportPlan,
  totals: ImportTotals,
  onRecord: OnRecord,
  known: Set<string>,
): Promise<void> {
  const { progress } = plan;
  const readRecords = plan.selectReader(source.name);
  for await (const records of readRecords(source.read(progress.advance))) {
    const nowMs = plan.clock.now();
    for (const { line, value } of records) {
      totals.read++;
      if (totals.read % 1000 === 0) progress.show(totals.read);
      const record = parseRecord(value, nowMs, known);
      const place = () => `${source.name}:${line}`;
      const taken = isTaken(record, place, plan, totals) ? onRecord(record.value) : undefined;
      if (taken !== undefined) await taken;
    }
  }
}

/** The same problem with what only an import can do about it. */
function withZone(problem: string): string {
  return problem.replace(
    /^(occurredAt: .* has no offset); /,
    '$1: give --time-zone with the zone of such times, or ',
  );
}

/** Counts a record, and reports a bad one. Returns whether to record it. */
function isTaken(
  record: Result<ExportedRecord> | 'skipped',
  place: () => string,
  plan: ImportPlan,
  totals: ImportTotals,
): record is Extract<Result<ExportedRecord>, { readonly ok: true }> {
  if (record === 'skipped') totals.skipped++;
  else if (!record.ok) addBad(plan, totals, `${place()}: ${record.problems.map(withZone).join('; ')}`);
  else return isRecorded(record.value, place, plan, totals);
  return false;
}

function isRecorded(
  record: ExportedRecord,
  place: () => string,
  plan: ImportPlan,
  totals: ImportTotals,
): boolean {
  const isCorrection = 'request' in record;
  const isWithdrawn =
    'count' in record ? record.withdrawnBy !== null : 'isWithdrawn' in record && record.isWithdrawn;
  const isRefused = 'count' in record && plan.restoreCounts === undefined;
  if (isRefused || (plan.restore === undefined && (isCorrection || isWithdrawn))) {
    totals.skipped++;
    plan.onSkippedCorrection?.();
    return false;
  }
  if (isCorrection) totals.read--;
  else if (!('count' in record) && record.occurredAt < likelyTimeMsMin) plan.onUnlikelyTime?.(place());
  return true;
}

/** `known` are the ids of the corrections so far. */
function parseRecord(parsed: Parsed, nowMs: number, known: Set<string>): Result<ExportedRecord> | 'skipped' {
  if (parsed === 'skipped' || !parsed.ok) return parsed;
  const { value } = parsed;
  if (isCarriedCorrection(value)) {
    const carried = parseCarriedCorrection(value.correction);
    if (carried.ok) known.add(carried.value.request.id);
    return carried;
  }
  const record = isCarriedCount(value)
    ? parseCarriedCount(value.importedCount, nowMs)
    : parseCarriedQuery(value, nowMs);
  const unknown = record.ok
    ? correctionsOf(record.value)?.find((correction) => !known.has(correction))
    : undefined;
  return unknown === undefined
    ? record
    : failure(`corrections: names ${quote(unknown)}, which no line before it describes`);
}

function correctionsOf(record: CarriedQuery | CarriedCount): readonly string[] | undefined {
  return 'count' in record ? record.withdrawals : record.changes?.map(({ correction }) => correction);
}

function addBad({ namedMax, progress }: ImportPlan, totals: ImportTotals, problem: string): void {
  totals.bad++;
  if (totals.bad <= (namedMax ?? badRecordsNamedMax)) progress.note(problem);
}

/** The totals as one line. `recordedName` is what recorded queries are called. */
export function describeTotals(
  { read, recorded, duplicates, bad, skipped }: ImportTotals,
  recordedName = 'recorded',
): string {
  const always = Object.entries({ read, [recordedName]: recorded, duplicates });
  const others = Object.entries({ bad, skipped }).filter(([, count]) => count > 0);
  return [...always, ...others].map(([name, count]) => `${formatCount(count)} ${name}`).join(', ');
}
