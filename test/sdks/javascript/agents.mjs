/** The OpenAI Agents SDK, instrumented by the package that the variable SETUP names. */
import * as agents from '@openai/agents';
import { z } from 'zod';
import { answers, search } from './scenarios.mjs';

const { OpenAIAgentsInstrumentation } = await import(process.env.SETUP);
new OpenAIAgentsInstrumentation().manuallyInstrument(agents);

const searching = agents.tool({
  name: 'search',
  description: 'Searches the docs',
  parameters: z.object({ query: z.string() }),
  execute: search,
});
const agent = (more) =>
  new agents.Agent({ name: 'docs', model: 'gpt-5-mini', instructions: 'Answer.', ...more });
const run = async (question, more) => (await agents.run(agent(more), question)).finalOutput;

async function* stream(question) {
  const result = await agents.run(agent(), question, { stream: true });
  yield* result.toTextStream();
  await result.completed;
}

export const answer = answers({
  ask: (question) => run(question),
  stream,
  tool: (question) => run(question, { tools: [searching] }),
  team: (question) =>
    run(question, { handoffs: [new agents.Agent({ name: 'reader', model: 'gpt-5-mini' })] }),
});
