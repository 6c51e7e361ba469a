/** Records the queries that were found in telemetry. */
import { type FoundFacts, type FoundQuery, MergedQueries } from '../domain/queries/found-queries.js';
import type { Query } from '../domain/queries/query.js';
import type { TelemetryRules } from '../domain/queries/telemetry-settings.js';
import { Pauses } from '../shared/pauses.js';
import type { Store } from '../storage/ports/store.js';
import { type RecordTarget, recordQueries } from './record.js';

/** Found queries that are identified in one step: to send so many to a store takes the event loop some milliseconds. */
const stepQueries = 1000;

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
    expiryMs,
  }: Pick<TelemetryRules, 'id'> & {
    readonly queries: readonly FoundQuery[];
    readonly nowMs: number;
    /** See `Identities.identify`. */
    readonly expiryMs?: number | undefined;
  },
): Promise<Map<string, number>> {
  const recordedBy = new Map<string, number>();
  if (queries.length === 0) return recordedBy;
  const { identities } = target.store;
  const all = new MergedQueries();
  const callers = new Map<string, string>();
  let pending: readonly Query[] = [];
  for (const step of stepsOf(queries)) {
    const facts = step.map(factsOf);
    const identified = await identities.identify(projectId, facts, id, nowMs, expiryMs);
    all.add(facts, identified.queryIds);
    for (const [queryId, caller] of identified.callers) callers.set(queryId, caller);
    pending = identified.pending;
  }
  const record = async (service: string, some: readonly Query[]) =>
    recordQueries(target, { kind: 'telemetry', keyId, service }, projectId, some);
  // Several only if a Collector sends for them: the results of each are counted apart.
  for (const [service, merged] of all.byService(callers))
    recordedBy.set(service, (await record(service, merged)).recorded);
  while (pending.length > 0) {
    // Another request may have found them and not recorded them yet. Then it must not do so after they are settled.
    await record(queries[0]?.keys.service ?? '', pending);
    const ids = pending.map((query) => query.id);
    await identities.settle(projectId, ids, nowMs);
    // The store tells of some at a time, and a part of this request may have made many.
    ({ pending } = await identities.identify(projectId, [], id, nowMs, expiryMs));
  }
  const pauses = new Pauses(stepQueries);
  for (const { noteRecorded } of queries) {
    noteRecorded();
    const pause = pauses.take();
    if (pause !== undefined) await pause;
  }
  return recordedBy;
}

/** In parts, as if they had arrived in several requests. The queries of a trace stay together, unless they are too many. */
function* stepsOf(queries: readonly FoundQuery[]): Generator<readonly FoundQuery[]> {
  let from = 0;
  for (const [at, { keys }] of queries.entries()) {
    const size = at + 1 - from;
    const isWithNext = queries[at + 1]?.keys.traceId === keys.traceId && size < 2 * stepQueries;
    if (size < stepQueries || isWithNext) continue;
    yield queries.slice(from, at + 1);
    from = at + 1;
  }
  if (from < queries.length) yield queries.slice(from);
}

function factsOf({ keys, caller, isNamed, isHinted = false, occurredAt }: FoundQuery): FoundFacts {
  return { keys, caller, isNamed, isHinted, occurredAt };
}
