/** OpenAI's client, instrumented by the package that the variable SETUP names. Two agents are two calls. */
import { answers, search } from './scenarios.mjs';

const setup = process.env.SETUP;
// OpenLLMetry does not know the newest version.
const { default: OpenAI } = await import(setup.startsWith('@traceloop/') ? 'openai6' : 'openai');
const { OpenAIInstrumentation } = await import(setup);
new OpenAIInstrumentation().manuallyInstrument(OpenAI);

const client = new OpenAI();
const model = 'gpt-5-mini';
const tools = [
  { type: 'function', function: { name: 'search', parameters: { type: 'object', properties: {} } } },
];
const said = (content) => [{ role: 'user', content }];
const complete = async (messages, more) =>
  (await client.chat.completions.create({ model, messages, ...more })).choices[0].message;

const ask = async (question) => (await complete(said(question))).content;

async function* stream(question) {
  for await (const { choices } of await client.chat.completions.create({
    model,
    messages: said(question),
    stream: true,
  }))
    yield choices[0]?.delta.content ?? '';
}

async function tool(question) {
  const first = await complete(said(question), { tools });
  const result = { role: 'tool', tool_call_id: first.tool_calls[0].id, content: await search() };
  return (await complete([...said(question), first, result], { tools })).content;
}

const team = async (question) => ask(`Answer: ${await ask(`Rewrite: ${question}`)}`);

export const answer = answers({ ask, stream, tool, team });
