/** The OpenAI client, instrumented by `traceloop` or `openinference` (the argument). */
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { startTelemetry } from '../support/telemetry.mjs';

startTelemetry();
const [setup = 'traceloop'] = process.argv.slice(4);
const OpenAI = (await import(setup === 'traceloop' ? 'openai6' : 'openai')).default;
const { OpenAIInstrumentation } = await import(
  setup === 'traceloop'
    ? '@traceloop/instrumentation-openai'
    : '@arizeai/openinference-instrumentation-openai'
);
const instrumentation = new OpenAIInstrumentation();
// As both packages say for ES modules.
instrumentation.manuallyInstrument(OpenAI);
registerInstrumentations({ instrumentations: [instrumentation] });

const client = new OpenAI({ maxRetries: 1 });
const messages = [{ role: 'user', content: 'How do I install it?' }];
const model = 'gpt-test';

export const chat = () => client.chat.completions.create({ model, messages });

export const chatStream = async () => {
  for await (const _ of await client.chat.completions.create({ model, messages, stream: true }));
};

export const responses = () => client.responses.create({ model, input: 'How do I install it?' });

export const responsesStream = async () => {
  for await (const _ of await client.responses.create({
    model,
    input: 'How do I install it?',
    stream: true,
  }));
};

export const failing = () => client.chat.completions.create({ model: 'failing', messages }).catch(() => {});

export const interrupted = async () => {
  const stream = await client.chat.completions.create({ model, messages, stream: true });
  for await (const _ of stream) break;
};

/** A tool call and the answer: two calls of the model, and no span around them. */
export const tools = async () => {
  const tool = {
    type: 'function',
    function: { name: 'search', parameters: { type: 'object', properties: {} } },
  };
  const first = await client.chat.completions.create({ model, messages, tools: [tool] });
  const { message } = first.choices[0];
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'npm install' };
  await client.chat.completions.create({ model, messages: [...messages, message, result], tools: [tool] });
};

export const retrieval = async () => {
  await chat();
  await client.embeddings.create({ model, input: 'install' });
  await chatStream();
  await chat();
};
