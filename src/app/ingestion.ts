/** What arrived at a project, by source: counts imports, and reads the counts with the rules that would accept the rest. */
import { CallerStatsError } from '../domain/errors.js';
import { splitOperation, suggestRules } from '../domain/ingestion/operations.js';
import type { IngestionReport, SourceWindow } from '../domain/ingestion/report.js';
import {
  bucketStart,
  IMPORT_COMMAND,
  IngestionTally,
  NO_COUNTS,
  type Source,
  type SourceTotals,
  sourceKey,
} from '../domain/ingestion/source-counts.js';
import { formatQueryRules, type QueryRule } from '../domain/queries/telemetry-rules.js';
import { dayMs, hourMs } from '../domain/time/duration.js';
import type { Store } from '../storage/ports/store.js';
import type { ImportTotals } from './import/run.js';

/** The sources that were seen last come first. */
export async function readIngestion(
  { ingestion }: Pick<Store, 'ingestion'>,
  projectId: string,
  { nowMs, rules }: { readonly nowMs: number; readonly rules: readonly QueryRule[] },
): Promise<IngestionReport> {
  const [hourFrom, dayFrom] = [bucketStart(nowMs - hourMs), bucketStart(nowMs - dayMs)];
  const [seen, hour, day] = await Promise.all([
    ingestion.listSources(projectId),
    ingestion.sum(projectId, hourFrom),
    ingestion.sum(projectId, dayFrom),
  ]);
  const inWindow = (totals: readonly SourceTotals[], source: Source): SourceWindow => {
    const found = totals.find((one) => sourceKey(one) === sourceKey(source));
    const values = [...(found?.operations ?? [])].map(([operation, count]) => {
      const split = splitOperation(operation);
      return { ...split, count, otlpQuery: suggestRules(split, rules) };
    });
    return { ...(found?.counts ?? NO_COUNTS), unmatchedValues: values };
  };
  const sources = seen
    .toSorted((one, other) => other.seenAt - one.seenAt)
    .map(({ kind, name, seenAt }) => ({
      kind,
      name,
      lastSeenAt: new Date(seenAt).toISOString(),
      lastHour: inWindow(hour, { kind, name }),
      lastDay: inWindow(day, { kind, name }),
    }));
  return {
    hourFrom: new Date(hourFrom).toISOString(),
    dayFrom: new Date(dayFrom).toISOString(),
    otlpQuery: formatQueryRules(rules),
    sources,
  };
}

/**
 * Counts an import into a store among what arrives. A server counts the imports that it receives by itself. The import has
 * succeeded already, so this does not fail if the store does.
 */
export async function noteImport(
  { ingestion }: Pick<Store, 'ingestion'>,
  projectId: string,
  { read, recorded, duplicates, skipped }: ImportTotals,
  nowMs: number,
): Promise<void> {
  const tally = new IngestionTally();
  const rejected = read - recorded - duplicates - skipped;
  const counts = { requests: 1, arrived: read, recorded, duplicates, rejected, unmatched: skipped };
  tally.add({ kind: 'import', name: IMPORT_COMMAND, counts }, nowMs);
  try {
    await ingestion.add(projectId, tally.list());
  } catch (error) {
    if (!(error instanceof CallerStatsError)) throw error;
  }
}
