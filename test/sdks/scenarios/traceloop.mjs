/** OpenLLMetry: Traceloop's SDK, which sets OpenTelemetry up itself, with the OpenAI client. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import * as traceloop from '@traceloop/node-server-sdk';
import OpenAI from 'openai6';

traceloop.initialize({
  appName: 'docs-assistant',
  exporter: new OTLPTraceExporter(),
  instrumentModules: { openAI: OpenAI },
  silenceInitializationMessage: true,
  traceloopSyncEnabled: false,
  telemetryEnabled: false,
});
const client = new OpenAI();
const answer = () =>
  client.chat.completions.create({ model: 'gpt-test', messages: [{ role: 'user', content: 'How?' }] });

export const call = answer;

export const workflow = () =>
  traceloop.withWorkflow({ name: 'question' }, async () => {
    await traceloop.withTask({ name: 'rewrite' }, answer);
    await traceloop.withAgent({ name: 'answer' }, answer);
  });
