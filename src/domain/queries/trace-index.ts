/**
 * The latest spans of each trace, in memory, so that a query can be traced to the span with which a server began to answer
 * it. Spans of one trace arrive over several requests, the inner ones mostly first. Spans that were forgotten, or that
 * arrived at another process, are missing from the path: then a query has fewer keys (docs/guides/record/opentelemetry.md, "When a
 * trace may count wrongly").
 */
import { traceSpansMax } from '../limits.js';
import { type IndexedSpan, Trace } from './trace.js';

/** The traces are a list, because the first entry of a map is found slowly when many before it were deleted. */
interface Opened {
  readonly name: string;
  readonly trace: Trace;
  before: Opened | undefined;
  after: Opened | undefined;
}

export class TraceIndex {
  readonly #bytesMax: number;
  readonly #traces = new Map<string, Opened>();
  /** The one that was opened first, and the one that was opened last. */
  #oldest: Opened | undefined;
  #newest: Opened | undefined;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The trace, which is now the last one to be forgotten. `project` is a name for the project that no other one ever has. */
  open(project: string, traceId: string): Trace {
    const name = `${project}/${traceId}`;
    let opened = this.#traces.get(name);
    if (opened === undefined) {
      opened = { name, trace: new Trace(traceId), before: undefined, after: undefined };
      this.#traces.set(name, opened);
      this.#bytes += opened.trace.bytes;
    } else this.#unlink(opened);
    opened.before = this.#newest;
    if (this.#newest === undefined) this.#oldest = opened;
    else this.#newest.after = opened;
    this.#newest = opened;
    return opened.trace;
  }

  #unlink(opened: Opened): void {
    const { before, after } = opened;
    if (before === undefined) this.#oldest = after;
    else before.after = after;
    if (after === undefined) this.#newest = before;
    else after.before = before;
    opened.before = opened.after = undefined;
  }

  /** Whether a trace has spans of queries, as far as they are known. */
  hasQueries(project: string, traceId: string): boolean {
    return this.#traces.get(`${project}/${traceId}`)?.trace.hasQueries ?? false;
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
    while (this.#oldest !== undefined && this.#bytes > this.#bytesMax) {
      const { name, trace } = this.#oldest;
      this.#unlink(this.#oldest);
      this.#traces.delete(name);
      this.#bytes -= trace.bytes;
    }
  }
}
