/** LangChain, instrumented by the package that the variable SETUP names. */
import * as callbacks from '@langchain/core/callbacks/manager';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool as makeTool } from 'langchain';
import { z } from 'zod';
import { answers, search } from './scenarios.mjs';

const setup = process.env.SETUP;
// Otherwise the spans of answers at the same time get into each other's traces, as the recipe says.
process.env.LANGCHAIN_CALLBACKS_BACKGROUND = 'false';
const { LangChainInstrumentation } = await import(setup);
new LangChainInstrumentation().manuallyInstrument(
  setup.startsWith('@traceloop/') ? { callbackManagerModule: callbacks } : callbacks,
);

const model = new ChatOpenAI({ model: 'gpt-5-mini' });
const schema = z.object({ query: z.string() });
const searching = makeTool(search, { name: 'search', description: 'Searches the docs', schema });
const asking = makeTool(({ query }) => ask(query), {
  name: 'ask',
  description: 'Asks another agent',
  schema,
});

const messages = (content) => ({ messages: [{ role: 'user', content }] });
const run = async (question, ...tools) =>
  (await createAgent({ model, tools }).invoke(messages(question))).messages.at(-1).text;
const ask = (question) => run(question);

async function* stream(question) {
  for await (const { text } of await model.stream(question)) yield text;
}

export const answer = answers({
  ask,
  stream,
  tool: (question) => run(question, searching),
  team: (question) => run(question, asking),
});
