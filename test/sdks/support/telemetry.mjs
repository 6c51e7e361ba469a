/** OpenTelemetry as an application sets it up: a tracer provider with the official exporter, configured by `OTEL_…`. */
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

/** Next registers a provider of its own. */
export function startTelemetry(...processors) {
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [...processors, new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return provider;
}

export const exportSpans = () => trace.getTracerProvider().getDelegate().forceFlush();
