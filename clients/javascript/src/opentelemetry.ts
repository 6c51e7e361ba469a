/** A span processor for OpenTelemetry that lets each span tell what its question is. It imports nothing, but gets what it needs. */

const NAMES = ['caller_stats.id', 'caller_stats.caller', 'caller_stats.ignore'];
const REQUEST = /^(http\.request\.header\.|user_agent\.original$|http\.user_agent$)/;

/** All copies of version 1 of OpenTelemetry's API find the span and the baggage of a context by these. */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');
const BAGGAGE = Symbol.for('OpenTelemetry Baggage Key');

type AttributeValue =
  | string
  | number
  | boolean
  | (string | null | undefined)[]
  | (number | null | undefined)[];
type Attributes = Readonly<Record<string, unknown>>;

/** What is used of OpenTelemetry's `Span`. */
interface StartedSpan {
  readonly attributes?: Attributes;
  spanContext(): { readonly spanId: string };
  setAttribute(name: string, value: AttributeValue): unknown;
}

/** Open spans that are kept. Some instrumentation never ends the spans of calls that fail. */
const openMax = 10_000;

/** What is used of its `Context`. */
interface SpanContext {
  getValue(key: symbol): unknown;
}

interface Baggage {
  getEntry(name: string): { readonly value: string } | undefined;
}

/**
 * Copies what tells the question of a span from the baggage, or else from the span above it: its id, its caller and whether it is to
 * be ignored, and of the request its captured headers and user agent. So a span counts alike if it arrives without those above
 * it. What a span says itself, stays. Name it before the processor that exports.
 */
export class QuestionSpanProcessor {
  /** By id: a context may have a wrapper of a span that hides its attributes, such as OpenInference's. */
  readonly #open = new Map<string, StartedSpan>();

  onStart(span: StartedSpan, context: SpanContext): void {
    const own = span.attributes ?? {};
    const parent = context.getValue(SPAN) as StartedSpan | undefined;
    const above = (parent && (this.#open.get(parent.spanContext().spanId) ?? parent).attributes) ?? {};
    const [oldest = ''] = this.#open.keys();
    if (this.#open.size >= openMax) this.#open.delete(oldest);
    this.#open.set(span.spanContext().spanId, span);
    const baggage = context.getValue(BAGGAGE) as Baggage | undefined;
    const inherit = (name: string, value: unknown): void => {
      if (own[name] === undefined && value !== undefined) span.setAttribute(name, value as AttributeValue);
    };
    for (const name of NAMES) inherit(name, baggage?.getEntry(name)?.value ?? above[name]);
    for (const [name, value] of Object.entries(above)) if (REQUEST.test(name)) inherit(name, value);
  }

  onEnd(span: Pick<StartedSpan, 'spanContext'>): void {
    this.#open.delete(span.spanContext().spanId);
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}
