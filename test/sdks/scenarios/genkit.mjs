/** Genkit, which needs version 1 of OpenTelemetry's SDK. */
import { createRequire } from 'node:module';
import openAI from '@genkit-ai/compat-oai/openai';
import { genkit, z } from 'genkit';
import { enableTelemetry, flushTracing } from 'genkit/tracing';

const requireOfGenkit = createRequire(createRequire(import.meta.url).resolve('@genkit-ai/core'));
const { OTLPTraceExporter } = requireOfGenkit('@opentelemetry/exporter-trace-otlp-http');
const { BatchSpanProcessor } = requireOfGenkit('@opentelemetry/sdk-trace-base');
const { envDetectorSync } = requireOfGenkit('@opentelemetry/resources');

await enableTelemetry({
  resource: envDetectorSync.detect(),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
const baseURL = process.env['OPENAI_BASE_URL'];
const ai = genkit({ plugins: [openAI({ apiKey: 'none', baseURL, maxRetries: 0 })] });
const model = openAI.model('gpt-4o');
const prompt = 'How do I install it?';
const search = ai.defineTool(
  { name: 'search', description: 'Searches the docs', inputSchema: z.object({ query: z.string() }) },
  async () => 'npm install',
);
const embedder = openAI.embedder('text-embedding-3-small');

export const generate = () => ai.generate({ model, prompt });

export const stream = async () => {
  for await (const _ of ai.generateStream({ model, prompt }).stream);
};

export const tools = () => ai.generate({ model, prompt, tools: [search] });

export const embed = () => ai.embed({ embedder, content: prompt });

/** Rewrite, embed and answer, in a flow. */
export const flow = ai.defineFlow('answer', async () => {
  await generate();
  await embed();
  await generate();
});

export const failing = () => ai.generate({ model, prompt, config: { version: 'failing' } }).catch(() => {});

/** The reader closes the page during the answer. */
export const interrupted = async () => {
  const left = new AbortController();
  const answer = ai.generateStream({ model, prompt, abortSignal: left.signal });
  const ended = answer.response.catch(() => {});
  try {
    for await (const _ of answer.stream) left.abort();
  } catch {}
  await ended;
};

export const exportSpans = flushTracing;
