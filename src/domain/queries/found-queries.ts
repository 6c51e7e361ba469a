/** The queries that were found among spans and log records, and what is known of them until their callers are certain. */
import { SourceNames } from '../ingestion/source-counts.js';
import type { Query } from './query.js';
import type { IdentityPlan, QueryKeys } from './query-identity.js';

/** A query among the records of a request. */
export interface FoundQuery extends Omit<Query, 'id'> {
  readonly keys: QueryKeys;
  /** Whether a record named the caller or it was detected. */
  readonly isNamed: boolean;
  /** Whether only what programs send to any server tells the caller, such as a key. */
  readonly isHinted?: boolean;
  /** To be called when it is recorded. */
  readonly noteRecorded: () => void;
}

/** A found query without its path. */
export type FoundFacts = Omit<FoundQuery, 'noteRecorded'>;

/**
 * What is known of a query in telemetry while that may change. A named caller replaces one that was hinted or assumed, and never
 * another named one. Of hinted ones, the last in the alphabet stays, whichever came first.
 */
export interface FoundState extends Omit<Query, 'id'> {
  readonly isNamed: boolean;
  readonly isHinted: boolean;
  /** The caller for which it was recorded, until a named one takes its place. */
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
  stored: ReadonlyMap<string, FoundState>,
  isOld: (queryId: string) => boolean,
): FoundPlan {
  const states = new States(stored);
  for (const [id, query] of mergeFound(found, queryIds.map(states.finalId))) {
    const state = states.find(id);
    if (state !== undefined) states.change(id, withCaller(asQuery(state), query));
    else if (!isOld(id)) states.change(id, firstState(query));
  }
  for (const [one, other] of merges) states.merge(one, other);
  for (const [at, query] of found.entries()) {
    const id = states.finalId(queryIds[at] ?? NO_QUERY);
    const state = states.find(id);
    if (state === undefined || isRecorded(query)) continue;
    const ignored = { ...state, countsAs: NO_QUERY, isPending: true };
    states.change(id, query.keys.isIgnored ? ignored : withCaller(state, query));
  }
  const ids = queryIds.map((id, at) => (isRecorded(found[at]) ? states.finalId(id) : NO_QUERY));
  const callers = [...mergeFound(found, ids)].map(
    ([id, { caller }]) => [id, states.find(id)?.caller ?? caller] as const,
  );
  return { queryIds: ids, callers: new Map(callers), changes: states.changes };
}

/** What a request tells of a query that is not found yet, as text for `readRequest`. */
export function writeRequest({ keys: { explicitId }, caller, isNamed, isHinted }: FoundFacts): string {
  return JSON.stringify({ explicitId, ...((isNamed || isHinted) && { caller, isHinted }) });
}

export function readRequest(text: string, of: Pick<QueryKeys, 'traceId' | 'service'>): FoundFacts {
  const read = JSON.parse(text) as { explicitId?: string; caller?: string; isHinted?: boolean };
  const { explicitId, caller, isHinted = false } = read;
  const keys = { ...of, explicitId, isRequest: true };
  return { keys, caller: caller ?? '', isNamed: caller !== undefined && !isHinted, isHinted, occurredAt: 0 };
}

class States {
  readonly changes = new Map<string, FoundState>();
  readonly #stored: ReadonlyMap<string, FoundState>;

  constructor(stored: ReadonlyMap<string, FoundState>) {
    this.#stored = stored;
  }

  find(id: string): FoundState | undefined {
    return this.changes.get(id) ?? this.#stored.get(id);
  }

  change(id: string, state: FoundState): void {
    this.changes.set(id, state);
  }

  /** The id of the query as which one counts. */
  readonly finalId = (queryId: string): string => {
    let id = queryId;
    for (let next = this.find(id)?.countsAs; next; next = this.find(id)?.countsAs) id = next;
    return id;
  };

