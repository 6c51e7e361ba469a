/** The SDK of OpenTelemetry. An exporter that gives a batch up says so in the log of the application, which the ledger stands for. */
import { OTLPTraceExporter as Json } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as Protobuf } from '@opentelemetry/exporter-trace-otlp-proto';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { asked, run, write } from './ledger.mjs';

const { URL: url, KEY: key, PROTOCOL } = process.env;
const options = { url: `${url}/v1/traces`, headers: { authorization: `Bearer ${key}` } };
const exporter = PROTOCOL === 'json' ? new Json(options) : new Protobuf(options);
/** What has ended and was not exported yet. */
const waiting = new Set();
const tell = {
  export: (spans, done) =>
    exporter.export(spans, (result) => {
      const ids = spans.map(({ attributes }) => attributes['caller_stats.id']);
      for (const id of ids) waiting.delete(id);
      if (result.code !== 0) write('lost', ids, `the exporter gave up: ${result.error}`);
      done(result);
    }),
  forceFlush: () => exporter.forceFlush(),
  shutdown: () => exporter.shutdown(),
};
const provider = new BasicTracerProvider({
  spanProcessors: [new BatchSpanProcessor(tell, { scheduledDelayMillis: 1000 })],
});
const tracer = provider.getTracer('assistant');

run(
  () => {
    const ids = asked();
    for (const id of ids) {
      const attributes = { 'gen_ai.operation.name': 'chat', 'caller_stats.id': id };
      waiting.add(id);
      tracer.startSpan('chat', { attributes }).end();
    }
    write('kept', ids);
  },
  async () => {
    await provider.shutdown().catch(() => {});
    write('lost', [...waiting], 'the process ended before the exporter was done');
  },
);
