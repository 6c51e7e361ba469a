/** VoltAgent, which has a tracer provider of its own beside that of the application. */
import { randomUUID } from 'node:crypto';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Agent, createTool, mocks, sdk, VoltAgentObservability } from 'caller-stats-sdk-tests-voltagent';
import { z } from 'zod';
import { modelsOf } from '../support/ai-models.mjs';
import { startTelemetry } from '../support/telemetry.mjs';

const provider = startTelemetry();
const processor = new BatchSpanProcessor(new OTLPTraceExporter());
const serviceName = 'docs-assistant';
const observability = new VoltAgentObservability({ serviceName, spanProcessors: [processor] });
const { model } = modelsOf('6', sdk, mocks);
const agent = (name, more) => new Agent({ name, instructions: 'Answer.', observability, ...more });
const search = createTool({
  name: 'search',
  description: 'Searches the docs',
  parameters: z.object({ query: z.string() }),
  execute: async () => 'npm install',
});
const call = (toolName, input) => ({ toolCallId: 'call-1', toolName, input: JSON.stringify(input) });

const ask = (one, options) => one.generateText('How do I install it?', options);

export const answer = () => ask(agent('docs', { model: model('Run npm.') }));

export const tools = () =>
  ask(agent('docs', { model: model(call('search', { query: 'install' }), 'Run npm.'), tools: [search] }));

export const stream = async () => {
  const { textStream } = await agent('docs', { model: model('Run npm install.') }).streamText('How?');
  for await (const _ of textStream);
};

export const subAgent = () => {
  const docs = agent('docs', { model: model('Run npm.') });
  const delegate = call('delegate_task', { task: 'How do I install it?', targetAgents: ['docs'] });
  return ask(agent('router', { model: model(delegate, 'Run npm.'), subAgents: [docs] }));
};

export const failing = () =>
  ask(agent('docs', { model: model(new Error('no quota')), maxRetries: 0 })).catch(() => {});

const readFirst = async (options, then = () => {}) => {
  const docs = agent('docs', { model: model('Run npm install in the folder of your project.') });
  const { textStream } = await docs.streamText('How do I install it?', options);
  for await (const _ of textStream) {
    then();
    break;
  }
};

/** The same message is posted twice. Without `parentSpan`, VoltAgent begins a trace of its own, which the id is not on. */
export const postedTwice = async () => {
  const attributes = { 'caller_stats.id': randomUUID() };
  for (const _ of [1, 2])
    await trace.getTracer('docs-assistant').startActiveSpan('question', { attributes }, async (span) => {
      await ask(agent('docs', { model: model('Run npm.') }), { parentSpan: span });
      span.end();
    });
};

/** The reader closes the page during the answer. */
export const interrupted = () => {
  const left = new AbortController();
  return readFirst({ abortSignal: left.signal }, () => left.abort());
};

/** The server stops reading the answer, without a signal. */
export const abandoned = () => readFirst({});

export const exportSpans = () => Promise.all([processor.forceFlush(), provider.forceFlush()]);