  /** Of two queries that are one, the earlier one stays. */
  merge(one: string, other: string): void {
    const both = [...new Set([this.finalId(one), this.finalId(other)])].flatMap((id) => {
      const state = this.find(id);
      return state === undefined ? [] : [{ id, state }];
    });
    const [kept, merged] = both.toSorted(
      (a, b) => a.state.occurredAt - b.state.occurredAt || (a.id < b.id ? -1 : 1),
    );
    if (kept === undefined || merged === undefined) return;
    const isQuery = both.some(({ state }) => state.countsAs === null);
    this.change(merged.id, { ...merged.state, countsAs: kept.id, isPending: true });
    this.change(kept.id, withCaller(isQuery ? asQuery(kept.state) : kept.state, merged.state));
  }
}

function firstState({ caller, isNamed, isHinted = false, occurredAt }: FoundFacts): FoundState {
  const assumed = isNamed ? null : caller;
  return { caller, isNamed, isHinted, assumed, occurredAt, countsAs: null, isPending: false };
}

function isRecorded(query: FoundFacts | undefined): boolean {
  return query !== undefined && !query.keys.isIgnored && !query.keys.isRequest;
}

/** It may have been taken for none. */
function asQuery(state: FoundState): FoundState {
  return state.countsAs === null ? state : { ...state, countsAs: null, isPending: true };
}

type Told = Pick<FoundFacts, 'caller' | 'isNamed' | 'isHinted'>;

function withCaller(state: FoundState, told: Told): FoundState {
  if (compareCallers(told, state) <= 0) return state;
  const { caller, isNamed, isHinted = false } = told;
  return {
    ...state,
    ...{ caller, isNamed, isHinted },
    assumed: isNamed && caller === state.assumed ? null : state.assumed,
    isPending: state.isPending || caller !== state.caller,
  };
}

/** More than 0 if one takes the place of the other. */
function compareCallers(one: Told, other: Told): number {
  const [a, b] = [one, other].map(({ isNamed, isHinted }) => (isNamed ? 2 : isHinted ? 1 : 0));
  if (a !== b) return (a ?? 0) - (b ?? 0);
  if (!one.isHinted || one.caller === other.caller) return 0;
  return one.caller > other.caller ? 1 : -1;
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
    if (!isRecorded(query)) continue;
    const before = best.get(id);
    if (before === undefined || isMoreReliable(query, before)) best.set(id, query);
    earliest.set(id, Math.min(earliest.get(id) ?? query.occurredAt, query.occurredAt));
  }
  return new Map(
    Array.from(best, ([id, query]) => [id, { ...query, occurredAt: earliest.get(id) ?? query.occurredAt }]),
  );
}

/** Each query once, of found ones that are added in several parts. */
export class MergedQueries {
  readonly #queries = new Map<string, FoundFacts>();
  readonly #services = new Map<string, string>();

  add(found: readonly FoundFacts[], queryIds: readonly string[]): void {
    for (const [at, { keys }] of found.entries()) {
      const id = queryIds[at] ?? NO_QUERY;
      if (!this.#services.has(id)) this.#services.set(id, keys.service);
    }
    for (const [id, query] of mergeFound(found, queryIds)) {
      const before = this.#queries.get(id);
      const both = before === undefined ? [query] : [before, query];
      for (const [, merged] of mergeFound(both, Array(both.length).fill(id))) this.#queries.set(id, merged);
    }
  }

  /** By the service that sent its first record: as many as a project has sources. */
  byService(callers: ReadonlyMap<string, string>): Map<string, Query[]> {
    const merged = new Map<string, Query[]>();
    const names = new SourceNames();
    for (const [id, { caller, occurredAt }] of this.#queries) {
      const { name: service } = names.bound({ kind: 'traces', name: this.#services.get(id) ?? '' });
      const query = { id, caller: callers.get(id) ?? caller, occurredAt };
      const others = merged.get(service);
      if (others === undefined) merged.set(service, [query]);
      else others.push(query);
    }
    return merged;
  }
}

/** Does not depend on the order of the records in the request. */
function isMoreReliable(one: FoundFacts, other: FoundFacts): boolean {
  const difference = compareCallers(one, other);
  if (difference !== 0) return difference > 0;
  if (one.occurredAt !== other.occurredAt) return one.occurredAt < other.occurredAt;
  return one.caller < other.caller;
}
