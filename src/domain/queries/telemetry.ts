/**
 * Finds the queries among the spans and log records of OpenTelemetry.
 *
 * One query produces many spans: agents, model calls, tools, retries. They arrive in any order, in any batch, on any
 * node. `docs/engineering/spans.md` has all decisions in their order; `query-identity.ts` says which of them are one query.
 */
import { readOperations } from '../ingestion/operations.js';
import { type Outcome, RecordTally } from '../ingestion/record-tally.js';
import { reasonOfProblem } from '../ingestion/refusals.js';
import { likelyTimeMsMin, traceSpansMax } from '../limits.js';
import { earliestProblem } from '../projects/project.js';
import { beforeRowsProblem } from '../projects/retention.js';
import { failure, type Result } from '../result.js';
import { isCallerName } from './caller.js';
import type { FoundQuery } from './found-queries.js';
import { isQueryId, parseQuery, type Query, unlikelyTimeProblem } from './query.js';
import { strongestQueryId } from './query-identity.js';
import { TELEMETRY_DEFAULTS } from './telemetry-defaults.js';
import {
  type Attributes,
  explicitIdOf,
  isSpanId,
  isTraceId,
  RecordRules,
  responseIdOf,
  runOf,
  type TelemetryRecord,
} from './telemetry-record.js';
import { agentRunOf, gotMessage } from './telemetry-rules.js';
import type { TelemetryRules } from './telemetry-settings.js';
import type { IndexedQuery, IndexedSpan, Told, Trace } from './trace.js';
import type { TraceIndex } from './trace-index.js';

export interface FoundQueries {
  readonly queries: readonly FoundQuery[];
  /** The number of records that match the rules but are invalid, and of those that cannot be read. */
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
  /** The project's own; null for the first likely time. */
  readonly earliestAt?: number | null;
}

/** Spans that are put into the index and followed, or noted, in one turn of the event loop. */
const turnSpans = 1000;

/** Collects the queries among the records of one request. */
export class QueryCollector {
  readonly #rules: TelemetryRules;
  readonly #read: RecordRules;
  readonly #receipt: Receipt;
  readonly #index: TraceIndex;
  /** By trace. Only a request that is valid as a whole changes the index. */
  readonly #spans = new Map<string, (readonly [spanId: string, span: IndexedSpan])[]>();
  /** What records of a trace say they are that match no rule. */
  readonly #unmatched = new Map<string, (readonly [service: string, operations: readonly string[]])[]>();
  /** The services whose requests have headers, and those of which a request began a trace without any, by trace. */
  readonly #withHeaders = new Set<string>();
  readonly #withoutHeaders = new Map<string, string>();
  readonly #queries: FoundQuery[] = [];
  readonly #ids = new Set<string>();
  readonly #problems: string[] = [];
  readonly #tally = new RecordTally();
  #records = 0;
  #rejected = 0;
  #service: string | undefined;

  /** The index has the spans of earlier requests, and gets those of this one. */
  constructor(rules: TelemetryRules, receipt: Receipt, index: TraceIndex) {
    this.#rules = rules;
    this.#read = new RecordRules(rules);
    this.#receipt = receipt;
    this.#index = index;
  }

  /** The number of different queries so far, as far as each record tells them apart. */
  get size(): number {
    return this.#ids.size;
  }

  /** The number of records so far. */
  get records(): number {
    return this.#records;
  }

  /** The service that sent the last record; undefined without one. */
  get service(): string | undefined {
    return this.#service;
  }

  /** Whether an attribute is read. All others, such as prompts and answers, are not even decoded. */
  reads(attribute: string): boolean {
    return this.#read.reads(attribute);
  }

