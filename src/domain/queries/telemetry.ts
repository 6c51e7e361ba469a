/**
 * Finds the queries among the spans and log records of OpenTelemetry.
 *
 * One query produces many spans: agents, model calls, tools, retries. They arrive in any order, in any batch, on any
 * node. `query-identity.ts` says which of them are one query.
 */
import { isOperationAttribute } from '../ingestion/operations.js';
import { RecordTally, SERVICE_ATTRIBUTE } from '../ingestion/record-tally.js';
import { sourceName } from '../ingestion/source-counts.js';
import { likelyTimeMsMin } from '../limits.js';
import { beforeRowsProblem } from '../projects/retention.js';
import { failure, type Result } from '../result.js';
import { isCallerName } from './caller.js';
import { detectCaller } from './caller-detection.js';
import { isQueryId, parseQuery, type Query, unlikelyTimeProblem } from './query.js';
import { type QueryKeys, strongestQueryId } from './query-identity.js';
import { ID_ATTRIBUTES, matchesRules, withMetadata } from './telemetry-rules.js';
import type { IdSource, TelemetryRules } from './telemetry-settings.js';
import type { IndexedSpan, Trace } from './trace.js';
import type { TraceIndex } from './trace-index.js';

/** Attributes by name, with values as text; only those that `isReadAttribute` selects. */
export type Attributes = ReadonlyMap<string, string>;

/** The fields of a span or log record that matter here. */
export interface TelemetryRecord {
  /** As sent, in lower-case hexadecimal digits; empty if missing. So are `spanId` and `parentSpanId`. */
  readonly traceId: string;
  readonly spanId: string;
  /** Of a log record, the span in which it was written is `spanId`, and this is empty. */
  readonly parentSpanId: string;
  readonly isLog: boolean;
  /** Whether it is a span with which a server, or a consumer of messages, began its work. */
  readonly isEntry: boolean;
  /** The start of a span or the time of a log record, in nanoseconds since 1970-01-01T00:00:00Z; 0 if missing. */
  readonly timeNs: bigint;
  readonly attributes: Attributes;
  /** The attributes of the sender. */
  readonly resource: Attributes;
}

const HEADER = 'http.request.header.';
/** The current name in the semantic conventions, and the previous one. */
const USER_AGENTS: readonly string[] = ['user_agent.original', 'http.user_agent'];

/** Whether the rules read an attribute. All others, such as prompts and answers, are not even decoded. */
export function isReadAttribute({ queries, id, callerAttribute }: TelemetryRules, name: string): boolean {
  return (
    queries.some(({ attribute }) => name === attribute) ||
    (name.endsWith(callerAttribute) && withMetadata(callerAttribute).includes(name)) ||
    name.startsWith(HEADER) ||
    USER_AGENTS.includes(name) ||
    ID_ATTRIBUTES.includes(name) ||
    name === SERVICE_ATTRIBUTE ||
    isOperationAttribute(name) ||
    (typeof id === 'object' && name === id.attribute)
  );
}

/** A query among the records of a request. */
export interface FoundQuery extends Omit<Query, 'id'> {
  readonly keys: QueryKeys;
  /** Whether a record named the caller or it was detected. */
  readonly isNamed: boolean;
  /** To be called when it is recorded. */
  readonly noteRecorded: () => void;
}

export interface FoundQueries {
  readonly queries: readonly FoundQuery[];
  /** The number of records that match the rules but are invalid. */
  readonly rejected: number;
  /** The problems of the first few rejected records. */
  readonly problems: readonly string[];
  /** All records, by the service that sent them. */
  readonly tally: RecordTally;
}

const problemsNamedMax = 5;

export interface Receipt {
  /** A name for the project that no other one ever has. */
  readonly project: string;
  /** The time of receipt, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Queries from before this time are invalid (see `Project`). */
  readonly rowsFrom: number | null;
}

