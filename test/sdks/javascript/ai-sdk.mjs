/** The AI SDK, version 7. */
import { createOpenAI } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { tool as makeTool, registerTelemetry, stepCountIs, streamText } from 'ai';
import { z } from 'zod';
import { answers, search } from './scenarios.mjs';

registerTelemetry(new OpenTelemetry());
const model = createOpenAI().chat('gpt-5-mini');
const inputSchema = z.object({ query: z.string() });
const searching = makeTool({ description: 'Searches the docs', inputSchema, execute: search });
const asking = makeTool({
  description: 'Asks another agent',
  inputSchema,
  execute: ({ query }) => ask(query),
});

const run = (prompt, tools) => streamText({ model, prompt, tools, stopWhen: stepCountIs(3) });
const ask = (question) => run(question).text;

export const answer = answers({
  ask,
  stream: (question) => run(question).textStream,
  tool: (question) => run(question, { search: searching }).text,
  team: (question) => run(question, { ask: asking }).text,
});
