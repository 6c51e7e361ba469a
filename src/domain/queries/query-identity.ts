/**
 * Decides which found queries are one. The spans and log records of a query arrive in any order, in any request, on any node,
 * and each of them may know only some of its keys. So every key is stored with the id of the query that it means:
 *
 * - A key that is stored already means the same query as before.
 * - Otherwise it means the query of the strongest weaker key, unless another found query has taken that one: a trace
 *   whose spans say nothing more is one query, and the first server span that turns up in it is that query, too.
 * - Otherwise it is a new query, and its weaker keys belong to it from then on.
 *
 * - Before that, it means the query that was found in another trace with an answer that this one has, too: two
 *   instrumentations of one call, or a gateway's.
 * - If a query has a weaker key of another one, which no other found query has taken, the two were counted apart before it was
 *   known that they are one.
 *
 * So a query with one key is never counted twice, and queries that share a trace are told apart by their other keys.
 */

/** What is known of one query. At least one of the first three is there. */
export interface QueryKeys {
  /** The id that the application gave it. */
  readonly explicitId?: string | undefined;
  /** The span with which a server began to answer it: 16 lower-case hexadecimal digits. */
  readonly entrySpanId?: string | undefined;
  /** The spans with which servers began to work for the query later, such as those of sub-agents, outermost first. */
  readonly innerSpanIds?: readonly string[] | undefined;
  /** The answers of models in it, and runs of agents (see `responseNames` and `agentRunName`). */
  readonly responses?: readonly string[] | undefined;
  /** 32 lower-case hexadecimal digits. */
  readonly traceId?: string | undefined;
  /** The name of the service whose request or message it is, or otherwise that sent its outermost span. */
  readonly service: string;
  /** Whether spans above it are missing that tell whether it is a query of its own, and of which service. */
  readonly isUnsure?: boolean;
  /** Whether the entry is a message over a connection, whose trace is never that of one query. */
  readonly isMessage?: boolean;
  /** Whether it was recorded and is none. */
  readonly isIgnored?: boolean;
  /** Whether these are the keys of a request, the first span of its trace, below which this process knows of no query. */
  readonly isRequest?: boolean;
}

export interface StoredKey {
  readonly queryId: string;
  /** Whether the query has a stronger key than this one, or was found by others. */
  readonly isTaken: boolean;
  /** Of an answer: its trace. Of a trace, if it is known: the service whose server spans are queries. Those of others, such as sub-agents, belong to one of them. */
  readonly service: string;
}

export interface IdentityPlan {
  /** The id of each query, in the order in which they were given. */
  readonly queryIds: readonly string[];
  /** The keys to store or to change. */
  readonly changes: ReadonlyMap<string, StoredKey>;
  /** The queries that were counted apart and are one. */
  readonly merges: readonly (readonly [queryId: string, other: string])[];
}

interface Key {
  readonly name: string;
  /** The id of a new query whose strongest key this is. */
  readonly queryId: string;
}

/** The names under which the keys of a query are stored. */
export function keyNames(query: QueryKeys): string[] {
  const own = [...listKeys(query), ...listInnerKeys(query)].map(({ name }) => name);
  return [...own, ...(query.responses ?? [])];
}

/** The id of the query if none of its keys is stored; undefined without a key. */
export function strongestQueryId(query: QueryKeys): string | undefined {
  return listKeys(query)[0]?.queryId;
}

/** The name of a trace's key. */
export function traceKeyName(traceId: string): string {
  return `trace:${traceId}`;
}

const REQUEST = 'request:';

/** The name under which the request of a trace waits for a query. */
export function requestKeyName(traceId: string): string {
  return `${REQUEST}${traceId}`;
}

export function requestTraceId(name: string): string {
  return name.slice(REQUEST.length);
}

/** Writes a trace id as a UUID, which stores keep in 16 bytes. */
export function traceQueryId(traceId: string): string {
  const part = (from: number, end: number) => traceId.slice(from, end);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}