  add(record: TelemetryRecord): void {
    const isIgnored = this.#read.ignores(record);
    const read = !isIgnored && this.#read.accepts(record) ? this.#readQuery(record) : undefined;
    if (read?.ok === false) this.#reject(`${describe(record)}: ${read.problems.join('; ')}`);
    const query = read?.ok ? read.value : undefined;
    if (query !== undefined) this.#ids.add(query.id);
    const outcome = read === undefined ? 'unmatched' : read.ok ? 'matched' : 'rejected';
    const problems = read?.ok === false ? read.problems : [];
    this.#count(record.resource, outcome, problems);
    const isTraced = isPartOfTrace(record);
    // What an ignored record names does not suggest another rule.
    if (read === undefined && !isIgnored) this.#noteUnmatched(record, isTraced);
    if (this.#rules.id === 'question' && isTraced) this.#noteSpan(record, isIgnored, query?.occurredAt);
    else if (query !== undefined) this.#addQuery(record, query);
  }

  /** A record that cannot be read. It may be one of a query. */
  addUnreadable(problem: string, resource: Attributes): void {
    this.#count(resource, 'rejected', [problem]);
    this.#reject(`record ${this.#records} of the request: ${problem}`);
  }

  /** To be called once, after the last record. Yields where the event loop can do other work. */
  *result(): Generator<undefined, FoundQueries> {
    const queries = this.#queries;
    let spans = 0;
    for (const [traceId, all] of this.#spans) {
      // Of a trace with more spans than the index keeps, as if they had arrived in several requests.
      const told: Told | undefined = all.length > traceSpansMax ? new Map() : undefined;
      for (let at = 0; at < all.length; at += traceSpansMax) {
        const some = all.slice(at, at + traceSpansMax);
        for (const query of this.#follow(traceId, some, told))
          if (this.#isKept(query)) queries.push(this.#found(query));
        spans += some.length;
        if (spans < turnSpans) continue;
        spans = 0;
        yield;
      }
    }
    yield* this.#noteOperations();
    return { queries, rejected: this.#rejected, problems: this.#problems, tally: this.#tally };
  }

  /** Beside a query that counts, no other rule is needed. */
  *#noteOperations(): Generator<undefined, void> {
    let spans = 0;
    for (const [traceId, noted] of this.#unmatched) {
      if (this.#index.hasQueries(this.#receipt.project, traceId)) continue;
      for (const [service, operations] of noted) {
        this.#tally.note(service, operations);
        if (++spans % turnSpans === 0) yield;
      }
    }
  }

  /** Retention may have moved past a query of an earlier request. The store would refuse it, and all others with it. */
  #isKept({ askedAt, keys }: IndexedQuery): boolean {
    return keys.isRequest === true || askedAt >= (this.#receipt.rowsFrom ?? Number.NEGATIVE_INFINITY);
  }

  #found({ keys, caller, isHinted, askedAt, noteRecorded }: IndexedQuery): FoundQuery {
    return {
      keys,
      caller: caller ?? this.#fallback,
      isNamed: caller !== undefined && !isHinted,
      isHinted,
      occurredAt: askedAt,
      noteRecorded,
    };
  }

  get #fallback(): string {
    return this.#rules.detection.fallback ?? TELEMETRY_DEFAULTS.otlpDefaultCaller;
  }

  #count(resource: Attributes, outcome: Outcome, problems: readonly string[]): void {
    this.#records++;
    this.#service = this.#read.serviceOf(resource);
    this.#tally.add(this.#service, outcome, problems.map(reasonOfProblem));
  }

  #noteUnmatched(record: TelemetryRecord, isTraced: boolean): void {
    const operations = readOperations(record);
    if (operations.length === 0) return;
    const service = this.#read.serviceOf(record.resource);
    const known = this.#unmatched.get(record.traceId);
    if (this.#rules.id !== 'question' || !isTraced) this.#tally.note(service, operations);
    else if (known === undefined) this.#unmatched.set(record.traceId, [[service, operations]]);
    else known.push([service, operations]);
  }

  #reject(problem: string): void {
    if (++this.#rejected <= problemsNamedMax) this.#problems.push(problem);
  }

  #follow(
    traceId: string,
    spans: readonly (readonly [spanId: string, span: IndexedSpan])[],
    told: Told | undefined,
  ): IndexedQuery[] {
    const trace = this.#index.open(this.#receipt.project, traceId);
    for (const [spanId, span] of spans) this.#index.add(trace, spanId, span);
    const unrecorded = trace.unrecorded(told);
    const requests = trace.requests(spans.map(([spanId]) => spanId));
    this.#noteDoubts(trace, traceId);
    this.#index.trim([trace]);
    return [...unrecorded, ...requests];
  }

  #noteDoubts(trace: Trace, traceId: string): void {
    if (!trace.hasQueries) return;
    const { isUnnamed, more, service } = trace.doubts();
    this.#tally.doubt(service, 'many-in-trace', more);
    const sender = this.#withoutHeaders.get(traceId);
    this.#withoutHeaders.delete(traceId);
    if (isUnnamed && sender !== undefined && !this.#withHeaders.has(sender))
      this.#tally.doubt(sender, 'no-header', 1);
  }

