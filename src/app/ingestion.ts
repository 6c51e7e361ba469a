/** What arrived at a project, by source: counts imports, and reads the counts with the rules that would accept the rest. */
import { CallerStatsError } from '../domain/errors.js';
import { formatTime } from '../domain/format.js';
import { listUnmatched, unsureRoutes } from '../domain/ingestion/operations.js';
import { describeRefusal } from '../domain/ingestion/refusals.js';
import type { IngestionReport, RefusalReport, SourceWindow } from '../domain/ingestion/report.js';
import {
  bucketStart,
  bucketWidthMs,
  IMPORT_COMMAND,
  IngestionTally,
  NO_COUNTS,
  type Source,
  type SourceTotals,
  sourceKey,
} from '../domain/ingestion/source-counts.js';
import { expiryNotice } from '../domain/keys/key-lifetime.js';
import { refusalsShownMax } from '../domain/limits.js';
import type { Project } from '../domain/projects/project.js';
import { formatQueryRules, type QueryRule } from '../domain/queries/telemetry-rules.js';
import { dayMs, hourMs } from '../domain/time/duration.js';
import type { DirectoryReads } from '../storage/ports/directory.js';
import type { IngestionReads, SeenSource } from '../storage/ports/ingestion.js';
import type { Store } from '../storage/ports/store.js';
import type { ImportTotals } from './import/run.js';

/** What a report is read from. */
export interface IngestionSource {
  readonly directory: Pick<DirectoryReads, 'listExpiringKeys'>;
  readonly ingestion: IngestionReads;
}

/** The sources that were seen last come first. Without `all`, keys of the whole organization are not announced. */
export async function readIngestion(
  { directory, ingestion }: IngestionSource,
  project: Pick<Project, 'id' | 'organizationId'>,
  {
    nowMs,
    rules,
    expiringKeys,
  }: {
    readonly nowMs: number;
    readonly rules: readonly QueryRule[];
    readonly expiringKeys: 'own' | 'all';
  },
): Promise<IngestionReport> {
  const { id: projectId } = project;
  const [hourFrom, dayFrom] = [bucketStart(nowMs - hourMs), bucketStart(nowMs - dayMs)];
  const [keys, seen, refusals, hour, day] = await Promise.all([
    directory.listExpiringKeys(expiryNotice(nowMs), project),
    ingestion.listSources(projectId),
    ingestion.listRefusals(projectId),
    ingestion.sum(projectId, hourFrom),
    ingestion.sum(projectId, dayFrom),
  ]);
  const isCounting = day.some(
    ({ kind, counts }) => kind !== 'import' && counts.recorded + counts.duplicates > 0,
  );
  const unsure = unsureRoutes(day);
  const inWindow = (totals: readonly SourceTotals[], source: Source): SourceWindow => {
    const found = totals.find((one) => sourceKey(one) === sourceKey(source));
    const unmatchedValues = found === undefined ? [] : listUnmatched(found, rules, { isCounting, unsure });
    return { ...(found?.counts ?? NO_COUNTS), unmatchedValues };
  };
  const refusalsOf = (source: SeenSource): RefusalReport[] =>
    refusals
      .filter((one) => sourceKey(one) === sourceKey(source))
      .slice(0, refusalsShownMax)
      .map(({ reason, keyId, requests, records, bucket }) => ({
        ...{ reason, key: keyId, ...describeRefusal(reason), requests, records },
        lastAt: formatTime(Math.min(bucket + bucketWidthMs, source.seenAt)),
      }));
  const sources = seen
    .toSorted((one, other) => other.seenAt - one.seenAt)
    .map(({ kind, name, seenAt }) => ({
      kind,
      name,
      lastSeenAt: new Date(seenAt).toISOString(),
      refusals: refusalsOf({ kind, name, seenAt }),
      lastHour: inWindow(hour, { kind, name }),
      lastDay: inWindow(day, { kind, name }),
    }));
  return {
    hourFrom: new Date(hourFrom).toISOString(),
    dayFrom: new Date(dayFrom).toISOString(),
    otlpQuery: formatQueryRules(rules),
    sources,
    expiringKeys: keys
      .filter((key) => expiringKeys === 'all' || key.projectId === projectId)
      .map(({ id, name, expiresAt, lastUsedAt }) => ({
        ...{ id, name, expiresAt: formatTime(expiresAt) },
        lastUsedAt: lastUsedAt === null ? null : formatTime(lastUsedAt),
      })),
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
