/**
 * The latest spans of each trace, in memory, so that a query can be traced to the span with which a server began to answer
 * it. Spans of one trace arrive over several requests, the inner ones mostly first. Spans that were forgotten, or that
 * arrived at another process, are missing from the path: then a query has fewer keys (docs/guides/record/opentelemetry.md, "When a
 * trace may count wrongly").
 */
import { traceSpansMax } from '../limits.js';
import { keyNames, type QueryKeys } from './query-identity.js';

export interface IndexedSpan {
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  /** Whether a server, or a consumer of messages, began its work with this span. */
  readonly isEntry: boolean;
  readonly service: string;
  /** The id that the application gave the query; undefined if none. So is `caller`. */
  readonly explicitId: string | undefined;
  readonly caller: string | undefined;
  /** The time of the query in milliseconds, if the span is one of a query. */
  readonly askedAt: number | undefined;
}

/** A query that has not been recorded by these keys yet. */
export interface IndexedQuery {
  readonly keys: QueryKeys;
  readonly caller: string | undefined;
  readonly askedAt: number;
  /** To be called when it is recorded. */
  readonly noteRecorded: () => void;
}

/** More than any real trace is deep. Bounds the time that a made-up one takes. */
const depthMax = 200;

export class TraceIndex {
  readonly #spansMax: number;
  readonly #traces = new Map<string, Trace>();
  #spans = 0;

  constructor(spansMax: number) {
    this.#spansMax = spansMax;
  }

  /** The trace, which is now the last one to be forgotten. `project` is a name for the project that no other one ever has. */
  open(project: string, traceId: string): Trace {
    const name = `${project}/${traceId}`;
    const trace = this.#traces.get(name) ?? new Trace(traceId);
    this.#traces.delete(name);
    this.#traces.set(name, trace);
    return trace;
  }

  add(trace: Trace, spanId: string, span: IndexedSpan): void {
    if (trace.add(spanId, span)) this.#spans++;
  }

  /** Forgets the oldest spans of these traces, and the oldest traces, beyond the limits. */
  trim(traces: Iterable<Trace>): void {
    for (const trace of traces) this.#spans -= trace.trim(traceSpansMax);
    for (const [name, oldest] of this.#traces) {
      if (this.#spans <= this.#spansMax) return;
      this.#traces.delete(name);
      this.#spans -= oldest.size;
    }
  }
}

export class Trace {
  readonly #traceId: string;
  readonly #spans = new Map<string, IndexedSpan>();
  /** The keys by which each span of a query was last recorded, by the span's id. */
  readonly #recorded = new Map<string, string>();

  constructor(traceId: string) {
    this.#traceId = traceId;
  }

  get size(): number {
    return this.#spans.size;
  }

  /** Returns whether the span is new. */
  add(spanId: string, span: IndexedSpan): boolean {
    const before = this.#spans.get(spanId);
    this.#spans.set(spanId, before === undefined ? span : merge(before, span));
    // A span that is sent again is recorded again, because only the store knows for certain what it has.
    this.#recorded.delete(spanId);
    return before === undefined;
  }

  /** Forgets the oldest spans beyond `spansMax`. Returns how many. */
  trim(spansMax: number): number {
    const forgotten = [...this.#spans.keys()].slice(0, Math.max(0, this.#spans.size - spansMax));
    for (const spanId of forgotten) {
      this.#spans.delete(spanId);
      this.#recorded.delete(spanId);
    }
    return forgotten.length;
  }

  /** The queries of which something is known that was not when they were recorded. */
  unrecorded(): IndexedQuery[] {
    const found: IndexedQuery[] = [];
    for (const [spanId, { askedAt }] of this.#spans) {
      if (askedAt === undefined) continue;
      const { keys, caller } = this.#trace(spanId);
      const known = keyNames(keys).join();
      if (this.#recorded.get(spanId) === known) continue;
      found.push({ keys, caller, askedAt, noteRecorded: () => void this.#recorded.set(spanId, known) });
    }
    return found;
  }

  /**
   * What the path from a span to the first one of its trace says. The nearest id and caller apply. The query begins at
   * the server span above the outermost span of a query: the server spans below that belong to sub-agents.
   */
  #trace(spanId: string): Pick<IndexedQuery, 'keys' | 'caller'> {
    let [explicitId, caller, entrySpanId, service]: (string | undefined)[] = [];
    let innerSpanIds: readonly string[] = [];
    const entries: string[] = [];
    let at = spanId;
    for (let depth = 0; depth < depthMax; depth++) {
      const span = this.#spans.get(at);
      if (span === undefined) break;
      service ??= span.service;
      explicitId ??= span.explicitId;
      caller ??= span.caller;
      if (span.askedAt !== undefined) {
        entrySpanId = undefined;
        innerSpanIds = entries.toReversed();
        service = span.service;
      }
      if (span.parentSpanId === '') break;
      if (span.isEntry) {
        entrySpanId ??= at;
        entries.push(at);
      }
      at = span.parentSpanId;
    }
    const keys = { explicitId, entrySpanId, innerSpanIds, traceId: this.#traceId, service: service ?? '' };
    return { keys, caller };
  }
}

/** What two records with the same id say together, whichever came first. */
function merge(one: IndexedSpan, other: IndexedSpan): IndexedSpan {
  const times = [one.askedAt, other.askedAt].filter((time) => time !== undefined);
  return {
    parentSpanId: one.parentSpanId || other.parentSpanId,
    isEntry: one.isEntry || other.isEntry,
    service: one.service || other.service,
    explicitId: one.explicitId ?? other.explicitId,
    caller: one.caller ?? other.caller,
    askedAt: times.length === 0 ? undefined : Math.min(...times),
  };
}