/** Does not depend on the order of the queries: those with the strongest keys come first. */
export function planIdentities(
  queries: readonly QueryKeys[],
  stored: ReadonlyMap<string, StoredKey>,
): IdentityPlan {
  const changes = new Map<string, StoredKey>();
  const merges: (readonly [string, string])[] = [];
  const queryIds = Array.from(queries, () => '');
  const find = (name: string) => changes.get(name) ?? stored.get(name);
  const ordered = queries.map((query, at) => ({ query, keys: listKeys(query), at }));
  for (const { query, keys, at } of ordered.toSorted(byStrength)) {
    const [strongest, ...others] = keys;
    if (strongest === undefined) throw new Error('Invariant violated: a query has a key.');
    const weaker = [...listInnerKeys(query), ...others];
    if (query.isRequest && !hasFoundQuery(query, find)) continue;
    const queryId = query.isIgnored
      ? findIgnored(strongest, find)
      : chooseId(query, strongest, weaker, { find, changes });
    queryIds[at] = queryId;
    if (query.isIgnored) continue;
    for (const other of claim(query, queryId, weaker, { find, changes })) merges.push([other, queryId]);
    noteResponses(query, queryId, find, changes);
    moveTrace(query, find, changes);
  }
  return { queryIds, changes, merges };
}

interface Keys {
  readonly find: (name: string) => StoredKey | undefined;
  readonly changes: Map<string, StoredKey>;
}

/** Whether another process has found the query of this request. */
function hasFoundQuery({ traceId = '', service }: QueryKeys, find: Keys['find']): boolean {
  const stored = find(traceKeyName(traceId));
  return stored !== undefined && ['', service].includes(stored.service);
}

/** The id of a query that was recorded by mistake; empty if another one has taken its key. */
function findIgnored({ name }: Key, find: Keys['find']): string {
  const stored = find(name);
  return stored === undefined || stored.isTaken ? '' : stored.queryId;
}

function chooseId(query: QueryKeys, strongest: Key, weaker: readonly Key[], { find, changes }: Keys): string {
  const known = find(strongest.name)?.queryId;
  if (known !== undefined) return known;
  const shared = takeOver(query, weaker, find, changes) ?? findAnswered(query, find)[0];
  const queryId = shared?.queryId ?? strongest.queryId;
  changes.set(strongest.name, { queryId, isTaken: shared?.isTaken ?? false, service: serviceOf(query) });
  return queryId;
}

/** Gives a query its weaker keys. Returns the queries that have some of them, or one of its answers, and that no other one has taken. */
function claim(query: QueryKeys, queryId: string, weaker: readonly Key[], { find, changes }: Keys): string[] {
  const others: string[] = [];
  for (const { name } of weaker) {
    const known = find(name);
    if (known?.isTaken || known?.queryId === queryId) continue;
    if (known !== undefined) others.push(known.queryId);
    changes.set(name, { service: serviceOf(query), ...known, queryId, isTaken: true });
  }
  const answered = findAnswered(query, find).map((one) => one.queryId);
  return [...others, ...answered.filter((other) => other !== queryId)];
}

/**
 * The query that a new key shares with a weaker key found with it; undefined if there is none. `isTaken` if that query has
 * another key as strong, so that this one, as that of a sub-agent, only belongs to it.
 */
function takeOver(
  query: QueryKeys,
  weaker: readonly Key[],
  find: (name: string) => StoredKey | undefined,
  changes: Map<string, StoredKey>,
): Pick<StoredKey, 'queryId' | 'isTaken'> | undefined {
  const { explicitId, traceId, innerSpanIds = [] } = query;
  const services = ['', serviceOf(query)];
  for (const { name } of weaker) {
    const stored = find(name);
    if (stored === undefined) continue;
    const isOfOther = name === traceKeyName(traceId ?? '') && !services.includes(stored.service);
    if (isOfOther && explicitId === undefined && innerSpanIds.length === 0)
      return { queryId: stored.queryId, isTaken: true };
    if (stored.isTaken) continue;
    changes.set(name, { ...stored, isTaken: true });
    return { queryId: stored.queryId, isTaken: false };
  }
  return undefined;
}

/** A cache answers later again with the same id: for another query. */
const responseWindowMs = 30_000;
const clocksDifferMs = 5_000;

/** The names of the keys of an answer: one for its time, and another if a span of the same call may have a later one. */
export function responseNames(responseId: string, timeMs: number): string[] {
  const windows = [timeMs, timeMs + clocksDifferMs].map((time) => Math.floor(time / responseWindowMs));
  return [...new Set(windows)].map((window) => `response:${window}:${responseId}`);
}