/** Collects the queries among the records of one request. */
export class QueryCollector {
  readonly #rules: TelemetryRules;
  readonly #receipt: Receipt;
  readonly #index: TraceIndex;
  /** Only a request that is valid as a whole changes the index. */
  readonly #spans: (readonly [traceId: string, spanId: string, span: IndexedSpan])[] = [];
  readonly #queries: FoundQuery[] = [];
  readonly #ids = new Set<string>();
  readonly #problems: string[] = [];
  readonly #tally = new RecordTally();
  #rejected = 0;

  /** The index has the spans of earlier requests, and gets those of this one. */
  constructor(rules: TelemetryRules, receipt: Receipt, index: TraceIndex) {
    this.#rules = rules;
    this.#receipt = receipt;
    this.#index = index;
  }

  /** The number of different queries so far, as far as each record tells them apart. */
  get size(): number {
    return this.#ids.size;
  }

  add(record: TelemetryRecord): void {
    const read = isQuery(record, this.#rules) ? this.#readQuery(record) : undefined;
    if (read?.ok === false && ++this.#rejected <= problemsNamedMax)
      this.#problems.push(`${describe(record)}: ${read.problems.join('; ')}`);
    const query = read?.ok ? read.value : undefined;
    if (query !== undefined) this.#ids.add(query.id);
    this.#tally.add(record, read === undefined ? 'unmatched' : read.ok ? 'matched' : 'rejected');
    const { traceId, spanId, isLog } = record;
    const isTraced = isTraceId(traceId) && (isLog || isSpanId(spanId));
    if (this.#rules.id === 'question' && isTraced) this.#noteSpan(record, query?.occurredAt);
    else if (query !== undefined) this.#addQuery(record, query);
  }

  /** To be called once, after the last record. */
  result(): FoundQueries {
    const traces = new Set<Trace>();
    for (const [traceId, spanId, span] of this.#spans) {
      const trace = this.#index.open(this.#receipt.project, traceId);
      this.#index.add(trace, spanId, span);
      traces.add(trace);
    }
    const unrecorded = [...traces].flatMap((trace) => trace.unrecorded());
    this.#index.trim(traces);
    // Retention may have moved past a query of an earlier request. The store would refuse it, and all others with it.
    const from = this.#receipt.rowsFrom ?? Number.NEGATIVE_INFINITY;
    const traced = unrecorded.filter(({ askedAt }) => askedAt >= from);
    const queries = traced.map(({ keys, caller, askedAt, noteRecorded }) => ({
      keys,
      caller: caller ?? this.#fallback,
      isNamed: caller !== undefined,
      occurredAt: askedAt,
      noteRecorded,
    }));
    return {
      queries: [...this.#queries, ...queries],
      rejected: this.#rejected,
      problems: this.#problems,
      tally: this.#tally,
    };
  }

  get #fallback(): string {
    return this.#rules.detection.fallback ?? 'unknown';
  }

  #addQuery(record: TelemetryRecord, { caller, occurredAt }: Query): void {
    const keys = readKeys(record, this.#rules.id);
    const isNamed = readCaller(record, this.#rules) !== '';
    this.#queries.push({ keys, caller, isNamed, occurredAt, noteRecorded: () => {} });
  }

  #noteSpan(record: TelemetryRecord, askedAt: number | undefined): void {
    const { traceId, spanId, isEntry, isLog, attributes, resource, timeNs } = record;
    // A log record is below the span in which it was written.
    const parent = isLog ? spanId : record.parentSpanId;
    const caller = readCaller(record, this.#rules);
    const explicitId = readExplicitId(attributes);
    const span = {
      parentSpanId: isSpanId(parent) ? parent : '',
      isEntry,
      service: sourceName(resource.get(SERVICE_ATTRIBUTE)),
      explicitId: explicitId !== undefined && isQueryId(explicitId) ? explicitId : undefined,
      caller: isCallerName(caller) ? caller : undefined,
      askedAt,
    };
    if (!isLog) this.#spans.push([traceId, spanId, span]);
    else if (askedAt !== undefined)
      this.#spans.push([traceId, `log ${span.parentSpanId} ${timeNs} ${explicitId ?? ''}`, span]);
  }

  #readQuery(record: TelemetryRecord): Result<Query> {
    const { nowMs, rowsFrom } = this.#receipt;
    const id = strongestQueryId(readKeys(record, this.#rules.id));
    if (id === undefined) {
      const missing = this.#rules.id === 'span' ? 'trace id and span id' : 'trace id';
      return failure(`has no valid ${missing}, so that a repeat could not be told from another query`);
    }
    // Drops digits finer than a millisecond. Any 64 bits of nanoseconds end before the year 2555.
    const time = new Date(Number(record.timeNs / 1_000_000n)).toISOString();
    const caller = readCaller(record, this.#rules) || this.#fallback;
    const query = parseQuery({ id, caller, ...(record.timeNs !== 0n && { occurredAt: time }) }, nowMs);
    if (!query.ok) return query;
    const isTimed = record.timeNs !== 0n;
    if (isTimed && query.value.occurredAt < likelyTimeMsMin) return failure(unlikelyTimeProblem(time));
    if (rowsFrom !== null && query.value.occurredAt < rowsFrom)
      return failure(beforeRowsProblem(new Date(rowsFrom).toISOString()));
    return query;
  }
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

/** The merged queries (see `mergeQueries`), by the service that sent the first record of each. */
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
  for (const query of mergeQueries(queries, queryIds)) {
    const service = services.get(query.id) ?? '';
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

function isQuery({ attributes }: TelemetryRecord, { queries, id }: TelemetryRules): boolean {
  return (
    matchesRules(attributes, queries) &&
    (typeof id !== 'object' || (attributes.get(id.attribute) ?? '') !== '')
  );
}

/** What one record says of its query. All zeros means no id (W3C Trace Context). */
function readKeys({ traceId, spanId, attributes, resource }: TelemetryRecord, source: IdSource): QueryKeys {
  const service = sourceName(resource.get(SERVICE_ATTRIBUTE));
  const trace = isTraceId(traceId) ? { traceId } : {};
  if (source === 'question') return { ...trace, service, explicitId: readExplicitId(attributes) };
  if (typeof source === 'object') return { service, explicitId: attributes.get(source.attribute) };
  if (source === 'trace') return { ...trace, service };
  return isSpanId(spanId) ? { ...trace, service, entrySpanId: spanId } : { service };
}

function isTraceId(traceId: string): boolean {
  return /^[0-9a-f]{32}$/.test(traceId) && !/^0+$/.test(traceId);
}

function isSpanId(spanId: string): boolean {
  return /^[0-9a-f]{16}$/.test(spanId) && !/^0+$/.test(spanId);
}

function readExplicitId(attributes: Attributes): string | undefined {
  return ID_ATTRIBUTES.map((name) => attributes.get(name)).find((id) => id !== undefined && id !== '');
}

/** The caller that the record names, or that its headers tell; empty if there is none. */
function readCaller({ attributes, resource }: TelemetryRecord, rules: TelemetryRules): string {
  const { callerAttribute, detection } = rules;
  return (
    withMetadata(callerAttribute)
      .map((name) => attributes.get(name))
      .find((caller) => caller !== undefined && caller !== '') ||
    resource.get(callerAttribute) ||
    detectCaller({ headers: readHeaders(attributes) }, { ...detection, fallback: '' })
  );
}

/** The request headers among the attributes. Older instrumentation writes `_` for `-`. */
function readHeaders(attributes: Attributes) {
  return {
    get(name: string): string | null {
      const agents = name === 'user-agent' ? USER_AGENTS : [];
      const names = [...agents, `${HEADER}${name}`, `${HEADER}${name.replaceAll('-', '_')}`];
      return names.map((one) => attributes.get(one)).find((value) => value !== undefined) ?? null;
    },
  };
}

function describe({ traceId, spanId }: TelemetryRecord): string {
  const ids = [traceId, spanId].filter((id) => id !== '').map((id) => id.slice(0, 32));
  return ids.length === 0 ? 'a record without trace id' : ids.join('/');
}
