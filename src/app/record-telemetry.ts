/** Records the queries that were found in telemetry. */
import { type FoundQuery, mergeByService } from '../domain/queries/found-queries.js';
import type { Query } from '../domain/queries/query.js';
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
  const { identities } = target.store;
  const facts = queries.map(({ noteRecorded: _, ...query }) => query);
  const { pending, ...identified } = await identities.identify(projectId, facts, id, nowMs);
  const record = async (service: string, some: readonly Query[]) =>
    recordQueries(target, { kind: 'telemetry', keyId, service }, projectId, some);
  // Several only if a Collector sends for them: the results of each are counted apart.
  for (const [service, merged] of mergeByService(queries, identified))
    recordedBy.set(service, (await record(service, merged)).recorded);
  if (pending.length > 0) {
    // Another request may have found them and not recorded them yet. Then it must not do so after they are settled.
    await record(queries[0]?.keys.service ?? '', pending);
    await identities.settle(
      projectId,
      pending.map((query) => query.id),
      nowMs,
    );
  }
  for (const { noteRecorded } of queries) noteRecorded();
  return recordedBy;
}
