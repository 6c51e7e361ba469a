/** The queries that were found among spans and log records, and what is known of them until their callers are certain. */
import { SourceNames } from '../ingestion/source-counts.js';
import type { Query } from './query.js';
import type { IdentityPlan, QueryKeys } from './query-identity.js';

/** A query among the records of a request. */
export interface FoundQuery extends Omit<Query, 'id'> {
  readonly keys: QueryKeys;
  /** Whether a record named the caller or it was detected. */
  readonly isNamed: boolean;
  /** To be called when it is recorded. */
  readonly noteRecorded: () => void;
}

/** A found query without its path. */
export type FoundFacts = Omit<FoundQuery, 'noteRecorded'>;

/**
 * What is known of a query in telemetry while that may change. A named caller replaces one that was assumed, and never another
 * named one.
 */
export interface FoundState extends Omit<Query, 'id'> {
  readonly isNamed: boolean;
  /** The assumed caller for which it was recorded, until the named one takes its place. */
  readonly assumed: string | null;
  /** The query that it turned out to be; null if it is one of its own, `NO_QUERY` if it is none. */
  readonly countsAs: string | null;
  /** Whether what is recorded may say something else. */
  readonly isPending: boolean;
}

/** No query has this id. */
const NO_QUERY = '';

export interface FoundPlan {
  /** The id under which each found query is recorded, in their order; `NO_QUERY` if it is not. */
  readonly queryIds: readonly string[];
  /** The caller of each id. */
  readonly callers: ReadonlyMap<string, string>;
  /** The states to store or to change. */
  readonly changes: ReadonlyMap<string, FoundState>;
}

/** Plans what to record. A query that `isOld` says was found before, but that has no state, does not change any more. */
export function planFound(
  found: readonly FoundFacts[],
  { queryIds, merges }: Pick<IdentityPlan, 'queryIds' | 'merges'>,
  states: ReadonlyMap<string, FoundState>,
  isOld: (queryId: string) => boolean,
): FoundPlan {
  const changes = new Map<string, FoundState>();
  const find = (id: string) => changes.get(id) ?? states.get(id);
  const finalId = (id: string): string => {
    const { countsAs } = find(id) ?? {};
    return countsAs ? finalId(countsAs) : id;
  };
  for (const [id, query] of mergeFound(found, queryIds.map(finalId))) {
    const state = find(id);
    if (state !== undefined) changes.set(id, withCaller(asQuery(state), query));
    else if (!isOld(id)) changes.set(id, firstState(query));
  }
  for (const [one, other] of merges) {
    const both = [...new Set([finalId(one), finalId(other)])].flatMap((id) => {
      const state = find(id);
      return state === undefined ? [] : [{ id, state }];
    });
    const [kept, merged] = both.toSorted(
      (a, b) => a.state.occurredAt - b.state.occurredAt || (a.id < b.id ? -1 : 1),
    );
    if (kept === undefined || merged === undefined) continue;
    changes.set(merged.id, { ...merged.state, countsAs: kept.id, isPending: true });
    const isQuery = both.some(({ state }) => state.countsAs === null);
    changes.set(kept.id, withCaller(isQuery ? asQuery(kept.state) : kept.state, merged.state));
  }
  const isIgnored = (at: number) => found[at]?.keys.isIgnored === true;
  for (const id of queryIds.filter((_, at) => isIgnored(at)).map(finalId)) {
    const state = find(id);
    if (state !== undefined) changes.set(id, { ...state, countsAs: NO_QUERY, isPending: true });
  }
  const ids = queryIds.map((id, at) => (isIgnored(at) ? NO_QUERY : finalId(id)));
  const callers = [...mergeFound(found, ids)].map(
    ([id, { caller }]) => [id, find(id)?.caller ?? caller] as const,
  );
  return { queryIds: ids, callers: new Map(callers), changes };
}

function firstState({ caller, isNamed, occurredAt }: FoundFacts): FoundState {
  const assumed = isNamed ? null : caller;
  return { caller, isNamed, assumed, occurredAt, countsAs: null, isPending: false };
}

/** It may have been taken for none. */
function asQuery(state: FoundState): FoundState {
  return state.countsAs === null ? state : { ...state, countsAs: null, isPending: true };
}

function withCaller(
  state: FoundState,
  { caller, isNamed }: Pick<FoundState, 'caller' | 'isNamed'>,
): FoundState {
  if (state.isNamed || !isNamed) return state;
  const isSame = caller === state.caller;
  return {
    ...state,
    caller,
    isNamed,
    assumed: isSame ? null : state.assumed,
    isPending: state.isPending || !isSame,
  };
}

/** The found queries with one id as one: with the earliest time, and the earliest caller that was named. */
function mergeFound(
  queries: readonly FoundFacts[],
  queryIds: readonly (string | undefined)[],
): Map<string, FoundFacts> {
  const best = new Map<string, FoundFacts>();
  const earliest = new Map<string, number>();
  for (const [at, query] of queries.entries()) {
    const id = queryIds[at];
    if (id === undefined) throw new Error('Invariant violated: each query has an id.');
    if (query.keys.isIgnored) continue;
    const before = best.get(id);
    if (before === undefined || isMoreReliable(query, before)) best.set(id, query);
    earliest.set(id, Math.min(earliest.get(id) ?? query.occurredAt, query.occurredAt));
  }
  return new Map(
    Array.from(best, ([id, query]) => [id, { ...query, occurredAt: earliest.get(id) ?? query.occurredAt }]),
  );
}

/** Each query once, by the service that sent its first record: as many as a project has sources. */
export function mergeByService(
  found: readonly FoundQuery[],
  { queryIds, callers }: Pick<FoundPlan, 'queryIds' | 'callers'>,
): Map<string, Query[]> {
  const services = new Map<string | undefined, string>();
  for (const [at, { keys }] of found.entries()) {
    if (!services.has(queryIds[at])) services.set(queryIds[at], keys.service);
  }
  const merged = new Map<string, Query[]>();
  const names = new SourceNames();
  for (const [id, { caller, occurredAt }] of mergeFound(found, queryIds)) {
    const { name: service } = names.bound({ kind: 'traces', name: services.get(id) ?? '' });
    const query = { id, caller: callers.get(id) ?? caller, occurredAt };
    const others = merged.get(service);
    if (others === undefined) merged.set(service, [query]);
    else others.push(query);
  }
  return merged;
}

/** Does not depend on the order of the records in the request. */
function isMoreReliable(one: FoundFacts, other: FoundFacts): boolean {
  if (one.isNamed !== other.isNamed) return one.isNamed;
  if (one.occurredAt !== other.occurredAt) return one.occurredAt < other.occurredAt;
  return one.caller < other.caller;
}
