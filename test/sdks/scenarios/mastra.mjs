/** Mastra, whose own exporter sends the spans. */
import { randomUUID } from 'node:crypto';
import { createOpenAI } from '@ai-sdk/openai';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import { OtelExporter } from '@mastra/otel-exporter';
import { z } from 'zod';

const env = process.env;
const [, authorization] = decodeURIComponent(env['OTEL_EXPORTER_OTLP_HEADERS']).split('=');
const custom = {
  endpoint: `${env['OTEL_EXPORTER_OTLP_ENDPOINT']}/v1/traces`,
  protocol: 'http/json',
  headers: { authorization },
};
const serviceName = 'docs-assistant';
const observability = new Observability({
  configs: { otel: { serviceName, exporters: [new OtelExporter({ provider: { custom } })] } },
});

const model = createOpenAI().chat('gpt-test');
const agent = (name, more = {}) => new Agent({ id: name, name, instructions: 'Answer.', model, ...more });
const search = createTool({
  id: 'search',
  description: 'Searches the docs',
  inputSchema: z.object({ query: z.string() }),
  execute: async () => 'npm install',
});
const agents = {
  docs: agent('docs'),
  searching: agent('searching', { tools: { search } }),
  failing: agent('failing', { model: createOpenAI().chat('failing'), maxRetries: 0 }),
  router: agent('router', { agents: { docs: agent('docs') } }),
};
const mastra = new Mastra({ agents, logger: false, observability });

const ask = (name, options) => mastra.getAgent(name).generate('How do I install it?', options);

export const answer = () => ask('docs');

export const tools = () => ask('searching');

export const subAgent = () => ask('router');

export const stream = async () => {
  const { textStream } = await mastra.getAgent('docs').stream('How do I install it?');
  for await (const _ of textStream);
};

export const failing = () => ask('failing').catch(() => {});

/** The same message is posted twice, as by a retry of the browser. */
export const postedTwice = async () => {
  const tracingOptions = { metadata: { messageId: randomUUID() } };
  for (const _ of [1, 2]) await ask('docs', { tracingOptions });
};

/** The reader closes the page during the answer. */
export const interrupted = async () => {
  const left = new AbortController();
  const options = { abortSignal: left.signal };
  const { textStream } = await mastra.getAgent('docs').stream('How do I install it?', options);
  for await (const _ of textStream) {
    left.abort();
    break;
  }
};

export const exportSpans = () => observability.flush();
