/** Records the queries that were found in telemetry. */
import { type FoundQuery, mergeByService } from '../domain/queries/found-queries.js';
import type { TelemetryRules } from '../domain/queries/telemetry-settings.js';
import type { Store } from '../storage/ports/store.js';
import { type RecordTarget, recordQueries } from './record.js';

/**
 * Records each query once, also if less was known of it before. Returns how many of each service were new. It can be
 * repeated after a failure. `invalid` if a query is from before the rows that the project keeps; other errors are those
 * of the store.
 */
export async function recordTelemetry(
  target: RecordTarget & { readonly store: Pick<Store, 'identities'> },
  keyId: string,
  projectId: string,
  {
    queries,
    id,
    nowMs,
  }: Pick<TelemetryRules, 'id'> & {
    readonly queries: readonly FoundQuery[];
    readonly nowMs: number;
  },
): Promise<Map<string, number>> {
  const recordedBy = new Map<string, number>();
  if (queries.length === 0) return recordedBy;
  const keys = queries.map((query) => query.keys);
  const ids = id === 'question' ? await target.store.identities.identify(projectId, keys, nowMs) : undefined;
  // Several only if a Collector sends for them: the results of each are counted apart.
  for (const [service, merged] of mergeByService(queries, ids)) {
    const sender = { kind: 'telemetry', keyId, service } as const;
    recordedBy.set(service, (await recordQueries(target, sender, projectId, merged)).recorded);
  }
  for (const { noteRecorded } of queries) noteRecorded();
  return recordedBy;
}
