/** The AI SDK by Vercel. Argument: the version, `5`, `6`, `7` or `7-legacy`. */
import { randomUUID } from 'node:crypto';
import { trace } from '@opentelemetry/api';
import { z } from 'zod';
import { loadAiSdk } from '../support/ai-models.mjs';
import { startTelemetry } from '../support/telemetry.mjs';

startTelemetry();
const [setup = '7'] = process.argv.slice(4);
const [version] = setup.split('-');
const { sdk, model, embedding } = await loadAiSdk(version);
if (version === '7') {
  const { LegacyOpenTelemetry, OpenTelemetry } = await import('@ai-sdk/otel');
  // Writes the runtime context that a call includes; without it, version 7 has no way to tell the message.
  const options = { runtimeContext: true };
  sdk.registerTelemetry(setup === '7-legacy' ? new LegacyOpenTelemetry() : new OpenTelemetry(options));
}
/** Switches telemetry on, as the docs of each version say. */
const telemetry = (more = {}) =>
  version === '7' ? more : { experimental_telemetry: { isEnabled: true, ...more } };
const schema = z.object({ answer: z.string() });
const prompt = 'How do I install it?';
const call = { toolCallId: 'call-1', toolName: 'search', input: '{"query":"install"}' };
const search = sdk.tool({
  description: 'Searches the docs',
  inputSchema: z.object({ query: z.string() }),
  execute: async () => 'npm install',
});

export const generateText = () => sdk.generateText({ model: model('Run npm.'), prompt, ...telemetry() });

export const streamText = async () => {
  for await (const _ of sdk.streamText({ model: model('Run npm install.'), prompt, ...telemetry() })
    .textStream);
};

export const generateObject = () =>
  sdk.generateObject({ model: model('{"answer":"Run npm."}'), schema, prompt, ...telemetry() });

export const streamObject = async () => {
  for await (const _ of sdk.streamObject({
    model: model('{"answer":"Run npm."}'),
    schema,
    prompt,
    ...telemetry(),
  }).partialObjectStream);
};

/** One question that calls a tool and then answers: two steps. */
export const tools = () =>
  sdk.generateText({
    model: model(call, 'Run npm.'),
    tools: { search },
    stopWhen: sdk.stepCountIs(5),
    prompt,
    ...telemetry(),
  });

/** Twenty questions of ten steps, each of which has the documents again. */
export const tenSteps = async () => {
  const documents = 'x'.repeat(60_000);
  for (let question = 0; question < 20; question++)
    await sdk.generateText({
      model: model(...Array(9).fill(call), 'Run npm.'),
      tools: { search },
      stopWhen: sdk.stepCountIs(10),
      prompt: `${prompt} ${documents}`,
      ...telemetry(),
    });
};

const Agent = sdk.ToolLoopAgent ?? sdk.Experimental_Agent;

export const agent = async () => {
  const assistant = new Agent({
    model: model(call, 'Run npm.'),
    tools: { search },
    stopWhen: sdk.stepCountIs(5),
    ...telemetry({ functionId: 'docs-assistant' }),
  });
  for await (const _ of (await assistant.stream({ prompt })).textStream);
};

/** The tool of one agent runs another. */
export const subAgent = async () => {
  const reader = new Agent({ model: model('npm install'), ...telemetry({ functionId: 'reader' }) });
  const read = sdk.tool({
    description: 'Reads a page',
    inputSchema: z.object({ query: z.string() }),
    execute: async ({ query }) => (await reader.generate({ prompt: query })).text,
  });
  const assistant = new Agent({
    model: model(call, 'Run npm.'),
    tools: { search: read },
    stopWhen: sdk.stepCountIs(5),
    ...telemetry({ functionId: 'docs-assistant' }),
  });
  await assistant.generate({ prompt });
};

export const embed = () => sdk.embed({ model: embedding, value: prompt, ...telemetry() });

/** The reader closes the page during the answer. */
export const interrupted = async () => {
  const controller = new AbortController();
  const result = sdk.streamText({
    model: model('Run npm install in the folder of your project and then wait.'),
    prompt,
    abortSignal: controller.signal,
    ...telemetry(),
  });
  let parts = 0;
  try {
    for await (const _ of result.textStream) if (++parts === 3) controller.abort();
  } catch {}
};

/** The server stops reading the answer, without a signal. */
export const abandoned = async () => {
  const result = sdk.streamText({
    model: model('Run npm install in the folder of your project.'),
    prompt,
    ...telemetry(),
  });
  const reader = result.textStream.getReader();
  await reader.read();
  await reader.cancel();
};

/** The model's provider fails, and each retry, too. */
export const failing = () =>
  sdk
    .generateText({ model: model(new Error('no quota')), prompt, maxRetries: 1, ...telemetry() })
    .catch(() => {});

/** The application says which message it answers, in the way that each version has for it. */
export const withMessageId = (messageId = randomUUID()) =>
  sdk.generateText({ model: model('Run npm.'), prompt, ...identified(messageId) });

const identified = (messageId) =>
  version === '7'
    ? { runtimeContext: { messageId }, telemetry: { includeRuntimeContext: { messageId: true } } }
    : telemetry({ metadata: { messageId } });

/** The same message is posted twice, as by a retry of the browser. */
export const postedTwice = async () => {
  const messageId = randomUUID();
  for (const _ of [1, 2]) await withMessageId(messageId);
};

/** The browser runs a tool itself and posts the message again with the result. */
export const clientTool = async () => {
  const messageId = randomUUID();
  const tools = { locate: sdk.tool({ description: 'Asks the browser', inputSchema: z.object({}) }) };
  const locate = { toolCallId: 'call-1', toolName: 'locate', input: '{}' };
  await sdk.generateText({ model: model(locate), tools, prompt, ...identified(messageId) });
  await sdk.generateText({ model: model('Run npm.'), tools, prompt, ...identified(messageId) });
};

/** Retrieval: rewrite the question, embed it, answer, and name the conversation. */
const retrieve = async (more) => {
  const rewrite = await sdk.generateText({ model: model('install'), prompt, ...more });
  await sdk.embed({ model: embedding, value: rewrite.text, ...more });
  for await (const _ of sdk.streamText({ model: model('Run npm install.'), prompt, ...more }).textStream);
  await sdk.generateText({ model: model('Installing'), prompt, ...more });
};

export const retrieval = () => retrieve(telemetry());

/** The help for an application without a span around its steps: the same id on each of them. */
export const retrievalWithId = () => retrieve(identified(randomUUID()));

/** The other help: a span around them. */
export const retrievalInSpan = () =>
  trace.getTracer('docs-assistant').startActiveSpan('question', async (span) => {
    await retrieve(telemetry());
    span.end();
  });