  /** Where every request has the same caller on purpose, headers are not needed. */
  #noteHeaders(record: TelemetryRecord, service: string): void {
    const { siteOrigins = [] } = this.#rules.detection;
    const hasHeaders = this.#read.hasHeaders(record);
    if (hasHeaders) this.#withHeaders.add(service);
    else if (
      hasHeaders === false &&
      record.parentSpanId === '' &&
      (this.#fallback === TELEMETRY_DEFAULTS.otlpDefaultCaller || siteOrigins.length > 0)
    )
      this.#withoutHeaders.set(record.traceId, service);
  }

  #addQuery(record: TelemetryRecord, { caller, occurredAt }: Query): void {
    const keys = this.#read.keysOf(record);
    const isNamed = this.#read.callerOf(record) !== '';
    const isHinted = !isNamed && this.#read.hintOf(record) !== '';
    this.#queries.push({ keys, caller, isNamed, isHinted, occurredAt, noteRecorded: () => {} });
  }

  #noteSpan(record: TelemetryRecord, isIgnored: boolean, askedAt: number | undefined): void {
    const { traceId, spanId, isLog, attributes, resource, timeNs, endNs = 0n } = record;
    if (isLog && askedAt === undefined) return;
    // A log record is below the span in which it was written.
    const parent = isLog ? spanId : record.parentSpanId;
    const caller = this.#read.callerOf(record);
    const explicitId = explicitIdOf(attributes);
    const isEntry = this.#read.isEntry(record);
    const span = {
      parentSpanId: isSpanId(parent) ? parent : '',
      isEntry,
      entryKind: isEntry ? this.#read.entryKind(record) : undefined,
      agentRun: agentRunOf(record),
      run: isEntry ? runOf(attributes) : undefined,
      isIgnored,
      service: this.#read.serviceOf(resource),
      explicitId: explicitId !== undefined && isQueryId(explicitId) ? explicitId : undefined,
      caller: isCallerName(caller) ? caller : undefined,
      hint: caller === '' ? this.#read.hintOf(record) : '',
      askedAt,
      responseId: responseIdOf(attributes),
      messageAt: gotMessage(record) ? Number(endNs / 1_000_000n) : undefined,
    };
    this.#noteHeaders(record, span.service);
    const id = isLog ? `log ${span.parentSpanId} ${timeNs} ${explicitId ?? ''}` : spanId;
    const spans = this.#spans.get(traceId);
    if (spans === undefined) this.#spans.set(traceId, [[id, span]]);
    else spans.push([id, span]);
  }

  #readQuery(record: TelemetryRecord): Result<Query> {
    const { nowMs, rowsFrom, earliestAt = null } = this.#receipt;
    const id = strongestQueryId(this.#read.keysOf(record));
    if (id === undefined) {
      const missing = this.#rules.id === 'span' ? 'trace id and span id' : 'trace id';
      return failure(`has no valid ${missing}, so that a repeat could not be told from another query`);
    }
    // Drops digits finer than a millisecond. Any 64 bits of nanoseconds end before the year 2555.
    const time = new Date(Number(record.timeNs / 1_000_000n)).toISOString();
    const caller = this.#read.callerOf(record) || this.#read.hintOf(record) || this.#fallback;
    const query = parseQuery({ id, caller, ...(record.timeNs !== 0n && { occurredAt: time }) }, nowMs);
    if (!query.ok) return query;
    const isTimed = record.timeNs !== 0n;
    const early = earliestProblem({ earliestAt }, query.value.occurredAt);
    if (early !== undefined) return failure(early);
    if (earliestAt === null && isTimed && query.value.occurredAt < likelyTimeMsMin)
      return failure(unlikelyTimeProblem(time));
    if (rowsFrom !== null && query.value.occurredAt < rowsFrom)
      return failure(beforeRowsProblem(new Date(rowsFrom).toISOString()));
    return query;
  }
}

function isPartOfTrace({ traceId, spanId, isLog }: TelemetryRecord): boolean {
  return isTraceId(traceId) && (isLog || isSpanId(spanId));
}

function describe({ traceId, spanId }: TelemetryRecord): string {
  const ids = [traceId, spanId].filter((id) => id !== '').map((id) => id.slice(0, 32));
  return ids.length === 0 ? 'a record without trace id' : ids.join('/');
}
