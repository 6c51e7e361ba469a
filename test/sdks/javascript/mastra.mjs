/** Mastra, whose runs of agents are below the span of the request. Its own exporter sends their spans. */
import { createOpenAI } from '@ai-sdk/openai';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import { OtelExporter } from '@mastra/otel-exporter';
import { trace } from '@opentelemetry/api';
import { z } from 'zod';
import { answers, search } from './scenarios.mjs';

const env = process.env;
const [, authorization] = decodeURIComponent(env.OTEL_EXPORTER_OTLP_HEADERS).split('=');
const custom = {
  endpoint: `${env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
  protocol: 'http/json',
  headers: { authorization },
};
const observability = new Observability({
  configs: {
    otel: { serviceName: env.OTEL_SERVICE_NAME, exporters: [new OtelExporter({ provider: { custom } })] },
  },
});
process.once('SIGTERM', () => observability.shutdown());

const model = createOpenAI().chat('gpt-5-mini');
const inputSchema = z.object({ query: z.string() });
const tools = {
  search: createTool({ id: 'search', description: 'Searches the docs', inputSchema, execute: search }),
};
const agent = (id, more = {}) =>
  new Agent({ id, name: id, description: id, instructions: 'Answer.', model, maxRetries: 2, ...more });
const agents = {
  docs: agent('docs'),
  searching: agent('searching', { tools }),
  router: agent('router', { agents: { docs: agent('docs') } }),
};
const mastra = new Mastra({ agents, logger: false, observability });

function underRequest() {
  const { traceId, spanId } = trace.getActiveSpan()?.spanContext() ?? {};
  return { tracingOptions: { traceId, parentSpanId: spanId } };
}
const run = async (name, question) => (await mastra.getAgent(name).generate(question, underRequest())).text;

async function* stream(question) {
  yield* (await mastra.getAgent('docs').stream(question, underRequest())).textStream;
}

export const answer = answers({
  ask: (question) => run('docs', question),
  stream,
  tool: (question) => run('searching', question),
  team: (question) => run('router', question),
});
