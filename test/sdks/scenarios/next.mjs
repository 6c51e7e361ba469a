/** A built Next application with `@vercel/otel`. Argument: the route, `chat6` or `chat7`, by the version of the AI SDK. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import next from 'next';

const route = process.argv[4];

/** Starts the application, gives the requests to it, and stops it. */
async function run(requests) {
  const app = next({ dev: false, dir: new URL('../next', import.meta.url).pathname, hostname: '127.0.0.1' });
  await app.prepare();
  const server = createServer(app.getRequestHandler());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  await requests(url);
  server.close();
  server.closeAllConnections();
}

/** Posts a message as `useChat` does. */
const ask = (url, { id = randomUUID(), headers = {}, ...more } = {}) =>
  fetch(`${url}/api/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      id: 'conversation-1',
      trigger: 'submit-message',
      messages: [{ id, role: 'user', parts: [{ type: 'text', text: 'How do I install it?' }] }],
      ...more,
    }),
  });

/** A page is opened, which asks nothing, and then one question. */
export const pageAndQuestion = () =>
  run(async (url) => {
    await (await fetch(url)).text();
    await (await ask(url)).text();
  });

/** All questions of a page continue the trace in which the page was loaded. */
export const sharedTraceparent = () =>
  run(async (url) => {
    const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
    for (const _ of [1, 2, 3]) await (await ask(url, { headers: { traceparent } })).text();
  });

export const postedTwice = () =>
  run(async (url) => {
    const id = randomUUID();
    for (const _ of [1, 2]) await (await ask(url, { id, withId: true })).text();
  });

/** The reader closes the page during the answer. */
export const interrupted = () =>
  run(async (url) => {
    const response = await ask(url);
    const reader = response.body.getReader();
    await reader.read();
    await reader.cancel();
  });
