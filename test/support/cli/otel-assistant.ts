/**
 * An assistant instrumented with OpenTelemetry, configured only by OpenTelemetry's own environment variables. It answers
 * the number of questions in its argument, exports everything and ends.
 */
import { type Context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { OTLPLogExporter as JsonLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

const isJson = process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] === 'http/json';
const resource = detectResources({ detectors: [envDetector] });
// Small batches, so that the spans of one question arrive in several.
const batches = { maxExportBatchSize: 16, maxQueueSize: 10_000, scheduledDelayMillis: 60_000 };
const tracers = new BasicTracerProvider({
  resource,
  spanProcessors: [
    new BatchSpanProcessor(isJson ? new JsonTraceExporter() : new ProtobufTraceExporter(), batches),
  ],
});
const loggers = new LoggerProvider({
  resource,
  processors: [
    new BatchLogRecordProcessor({
      exporter: isJson ? new JsonLogExporter() : new ProtobufLogExporter(),
      ...batches,
    }),
  ],
});
const tracer = tracers.getTracer('assistant');
const logger = loggers.getLogger('assistant');

/** A span of a GenAI operation, and what happens inside it. */
function operation(name: string, parent: Context, inside: (context: Context) => void = () => {}): void {
  const attributes = { 'gen_ai.operation.name': name, 'gen_ai.conversation.id': 'conversation' };
  const span = tracer.startSpan(name, { attributes, kind: SpanKind.INTERNAL }, parent);
  const context = trace.setSpan(parent, span);
  inside(context);
  logger.emit({
    eventName: 'gen_ai.client.inference.operation.details',
    attributes: { ...attributes, 'gen_ai.input.messages': 'a secret question' },
    context,
  });
  span.end();
}

function answerQuestion(): void {
  const attributes = {
    'http.route': '/api/ask',
    'http.request.header.origin': ['https://docs.example.com'],
    'user_agent.original': 'Mozilla/5.0',
  };
  const span = tracer.startSpan('POST /api/ask', { attributes, kind: SpanKind.SERVER }, ROOT_CONTEXT);
  operation('invoke_agent', trace.setSpan(ROOT_CONTEXT, span), (agent) => {
    operation('chat', agent);
    operation('execute_tool', agent, (tool) => {
      operation('invoke_agent', tool, (subAgent) => operation('chat', subAgent));
    });
    // The first answer was truncated.
    operation('chat', agent);
  });
  span.end();
}

for (let question = 0; question < Number(process.argv[2]); question++) answerQuestion();
await Promise.all([tracers.forceFlush(), loggers.forceFlush()]);
await Promise.all([tracers.shutdown(), loggers.shutdown()]);