/** As the name of an answer. It comes first in their order. */
export function agentRunName(run: string): string {
  return `agents:${run}`;
}

/** The queries of other traces that have the same answers. Two with ids of their own stay two. */
function findAnswered(
  { explicitId, traceId, responses = [] }: QueryKeys,
  find: (name: string) => StoredKey | undefined,
): Pick<StoredKey, 'queryId' | 'isTaken'>[] {
  return responses.flatMap((name) => {
    const stored = find(name);
    if (stored === undefined || stored.service === traceId) return [];
    return stored.isTaken && explicitId !== undefined ? [] : [{ queryId: stored.queryId, isTaken: true }];
  });
}

/** Within its trace, an answer moves with its query: requests that share a trace are told apart later. */
function noteResponses(
  { explicitId, traceId, responses = [] }: QueryKeys,
  queryId: string,
  find: (name: string) => StoredKey | undefined,
  changes: Map<string, StoredKey>,
): void {
  if (traceId === undefined) return;
  for (const name of responses) {
    const stored = find(name);
    if (stored !== undefined && stored.service !== traceId) {
      // The query has an id now, so another one with an id is not the same.
      if (explicitId !== undefined && stored.queryId === queryId && !stored.isTaken)
        changes.set(name, { ...stored, isTaken: true });
      continue;
    }
    changes.set(name, {
      queryId,
      isTaken: explicitId !== undefined || stored?.isTaken === true,
      service: traceId,
    });
  }
}

/** The trace may belong to the service of a sub-agent that was heard of first. Now the service that asked it is known. */
function moveTrace(
  query: QueryKeys,
  find: (name: string) => StoredKey | undefined,
  changes: Map<string, StoredKey>,
): void {
  const { traceId, innerSpanIds = [] } = query;
  const service = serviceOf(query);
  if (traceId === undefined || service === '') return;
  const name = traceKeyName(traceId);
  const stored = find(name);
  if (stored === undefined || stored.service === service) return;
  if (stored.service === '' || innerSpanIds.length > 0) changes.set(name, { ...stored, service });
}

/** Empty if it is not known whether it is that of the query. */
function serviceOf({ service, isUnsure = false }: QueryKeys): string {
  return isUnsure ? '' : service;
}

function listKeys({ explicitId, entrySpanId, traceId, isMessage = false }: QueryKeys): Key[] {
  const keys: Key[] = [];
  if (explicitId !== undefined) keys.push({ name: `id:${explicitId}`, queryId: explicitId });
  if (traceId === undefined) return keys;
  if (entrySpanId !== undefined) keys.push(spanKey(traceId, entrySpanId));
  if (isMessage) return keys;
  return [...keys, { name: traceKeyName(traceId), queryId: traceQueryId(traceId) }];
}

function listInnerKeys({ traceId, innerSpanIds = [] }: QueryKeys): Key[] {
  return traceId === undefined ? [] : innerSpanIds.map((spanId) => spanKey(traceId, spanId));
}

function spanKey(traceId: string, spanId: string): Key {
  const queryId = `${traceId}-${spanId}`;
  return { name: `span:${queryId}`, queryId };
}

type Ordered = { readonly query: QueryKeys; readonly keys: readonly Key[] };

function byStrength(one: Ordered, other: Ordered): number {
  // Those that know of sub-agents come before those that do not, so that they can take over what sub-agents were counted as.
  // Those that are not recorded come last, when the others have taken what is theirs.
  const strength = ({
    query: { isIgnored, isRequest, explicitId, entrySpanId, innerSpanIds = [] },
  }: Ordered) =>
    (isIgnored || isRequest ? -8 : 0) +
    (explicitId === undefined ? 0 : 4) +
    (entrySpanId === undefined ? 0 : 2) +
    (innerSpanIds.length === 0 ? 0 : 1);
  // The spans of one call in several traces join the trace that has all calls.
  const answers = (ordered: Ordered) => ordered.query.responses?.length ?? 0;
  const difference = strength(other) - strength(one) || answers(other) - answers(one);
  if (difference !== 0) return difference;
  const [a, b] = [one, other].map(({ query, keys }) =>
    [
      ...keys.map(({ name }) => name),
      ...(query.innerSpanIds ?? []),
      ...(query.responses ?? []),
      query.service,
    ].join(),
  );
  return (a ?? '') < (b ?? '') ? -1 : 1;
}
