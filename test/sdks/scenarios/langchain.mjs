/** LangChain for JavaScript, instrumented by `openinference`, `traceloop` or `langsmith` (the argument). */
import * as callbacks from '@langchain/core/callbacks/manager';
import { StringOutputParser } from '@langchain/core/output_parsers';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { trace } from '@opentelemetry/api';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { startTelemetry } from '../support/telemetry.mjs';

const provider = startTelemetry();
const [setup = 'openinference'] = process.argv.slice(4);
if (setup === 'langsmith') {
  const { initializeOTEL } = await import('langsmith/experimental/otel/setup');
  initializeOTEL({ globalTracerProvider: provider, skipGlobalContextManagerSetup: true });
} else {
  const { LangChainInstrumentation } = await import(
    setup === 'openinference'
      ? '@arizeai/openinference-instrumentation-langchain'
      : '@traceloop/instrumentation-langchain'
  );
  const instrumentation = new LangChainInstrumentation();
  instrumentation.manuallyInstrument(
    setup === 'openinference' ? callbacks : { callbackManagerModule: callbacks },
  );
}
const model = new ChatOpenAI({ model: 'gpt-test', maxRetries: 0 });
const question = 'How do I install it?';

export const call = () => model.invoke(question);

export const chain = () =>
  ChatPromptTemplate.fromTemplate('Answer: {question}')
    .pipe(model)
    .pipe(new StringOutputParser())
    .invoke({ question });

export const chainStream = async () => {
  const all = ChatPromptTemplate.fromTemplate('Answer: {question}')
    .pipe(model)
    .pipe(new StringOutputParser());
  for await (const _ of await all.stream({ question }));
};

/** In a function that LangSmith traces, as its documentation says. */
export const traced = async () => {
  const { traceable } = await import('langsmith/traceable');
  await traceable(chain, { name: 'question', metadata: { messageId: 'msg-17' } })(question);
};

const search = tool(async () => 'npm install', {
  name: 'search',
  description: 'Searches the docs',
  schema: z.object({ query: z.string() }),
});

export const agent = () =>
  createAgent({ model, tools: [search] }).invoke({ messages: [{ role: 'user', content: question }] });

/** What to do where the spans of an agent have no common parent. */
export const agentInSpan = () =>
  trace.getTracer('docs-assistant').startActiveSpan('question', async (span) => {
    await agent();
    span.end();
  });

export const failing = () =>
  new ChatOpenAI({ model: 'failing', maxRetries: 0 }).invoke(question).catch(() => {});

export const withMetadata = () =>
  createAgent({ model, tools: [search] }).invoke(
    { messages: [{ role: 'user', content: question }] },
    { runName: 'docs-assistant', metadata: { messageId: 'msg-17', thread_id: 'conversation-1' } },
  );

export const retrieval = async () => {
  await call();
  await new OpenAIEmbeddings({ model: 'gpt-test' }).embedQuery(question);
  await chainStream();
  await call();
};
