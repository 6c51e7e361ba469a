/** Reads import files and records their good records. Independent of options, stores and servers. */

import { formatCount, formatQuantity } from '../../domain/format.js';
import { badRecordsNamedMax, likelyTimeMsMin } from '../../domain/limits.js';
import { type ArrivingQuery, parseExportedQuery } from '../../domain/queries/receipt.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Progress } from '../progress.js';
import { Batcher, type Sink } from './batcher.js';
import { type Source, SourceError } from './file/source.js';
import type { Reader } from './formats.js';
import { Spool } from './spool.js';

/** The totals of an import. Without `strict`, `read = recorded + duplicates + bad + skipped`. */
export interface ImportTotals {
  /** All records; a file that cannot be read to its end counts as one bad record. */
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
  /** How many queries to pass to the sink at once; see `Batcher`. */
  readonly batchQueries?: number | undefined;
  readonly clock: Clock;
  readonly progress: Progress;
  /** Called with the place of each good query of a time before `likelyTimeMsMin`. */
  readonly onUnlikelyTime?: (place: string) => void;
}

/** Imports the sources. Reports bad records as `file:line: reason` and continues. */
export async function runImport(plan: ImportPlan): Promise<ImportTotals> {
  const batcher = new Batcher(plan.sink, plan.batchQueries);
  const totals: ImportTotals = { read: 0, recorded: 0, duplicates: 0, bad: 0, skipped: 0 };
  if (plan.strict) await recordIfAllGood(plan, batcher, totals);
  else await readAll(plan, totals, (query) => batcher.add(query));
  await batcher.flush();
  const unnamed = totals.bad - (plan.namedMax ?? badRecordsNamedMax);
  if (unnamed > 0) plan.progress.note(`… and ${formatQuantity(unnamed, 'more bad record')}`);
  return { ...totals, recorded: batcher.recorded, duplicates: batcher.duplicates };
}

async function recordIfAllGood(plan: ImportPlan, batcher: Batcher, totals: ImportTotals): Promise<void> {
  const spool = await Spool.create();
  try {
    await readAll(plan, totals, (query) => spool.add(query));
    if (totals.bad > 0) return;
    for await (const query of spool.read()) await batcher.add(query);
  } finally {
    await spool.remove();
  }
}

type OnQuery = (query: ArrivingQuery) => Promise<void>;

/** Reads all sources, even after one that cannot be read to its end. */
async function readAll(plan: ImportPlan, totals: ImportTotals, onQuery: OnQuery): Promise<void> {
  for (const source of plan.sources) {
    try {
      await readSource(source, plan, totals, onQuery);
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
  onQuery: OnQuery,
): Promise<void> {
  const { progress, clock } = plan;
  const readRecords = plan.selectReader(source.name);
  for await (const { line, value } of readRecords(source.read(progress.advance))) {
    totals.read++;
    if (totals.read % 1000 === 0) progress.show(totals.read);
    if (value === 'skipped') {
      totals.skipped++;
      continue;
    }
    const query = value.ok ? parseExportedQuery(value.value, clock.now()) : value;
    if (query.ok) {
      if (query.value.occurredAt < likelyTimeMsMin) plan.onUnlikelyTime?.(`${source.name}:${line}`);
      await onQuery(query.value);
    } else {
      addBad(plan, totals, `${source.name}:${line}: ${query.problems.join('; ')}`);
    }
  }
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
