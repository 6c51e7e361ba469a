/** The samples that no rule can count right, with what helps: each counts as it should once its application does as it is told. */
import { samples as all, type Sample, type TraceRequest } from './sdk-samples.js';

interface Sent {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes?: { readonly key: string; readonly value: { readonly stringValue: string } }[];
}

type Attributes = Readonly<Record<string, string>>;

interface Help {
  /** Changes the spans, in the order in which they were sent. */
  readonly change?: (spans: readonly Sent[]) => void;
  /** Starts a span with these attributes around all others. */
  readonly around?: Attributes;
  readonly settings?: Sample['settings'];
}

function add({ attributes = [], ...span }: Sent, more: Attributes): Sent {
  const added = Object.entries(more).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  return { ...span, attributes: [...attributes, ...added] };
}

const write = (span: Sent | undefined, more: Attributes) => span && Object.assign(span, add(span, more));
const isFirst = ({ parentSpanId }: Sent) => (parentSpanId ?? '') === '';
const isServer = ({ kind, name }: Sent) => kind === 2 && !/GET|get/.test(name);
const says = ({ attributes = [] }: Sent, name: string) => attributes.some(({ key }) => key === name);
const CALLER = 'caller_stats.caller';
const ID = 'caller_stats.id';
const ignored = { 'caller_stats.ignore': 'true' };
const origins = { otlpSiteOrigins: 'https://docs.example.com' };

/** Of the requests, the first one gets the first of these, and so on. */
function nameRequests(spans: readonly Sent[], ...more: readonly Attributes[]): void {
  for (const [at, attributes] of more.entries()) write(spans.filter(isServer)[at], attributes);
}

const HELP: Readonly<Record<string, Help>> = {
  'sdk-ant-tools': { around: {} },
  'gojava-genkit-noserver-multi': { around: {} },
  'py-litellm-script-tool': { around: {} },
  'py-autogen-script-handoff': { around: { [ID]: 'message-1' } },
  'sdk-li-withWorkflow': {
    change: (spans) => {
      for (const span of spans) write(span, { [`traceloop.association.properties.${CALLER}`]: 'slack' });
    },
  },
  'sdk-mcp-real-default': {
    settings: { otlpQuery: 'mcp.method.name=tools/call' },
    change: (spans) => {
      const header = { 'http.request.header.mcp-protocol-version': '2025-11-25' };
      const methods = ['initialize', 'notifications/initialized', 'tools/list', 'tools/call'];
      for (const [at, method] of methods.entries())
        write(spans[at], { ...header, 'mcp.method.name': method });
    },
  },
  'sdk-x7-valuelimit-ids': {
    change: (spans) => {
      for (const span of spans)
        span.attributes = (span.attributes ?? []).map((one) =>
          one.key.endsWith('messageId')
            ? { ...one, value: { stringValue: `conversation-${span.traceId}` } }
            : one,
        );
    },
  },
  'warm-up': { change: ([span]) => write(span, ignored) },
  'gojava-genkit-recipe-title': {
    settings: origins,
    change: (spans) =>
      write(
        spans.find((span) => isFirst(span) && span.name === 'generate'),
        ignored,
      ),
  },
  'py-oaagents-oi-recipe-title': {
    change: (spans) =>
      write(
        spans.find((span) => isFirst(span) && !says(span, ID)),
        ignored,
      ),
  },
  'gojava-openaigo-plain2': {
    settings: { otlpQuery: 'url.path=/ask' },
    change: (spans) => nameRequests(spans, { [CALLER]: 'web' }, { [CALLER]: 'api' }),
  },
  'gojava-springai-plain2': {
    change: (spans) => nameRequests(spans, { [CALLER]: 'web' }, { [CALLER]: 'api' }),
  },
  'py-anth-native-web-w-basic': {
    change: (spans) => {
      const page = { 'http.request.header.origin': 'https://docs.example.com' };
      nameRequests(spans, page, page);
    },
  },
  'py-hs-oi-plain-twice': {
    change: (spans) => {
      for (const span of spans.filter(isFirst)) write(span, { [ID]: 'message-1' });
    },
  },
  'py-lf-web-w-page': {
    change: (spans) => {
      for (const span of spans) write(span, { [`langfuse.trace.metadata.${CALLER}`]: 'web' });
    },
  },
  'py-oaagents-oi-plain-wrap': {
    change: (spans) => {
      const top = spans.find(isFirst)?.spanId;
      for (const span of spans.filter(({ parentSpanId }) => parentSpanId === top))
        write(span, { [ID]: span.spanId });
    },
  },
  'py-python-flask-stream-two-calls': {
    settings: origins,
    change: (spans) => {
      const requests = spans.filter(isServer);
      spans
        .filter((span) => !isServer(span))
        .forEach((call, at) => {
          const { traceId, spanId } = requests[Math.floor(at / 2)] ?? call;
          Object.assign(call, { traceId, parentSpanId: spanId });
        });
    },
  },
};

/** Those whose help is a code that runs otherwise have a row of it in `test/sdks/rows/scenarios.ts`. */
export const helpedSamples: readonly Sample[] = all
  .filter(({ unaided, setup }) => unaided !== undefined && !setup.includes(':'))
  .map(({ unaided, ...sample }) => {
    const help = HELP[sample.setup];
    if (help === undefined)
      throw new Error(`Nothing shows that this helps ${sample.setup}: ${unaided?.help}`);
    const requests = structuredClone(sample.requests) as TraceRequest[];
    const spans = requests.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans as unknown as Sent[])),
    );
    help.change?.(spans);
    if (help.around !== undefined) startAround(requests, spans, help.around);
    const settings = { ...sample.settings, ...help.settings };
    return { ...sample, setup: `${sample.setup}, helped: ${unaided?.help}`, settings, requests };
  });

function startAround(
  requests: readonly TraceRequest[],
  spans: readonly Sent[],
  attributes: Attributes,
): void {
  const [first] = spans;
  const list = requests[0]?.resourceSpans[0]?.scopeSpans[0]?.spans as unknown as Sent[] | undefined;
  if (first === undefined || list === undefined) throw new Error('A sample has spans.');
  const { traceId } = first;
  const spanId = 'f'.repeat(16);
  list.push(
    add(
      { ...first, traceId, spanId, parentSpanId: '', name: 'question', kind: 1, attributes: [] },
      attributes,
    ),
  );
  for (const span of spans) Object.assign(span, { traceId, ...(isFirst(span) && { parentSpanId: spanId }) });
}
