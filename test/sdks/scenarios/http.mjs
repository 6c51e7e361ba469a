/**
 * A server whose requests are spans, as OpenTelemetry's instrumentation of HTTP makes them. Argument: what answers: the AI
 * SDK `5`, `6`, `7`, `7-legacy`, or `traceloop`, `openinference` for the OpenAI client.
 */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';

registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });
// The instrumentation sees what is required.
const { createServer } = createRequire(import.meta.url)('node:http');

const setup = process.argv[4];
const isOpenAi = setup === 'traceloop' || setup === 'openinference';
const scenarios = await import(isOpenAi ? './openai.mjs' : './ai-sdk.mjs');

/** Starts the server, sends these requests one after another, and stops it. */
async function answer(operation, requests) {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    await scenarios[operation](request.headers['x-message-id']);
    response.end('Run npm install.');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/api/chat`;
  for (const headers of requests) await (await fetch(url, { method: 'POST', body: 'How?', headers })).text();
  server.close();
  server.closeAllConnections();
}

/** Rewrite, embed, answer, title: several model calls in one request. */
export const retrieval = () => answer('retrieval', [{}]);

export const tools = () => answer('tools', [{}]);

/** All questions of a page continue the trace in which the page was loaded. */
export const sharedTraceparent = () => {
  const hex = randomUUID().replaceAll('-', '');
  const headers = { traceparent: `00-${hex}-${hex.slice(16)}-01` };
  return answer('streamText', [headers, headers, headers]);
};

/** The browser posts the same message again. */
export const postedTwice = () => {
  const headers = { 'x-message-id': randomUUID() };
  return answer('withMessageId', [headers, headers]);
};
