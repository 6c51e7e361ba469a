/** Langfuse's SDK, whose span processor adds metadata to the spans that another one exports. */
import { randomUUID } from 'node:crypto';
import { observeOpenAI } from '@langfuse/openai';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { propagateAttributes, startActiveObservation } from '@langfuse/tracing';
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import OpenAI from 'openai';
import { startTelemetry } from '../support/telemetry.mjs';

startTelemetry(new LangfuseSpanProcessor({ exporter: new InMemorySpanExporter() }));
const openai = observeOpenAI(new OpenAI({ maxRetries: 0 }));
const question = { role: 'user', content: 'How do I install it?' };

export const chat = (model = 'gpt-test') => openai.chat.completions.create({ model, messages: [question] });

export const embed = () => openai.embeddings.create({ model: 'gpt-test', input: 'How do I install it?' });

const inAgent = (steps) => startActiveObservation('docs-assistant', steps, { asType: 'agent' });

/** Rewrite, embed and answer, in an observation of type agent. */
const retrieve = async () => {
  await chat();
  await embed();
  await chat();
};

export const agent = () => inAgent(retrieve);

export const failing = () => inAgent(() => chat('failing')).catch(() => {});

export const postedTwice = async () => {
  const metadata = { messageId: randomUUID() };
  for (const _ of [1, 2]) await propagateAttributes({ metadata }, agent);
};
