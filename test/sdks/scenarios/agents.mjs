/** The OpenAI Agents SDK for TypeScript, exported by OpenInference's instrumentation. Argument: `chat` or `responses`. */

import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents';
import * as agents from '@openai/agents';
import { z } from 'zod';
import { startTelemetry } from '../support/telemetry.mjs';

const tracerProvider = startTelemetry();
const [api = 'responses'] = process.argv.slice(4);
agents.setOpenAIAPI(api === 'chat' ? 'chat_completions' : 'responses');
new OpenAIAgentsInstrumentation({ tracerProvider }).manuallyInstrument(agents);

const { Agent, run, tool } = agents;
const search = tool({
  name: 'search',
  description: 'Searches the docs',
  parameters: z.object({ query: z.string() }),
  execute: async () => 'npm install',
});
const options = { instructions: 'Answer from the docs.', model: 'gpt-test' };

export const answer = () => run(new Agent({ name: 'docs', ...options }), 'How do I install it?');

export const tools = () =>
  run(new Agent({ name: 'docs', ...options, tools: [search] }), 'How do I install it?');

export const stream = async () => {
  const result = await run(new Agent({ name: 'docs', ...options, tools: [search] }), 'How do I install it?', {
    stream: true,
  });
  for await (const _ of result.toTextStream());
  await result.completed;
};

export const handoff = async () => {
  const reader = new Agent({ name: 'reader', ...options });
  await run(new Agent({ name: 'docs', ...options, handoffs: [reader] }), 'How do I install it?');
};

export const subAgent = () => {
  const reader = new Agent({ name: 'reader', ...options });
  const asTool = reader.asTool({ toolName: 'read', toolDescription: 'Reads' });
  return run(new Agent({ name: 'docs', ...options, tools: [asTool] }), 'How do I install it?');
};

export const failing = () =>
  run(new Agent({ name: 'docs', ...options, model: 'failing' }), 'How?').catch(() => {});

export const withGroup = () =>
  run(new Agent({ name: 'docs', ...options }), 'How do I install it?', {
    workflowName: 'docs-assistant',
    groupId: 'conversation-1',
    traceMetadata: { messageId: 'msg-17' },
  });

/** Two runs that the application wraps in one trace. */
export const wrapped = () =>
  agents.withTrace('question', async () => {
    await answer();
    await answer();
  });
