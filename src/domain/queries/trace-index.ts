/**
 * The latest spans of each trace, in memory, so that a query can be traced to the span with which a server began to answer
 * it. Spans of one trace arrive over several requests, the inner ones mostly first. Spans that were forgotten, or that
 * arrived at another process, are missing from the path: then a query has fewer keys (docs/guides/record/opentelemetry.md, "When a
 * trace may count wrongly").
 */
import { traceSpansMax } from '../limits.js';
import { type IndexedSpan, Trace } from './trace.js';

export class TraceIndex {
  readonly #bytesMax: number;
  /** The one that was opened last is the last one. */
  readonly #traces = new Map<string, Trace>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The trace, which is now the last one to be forgotten. `project` is a name for the project that no other one ever has. */
  open(project: string, traceId: string): Trace {
    const name = `${project}/${traceId}`;
    let trace = this.#traces.get(name);
    if (trace === undefined) {
      trace = new Trace(traceId);
      this.#bytes += trace.bytes;
    }
    this.#traces.delete(name);
    this.#traces.set(name, trace);
    return trace;
  }

  /** Whether a trace has spans of queries, as far as they are known. */
  hasQueries(project: string, traceId: string): boolean {
    return this.#traces.get(`${project}/${traceId}`)?.hasQueries ?? false;
  }

  add(trace: Trace, spanId: string, span: IndexedSpan): void {
    const before = trace.bytes;
    trace.add(spanId, span);
    this.#bytes += trace.bytes - before;
  }

  /** Forgets the oldest spans of these traces, and the oldest traces, beyond the limits. */
  trim(traces: Iterable<Trace>): void {
    for (const trace of traces) {
      const before = trace.bytes;
      trace.trim(traceSpansMax);
      this.#bytes += trace.bytes - before;
    }
    for (const [name, oldest] of this.#traces) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#traces.delete(name);
      this.#bytes -= oldest.bytes;
    }
  }
}
