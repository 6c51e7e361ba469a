/** The middleware in the real frameworks. Route handlers of Next.js are plain functions and need no middleware. */
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import { recordQuestions as ofExpress } from '../../../client/src/express.js';
import { recordQuestions as ofFastify } from '../../../client/src/fastify.js';
import { recordQuestions as ofHono } from '../../../client/src/hono.js';
import { recordQuestions as ofNext } from '../../../client/src/next.js';
import type { Query } from '../../../client/src/query.js';

const rules = { siteOrigins: ['https://docs.example.com'] };

/** The part of a recorder that the middleware uses. */
function recorder() {
  const queries: Query[] = [];
  let flushes = 0;
  return {
    queries,
    flushes: () => flushes,
    record: (query: Query) => void queries.push(query),
    flush: () => {
      flushes++;
      return Promise.resolve(true);
    },
  };
}

type Ask = (path: string, headers?: Record<string, string>) => Promise<number>;

/** Frameworks with three routes: `/ask` is a question, `/other` is not, `/broken` fails. */
const frameworks: Readonly<Record<string, (options: ReturnType<typeof optionsFor>) => Promise<Ask>>> = {
  async Express(options) {
    const app = express();
    app.use(
      ofExpress<express.Request, express.Response>({
        ...options,
        isQuestion: (request) => request.path !== '/other',
      }),
    );
    app.get(['/ask', '/other'], (_, response) => void response.send('Because.'));
    app.get('/broken', (_, response) => void response.status(500).send('No.'));
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    return async (path, headers = {}) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      await response.text();
      return response.status;
    };
  },
  async Fastify(options) {
    const app = fastify();
    onTestFinished(() => app.close());
    app.register(
      ofFastify<fastify.FastifyRequest, fastify.FastifyReply>({
        ...options,
        isQuestion: (request) => request.url !== '/other',
      }),
    );
    app.get('/ask', async () => 'Because.');
    app.get('/other', async () => 'Because.');
    app.get('/broken', async () => fails());
    return async (path, headers = {}) => (await app.inject({ path, headers })).statusCode;
  },
  async Hono(options) {
    const app = new Hono();
    app.use(
      ofHono({
        ...options,
        isQuestion: ({ req }) => new URL(req.raw.url).pathname !== '/other',
      }),
    );
    app.get('/ask', (context) => context.text('Because.'));
    app.get('/other', (context) => context.text('Because.'));
    app.get('/broken', (context) => context.text('No.', 500));
    return async (path, headers = {}) => (await app.request(path, { headers })).status;
  },
  async Next(options) {
    const GET = ofNext(
      (request: Request) => new Response('Because.', { status: request.url.endsWith('broken') ? 500 : 200 }),
      {
        ...options,
        isQuestion: (request) => !request.url.endsWith('/other'),
      },
    );
    return async (path, headers = {}) =>
      (await GET(new Request(`http://docs.test${path}`, { headers }))).status;
  },
};

/** The options that every framework gets. */
const optionsFor = (to: ReturnType<typeof recorder>, id?: () => never) => ({
  recorder: to,
  rules,
  ...(id === undefined ? {} : { id }),
});

function fails(): never {
  throw new Error('it fails');
}

describe.each(Object.entries(frameworks))('%s', (_, start) => {
  test('other requests and failed responses are not recorded', async () => {
    const to = recorder();
    const ask = await start(optionsFor(to));
    expect([await ask('/other'), await ask('/broken')]).toEqual([200, 500]);
    expect(to.queries).toEqual([]);
  });

  test('a question is recorded with its caller, id and time', async () => {
    const to = recorder();
    const ask = await start(optionsFor(to));
    const before = Date.now();
    await ask('/ask', { origin: 'https://docs.example.com', 'x-request-id': 'request-1' });
    await ask('/ask', { 'x-slack-signature': 'v0=a' });
    await ask('/ask', { authorization: 'Bearer a' });
    expect(to.queries.map(({ caller }) => caller)).toEqual(['web', 'slack', 'api']);
    const [first, second, third] = to.queries.map(({ id }) => id);
    expect(first).toBe('request-1');
    expect(second).toMatch(/^[0-9a-f-]{36}$/);
    expect(third).not.toBe(second);
    for (const { occurredAt } of to.queries) {
      expect(Number(occurredAt)).toBeGreaterThan(before - 1000);
      expect(Number(occurredAt)).toBeLessThanOrEqual(Date.now());
    }
  });

  test('failing options do not affect the response, and the recorder reports the loss', async () => {
    const to = recorder();
    const ask = await start(optionsFor(to, fails));
    expect(await ask('/ask')).toBe(200);
    expect(to.queries).toMatchObject([{ id: '' }]);
  });
});

test('Hono on the edge is asked to wait until the query is sent', async () => {
  const to = recorder();
  const app = new Hono();
  app.use(ofHono({ recorder: to }));
  app.get('/ask', (context) => context.text('Because.'));
  const waited: unknown[] = [];
  const runtime = {
    waitUntil: (promise: unknown) => void waited.push(promise),
    passThroughOnException: () => {},
  };
  await app.fetch(new Request('http://docs.test/ask'), {}, { ...runtime, props: {} });
  expect([to.queries.length, to.flushes()]).toEqual([1, 1]);
  expect(await waited[0]).toBe(true);
});

test('Next.js runs the remaining work after the response', async () => {
  const to = recorder();
  const later: (() => Promise<unknown>)[] = [];
  const handler = (request: Request, { id }: { id: string }) => Response.json({ id, url: request.url });
  const POST = ofNext(handler, { recorder: to, after: (task) => void later.push(task) });
  const response = await POST(new Request('http://docs.test/ask', { method: 'POST' }), { id: 'page' });
  expect(await response.json()).toEqual({ id: 'page', url: 'http://docs.test/ask' });
  expect([to.queries.length, to.flushes(), later.length]).toEqual([1, 0, 1]);
  await later[0]?.();
  expect(to.flushes()).toBe(1);
});
