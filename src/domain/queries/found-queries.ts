/** The queries that were found among spans and log records, before it is known which of them are one. */
import { SourceNames } from '../ingestion/source-counts.js';
import type { Query } from './query.js';
import { type QueryKeys, strongestQueryId } from './query-identity.js';

/** A query among the records of a request. */
export interface FoundQuery extends Omit<Query, 'id'> {
  readonly keys: QueryKeys;
  /** Whether a record named the caller or it was detected. */
  readonly isNamed: boolean;
  /** To be called when it is recorded. */
  readonly noteRecorded: () => void;
}

/**
 * Merges the found queries with one id: the earliest time, and the earliest caller that was named. `queryIds` has the id of
 * each, in their order; by default that of the strongest key.
 */
export function mergeQueries(
  queries: readonly FoundQuery[],
  queryIds: readonly (string | undefined)[] = queries.map(({ keys }) => strongestQueryId(keys)),
): Query[] {
  const merged = new Map<string, FoundQuery>();
  const earliest = new Map<string, number>();
  for (const [at, query] of queries.entries()) {
    const id = queryIds[at];
    if (id === undefined) throw new Error('Invariant violated: each query has an id.');
    const before = merged.get(id);
    if (before === undefined || isMoreReliable(query, before)) merged.set(id, query);
    earliest.set(id, Math.min(earliest.get(id) ?? query.occurredAt, query.occurredAt));
  }
  return [...merged].map(([id, { caller, occurredAt }]) => ({
    id,
    caller,
    occurredAt: earliest.get(id) ?? occurredAt,
  }));
}

/** The merged queries (see `mergeQueries`), by the service that sent the first record of each: as many as a project has sources. */
export function mergeByService(
  queries: readonly FoundQuery[],
  queryIds?: readonly (string | undefined)[],
): Map<string, Query[]> {
  const services = new Map<string | undefined, string>();
  for (const [at, { keys }] of queries.entries()) {
    const id = queryIds === undefined ? strongestQueryId(keys) : queryIds[at];
    if (!services.has(id)) services.set(id, keys.service);
  }
  const merged = new Map<string, Query[]>();
  const names = new SourceNames();
  for (const query of mergeQueries(queries, queryIds)) {
    const { name: service } = names.bound({ kind: 'traces', name: services.get(query.id) ?? '' });
    const others = merged.get(service);
    if (others === undefined) merged.set(service, [query]);
    else others.push(query);
  }
  return merged;
}

/** Does not depend on the order of the records in the request. */
function isMoreReliable(one: FoundQuery, other: FoundQuery): boolean {
  if (one.isNamed !== other.isNamed) return one.isNamed;
  if (one.occurredAt !== other.occurredAt) return one.occurredAt < other.occurredAt;
  return one.caller < other.caller;
}
