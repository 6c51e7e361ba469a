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

/** As a store keeps it. */
export interface KeptState extends FoundState {
  /** Whether its row was withdrawn because it turned out to be no query, or another one. */
  readonly isWithdrawn: boolean;
  readonly foundAt: number;
  /** Whether all of it comes from a copy, so that the next one may replace it. */
  readonly isCarried: boolean;
}

/** What is recorded of a query. */
export interface FoundRow extends Omit<Query, 'id'> {
  readonly isWithdrawn: boolean;
  /** Whether a correction has changed it, so that the row does not say what telemetry told. */
  readonly isCorrected: boolean;
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

/** The id of the query as which one counts. */
export function finalIdIn(states: ReadonlyMap<string, FoundState>): (queryId: string) => string {
  return new States(states).finalId;
}

/**
 * The states to store or to change when those that another store has are added, and when its keys show that queries are one.
 * `rows` are what is recorded here of all of them. A query that has only a row here was found at `foundAt`.
 */
export function planUnion(
  given: ReadonlyMap<string, KeptState>,
  merges: FoundMerges,
  stored: ReadonlyMap<string, KeptState>,
  { rows, foundAt }: { readonly rows: ReadonlyMap<string, FoundRow>; readonly foundAt: number },
): ReadonlyMap<string, KeptState> {
  const states = new States(stored);
  for (const [id, state] of given) states.change(id, unite(state, stored.get(id), rows.get(id)));
  for (const id of merges.flat().map(states.finalId)) {
    const row = rows.get(id);
    if (row !== undefined && states.find(id) === undefined) states.change(id, stateOfRow(row, foundAt));
  }
  for (const [id, { countsAs }] of given) if (countsAs) states.join(id, countsAs);
  for (const [one, other] of merges) states.merge(one, other);
  const changed = Array.from(states.changes, ([id, state]) => [id, asRecorded(state, rows.get(id))] as const);
  return new Map(changed.filter(([id, state]) => !isSameState(state, stored.get(id))));
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

type FoundMerges = IdentityPlan['merges'];

class States<State extends FoundState> {
  readonly changes = new Map<string, State>();
  readonly #stored: ReadonlyMap<string, State>;

  constructor(stored: ReadonlyMap<string, State>) {
    this.#stored = stored;
  }

  find(id: string): State | undefined {
    return this.changes.get(id) ?? this.#stored.get(id);
  }

  change(id: string, state: State): void {
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

  /** As `merge`, but the other one may be known by its id alone. */
  join(one: string, other: string): void {
    const [id, countsAs] = [this.finalId(one), this.finalId(other)];
    const state = this.find(id);
    if (state === undefined || id === countsAs) return;
    if (this.find(countsAs) === undefined) this.change(id, { ...state, countsAs });
    else this.merge(id, countsAs);
  }
}

/** What this store and another one know of a query. */
function unite(given: KeptState, here: KeptState | undefined, row: FoundRow | undefined): KeptState {
  if (here === undefined) return firstUnited(given, row);
  const state = withCaller(here, given);
  if (here.isCarried && given.countsAs === NO_QUERY) return { ...state, countsAs: NO_QUERY };
  const isNews = here.isCarried || given.foundAt !== here.foundAt;
  return isNews && here.countsAs === NO_QUERY && given.countsAs !== NO_QUERY ? asQuery(state) : state;
}

function firstUnited(given: KeptState, row: FoundRow | undefined): KeptState {
  const countsAs = given.countsAs === NO_QUERY ? NO_QUERY : null;
  const state = { ...given, countsAs, isCarried: true };
  if (row === undefined || row.isCorrected || row.caller === given.caller) return state;
  // The row may have been copied before its caller was known; one of another time has its own.
  if ((given.isNamed || given.isHinted) && row.occurredAt === given.occurredAt)
    return { ...state, assumed: row.caller, isPending: true };
  return { ...state, caller: row.caller, assumed: given.assumed === null ? null : row.caller };
}

function stateOfRow({ caller, occurredAt, isWithdrawn }: FoundRow, foundAt: number): KeptState {
  const named = { caller, occurredAt, isNamed: true, isHinted: false, assumed: null };
  return { ...named, countsAs: null, isPending: false, isWithdrawn, foundAt, isCarried: false };
}

/** It is pending until its row says the same. */
function asRecorded(state: KeptState, row: FoundRow | undefined): KeptState {
  const isWithdrawn = row?.isCorrected ? state.isWithdrawn : row?.isWithdrawn === true;
  const isPending = state.isPending || (state.countsAs !== null) !== isWithdrawn;
  return { ...state, isWithdrawn, isPending };
}

function isSameState(one: KeptState, other: KeptState | undefined): boolean {
  if (other === undefined) return false;
  const fields = [
    'caller',
    'isNamed',
    'isHinted',
    'assumed',
    'countsAs',
    'isPending',
    'isWithdrawn',
  ] as const;
  return fields.every((field) => one[field] === other[field]);
}

function firstState({ caller, isNamed, isHinted = false, occurredAt }: FoundFacts): FoundState {
  const assumed = isNamed ? null : caller;
  return { caller, isNamed, isHinted, assumed, occurredAt, countsAs: null, isPending: false };
}

function isRecorded(query: FoundFacts | undefined): boolean {
  return query !== undefined && !query.keys.isIgnored && !query.keys.isRequest;
}

/** It may have been taken for none. */
function asQuery<State extends FoundState>(state: State): State {
  return state.countsAs === null ? state : { ...state, countsAs: null, isPending: true };
}

type Told = Pick<FoundFacts, 'caller' | 'isNamed' | 'isHinted'>;

function withCaller<State extends FoundState>(state: State, told: Told): State {
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
