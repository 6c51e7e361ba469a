import {
  type Context,
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  type Span,
  trace,
} from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { QuestionSpanProcessor } from '../../clients/javascript/src/opentelemetry.js';

const request = {
  'user_agent.original': 'Mozilla/5.0',
  'http.request.header.origin': ['https://docs.example.com'],
};

function tracing() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new QuestionSpanProcessor(), new SimpleSpanProcessor(exporter)],
  });
  return { exporter, provider, tracer: provider.getTracer('test') };
}

const below = (parent: Context, span: Span) => trace.setSpan(parent, span);

test('a context without a span, or with one that is not recorded, tells nothing', () => {
  const { exporter, tracer } = tracing();
  const unrecorded = trace.wrapSpanContext({
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    traceFlags: 1,
  });
  const odd = ROOT_CONTEXT.setValue(createContextKey('OpenTelemetry Baggage Key'), undefined);
  for (const parent of [context.active(), below(ROOT_CONTEXT, unrecorded), odd])
    tracer.startSpan('alone', {}, parent).end();
  expect(exporter.getFinishedSpans().map(({ attributes }) => attributes)).toEqual([{}, {}, {}]);
});

test('each span has the id, the caller and the request of the one above, or of the baggage; its own stay', () => {
  const { exporter, tracer } = tracing();
  const baggage = propagation.createBaggage({ 'caller_stats.ignore': { value: 'true' } });
  const root = propagation.setBaggage(ROOT_CONTEXT, baggage);
  const server = tracer.startSpan(
    'server',
    { attributes: { ...request, 'caller_stats.id': 'm1', prompt: 'secret' } },
    root,
  );
  const agent = tracer.startSpan(
    'agent',
    { attributes: { 'caller_stats.caller': 'web' } },
    below(root, server),
  );
  tracer
    .startSpan('model', { attributes: { 'caller_stats.id': 'm2' } }, below(below(root, server), agent))
    .end();
  agent.end();
  server.end();
  const [model, middle] = exporter.getFinishedSpans().map(({ attributes }) => attributes);
  const inherited = { ...request, 'caller_stats.ignore': 'true', 'caller_stats.caller': 'web' };
  expect(middle).toEqual({ ...inherited, 'caller_stats.id': 'm1' });
  expect(model).toEqual({ ...inherited, 'caller_stats.id': 'm2' });
});

test('a wrapper of a span that hides its attributes tells them, until the span ends or 10,000 later ones are open', () => {
  const { exporter, tracer } = tracing();
  const attributes = { 'caller_stats.id': 'm1' };
  const start = () => {
    const span = tracer.startSpan('agent', { attributes });
    // As OpenInference's tracer puts it into the context.
    return { span, wrapper: trace.wrapSpanContext(span.spanContext()) };
  };
  const [open, forgotten, ended] = [start(), start(), start()];
  const idBelow = (wrapper: Span) => {
    tracer.startSpan('model', {}, below(ROOT_CONTEXT, wrapper)).end();
    return exporter.getFinishedSpans().at(-1)?.attributes['caller_stats.id'];
  };
  ended.span.end();
  expect([idBelow(open.wrapper), idBelow(ended.wrapper)]).toEqual(['m1', undefined]);
  for (let at = 0; at < 10_000; at++) tracer.startSpan('never ended');
  expect(idBelow(forgotten.wrapper)).toBeUndefined();
});
