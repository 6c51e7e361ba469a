/** Programs with the code that the dashboard shows for a framework. */
import { snippets } from '../../../dashboard/src/format/snippets.js';

/** Prints what happened to the queries. */
export const SETTLE = 'await recorder.close(); console.log(recorder.stats.recorded);';

/** What code for a framework needs before it. */
export const MIDDLEWARE: Readonly<Record<string, string>> = {
  express:
    "import express from 'express'; const app = express(); const answer = (_request, response) => response.end();",
  fastify: "import fastify from 'fastify'; const app = fastify();",
  hono: "import { Hono } from 'hono'; const app = new Hono(); const answer = (context) => context.text('');",
  node: "import { createServer } from 'node:http'; const answer = (_request, response) => response.end();",
  fetch: 'const answer = () => new Response();',
};

/** Serves the code for a framework that the dashboard shows, and asks. */
export const served = {
  Express: `app.listen(0, '127.0.0.1', function () { ask('http://127.0.0.1:' + this.address().port + '/ask', () => this.close()); });`,
  Fastify: `app.post('/ask', async () => 'Because.');
    await app.listen({ port: 0, host: '127.0.0.1' });
    await ask('http://127.0.0.1:' + app.server.address().port + '/ask', () => app.close());`,
  'Next.js': `await ask({ send: (init) => POST(new Request('https://docs.example.com/ask', init)) }, () => Promise.all(tasks));`,
} as const;

/** Sends one message three times, and prints how many were recorded. */
export function snippetProgram(sender: keyof typeof served, origin: string, projectId: string): string {
  const code = snippets(sender, { origin, projectId, key: null }).at(-1)?.code;
  const before =
    MIDDLEWARE[sender.toLowerCase()] ??
    'const tasks = []; const after = (task) => tasks.push(task()); const answer = () => new Response();';
  return `${before}
  ${code?.replace("import { after } from 'next/server';", '')}
  async function ask(to, close) {
    const id = 'snippet of ${sender}';
    const body = JSON.stringify({ id, messages: [{ role: 'user', id }] });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    for (let times = 0; times < 3; times++) await (await (to.send?.(init) ?? fetch(to, init))).text();
    await close();
    ${SETTLE}
  }
  ${served[sender]}`;
}
