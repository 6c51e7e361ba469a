/** OpenTelemetry as an application sets it up: a tracer provider with the official exporter, configured by `OTEL_…`. */
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

/** How many spans have begun and not ended. */
let open = 0;
const counting = {
  onStart: () => void open++,
  onEnd: () => void open--,
  forceFlush: async () => {},
  shutdown: async () => {},
};

/** Waits until all spans have ended, such as those of the rest of a stream. Some never end. */
export async function spansEnded() {
  for (let waits = 0; open > 0 && waits < 200; waits++)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Next registers a provider of its own. */
export function startTelemetry(...processors) {
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [counting, ...processors, new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return provider;
}

export const exportSpans = () => trace.getTracerProvider().getDelegate().forceFlush();
