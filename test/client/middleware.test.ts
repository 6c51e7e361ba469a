/** The middleware in the real frameworks, in this process. `test/program/client/frameworks.test.ts` runs it on real servers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import express from 'express';
import fastify from 'fastify';
import { type Context, Hono } from 'hono';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { recordQuestions as ofExpress } from '../../client/src/middleware/express.js';
import { recordQuestions as ofFastify } from '../../client/src/middleware/fastify.js';
import { recordQuestions as ofFetch } from '../../client/src/middleware/fetch.js';
import { recordQuestions as ofHono } from '../../client/src/middleware/hono.js';
import { recordQuestions as ofNext } from '../../client/src/middleware/next.js';
import { recordQuestions as ofNode } from '../../client/src/middleware/node.js';
import type { Query } from '../../client/src/query.js';
import { startHttpServer } from '../support/http-server.js';

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

interface Options {
  readonly recorder: ReturnType<typeof recorder>;
  readonly rules: typeof rules;
  /** The options of the middleware get a function that reads the JSON of the body. */
  readonly isQuestion?: (body: () => Promise<Body>, path: string) => boolean | Promise<boolean>;
  readonly id?: (body: () => Promise<Body>) => string | undefined | Promise<string | undefined>;
  readonly caller?: (body: () => Promise<Body>) => string | undefined | Promise<string | undefined>;
}

interface Body {
  readonly id?: string;
  readonly caller?: string;
}

type Ask = (path: string, init?: RequestInit) => Promise<number>;

/** Turns the options into those of a framework. */
function adapt<Context extends readonly unknown[]>(
  { isQuestion = (_, path) => path !== '/other', id, caller, ...rest }: Options,
  bodyOf: (...context: Context) => Promise<Body>,
  pathOf: (...context: Context) => string,
) {
  return {
    ...rest,
    isQuestion: (...context: Context) => isQuestion(() => bodyOf(...context), pathOf(...context)),
    ...(id && { id: (...context: Context) => id(() => bodyOf(...context)) }),
    ...(caller && { caller: (...context: Context) => caller(() => bodyOf(...context)) }),
  };
}

const askAt =
  (url: string): Ask =>
  async (path, init) => {
    const response = await fetch(`${url}${path}`, init);
    await response.text();
    return response.status;
  };

/** A handler that reads the body itself, as SDKs do. */
async function answerRequest(request: Request): Promise<Response> {
  await request.text();
  return new Response('Because.', { status: request.url.endsWith('broken') ? 500 : 200 });
}

const webHandler =
  (record: typeof ofFetch) =>
  async (options: Options): Promise<Ask> => {
    const handle = record(
      answerRequest,
      adapt(
        options,
        (request: Request) => request.json() as Promise<Body>,
        ({ url }) => new URL(url).pathname,
      ),
    );
    return async (path, init) => (await handle(new Request(`http://docs.test${path}`, init))).status;
  };

/** Frameworks with three routes: `/ask` is a question, `/other` is not, `/broken` fails. */
const frameworks: Readonly<Record<string, (options: Options) => Promise<Ask>>> = {
  async Express(options) {
    const app = express();
    const own = adapt(
      options,
      async (request: express.Request, _response: express.Response) => request.body as Body,
      (request) => request.path,
    );
    app.use(ofExpress(own), express.json());
    app.all(['/ask', '/other'], (_, response) => void response.send('Because.'));
    app.all('/broken', (_, response) => void response.status(500).send('No.'));
    return askAt(await startHttpServer(app));
  },
  async Fastify(options) {
    const app = fastify();
    onTestFinished(() => app.close());
    const own = adapt(
      options,
      async (request: fastify.FastifyRequest, _reply: fastify.FastifyReply) => request.body as Body,
      ({ url }) => url,
    );
    app.register(ofFastify(own));
    app.all('/ask', async () => 'Because.');
    app.all('/other', async () => 'Because.');
    app.all('/broken', async () => fails());
    return async (path, { method = 'GET', headers, body } = {}) => {
      const sent = {
        method: method as 'GET',
        path,
        headers: headers as Record<string, string>,
        body: body as string,
      };
      return (await app.inject(sent)).statusCode;
    };
  },
  async Hono(options) {
    const app = new Hono();
    const own = adapt(
      options,
      ({ req }: Context) => req.json(),
      ({ req }) => req.path,
    );
    app.use(ofHono(own));
    app.all('/*', ({ req }) => answerRequest(req.raw));
    return async (path, init) => (await app.request(path, init)).status;
  },
  'node:http': async (options) => {
    const own = adapt(
      options,
      async ({ body = {} }: IncomingMessage & { body?: Body }, _response: ServerResponse) => body,
      ({ url = '' }) => url,
    );
    const listener = ofNode(async (request, response) => {
      const sent = await text(request);
      if (sent !== '') request.body = JSON.parse(sent) as Body;
      response.writeHead(request.url === '/broken' ? 500 : 200).end('Because.');
    }, own);
    return askAt(await startHttpServer(listener));
  },
  Next: webHandler(ofNext),
  fetch: webHandler(ofFetch),
};

/** The options that every framework gets. */
const optionsFor = (to: ReturnType<typeof recorder>, more: Partial<Options> = {}): Options => ({
  recorder: to,
  rules,
  ...more,
});

function fails(): never {
  throw new Error('it fails');
}

/** Collects the warnings of a test. */
function warnings(): string[] {
  const seen: string[] = [];
  const spy = vi.spyOn(console, 'warn').mockImplementation((text) => void seen.push(String(text)));
  onTestFinished(() => spy.mockRestore());
  return seen;
}

const post = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** Options are awaited, so a query may be recorded shortly after the response. */
const recordedBy = ({ queries }: ReturnType<typeof recorder>, count: number): Promise<unknown> =>
  vi.waitUntil(() => queries.length >= count);

const uuid = /^[0-9a-f-]{36}$/;

describe.each(Object.entries(frameworks))('%s', (_, start) => {
  test('other requests, failed responses and methods without a question are not recorded', async () => {
    const to = recorder();
    const ask = await start(optionsFor(to));
    expect([await ask('/other'), await ask('/broken')]).toEqual([200, 500]);
    for (const method of ['HEAD', 'OPTIONS']) await ask('/ask', { method });
    await ask('/ask', { headers: { 'x-request-id': 'last' } });
    await recordedBy(to, 1);
    expect(to.queries.map(({ id }) => id)).toEqual(['last']);
  });

  test('a question is recorded with its caller, id and time', async () => {
    const to = recorder();
    const ask = await start(optionsFor(to));
    const before = Date.now();
    await ask('/ask', { headers: { origin: 'https://docs.example.com', 'x-request-id': 'request-1' } });
    await ask('/ask', { headers: { 'x-slack-signature': 'v0=a' } });
    await ask('/ask', { headers: { authorization: 'Bearer a' } });
    await recordedBy(to, 3);
    expect(to.queries.map(({ caller }) => caller)).toEqual(['web', 'slack', 'api']);
    const [first, second, third] = to.queries.map(({ id }) => id);
    expect(first).toBe('request-1');
    expect(second).toMatch(uuid);
    expect(third).not.toBe(second);
    for (const { occurredAt } of to.queries) {
      expect(Number(occurredAt)).toBeGreaterThan(before - 1000);
      expect(Number(occurredAt)).toBeLessThanOrEqual(Date.now());
    }
  });

  test('all options may be async and read the body, which the handler reads, too', async () => {
    const to = recorder();
    const ask = await start(
      optionsFor(to, {
        isQuestion: async (body) => (await body()).id !== 'no question',
        id: async (body) => (await body()).id,
        caller: async (body) => (await body()).caller,
      }),
    );
    expect(await ask('/ask', post({ id: 'no question' }))).toBe(200);
    expect(await ask('/ask', post({ id: 'message-1', caller: 'my-bot' }))).toBe(200);
    expect(await ask('/ask', post({ id: 'message-2' }, { origin: 'https://docs.example.com' }))).toBe(200);
    await recordedBy(to, 2);
    expect(to.queries).toMatchObject([
      { id: 'message-1', caller: 'my-bot' },
      { id: 'message-2', caller: 'web' },
    ]);
  });

  test.each([
    ['returns nothing', () => undefined, 'returned nothing'],
    ['returns an empty id', async () => '', 'returned nothing'],
    ['throws', fails, 'failed: Error: it fails'],
    ['rejects', async () => fails(), 'failed: Error: it fails'],
  ])('if `id` %s, a generated id counts the query, and one warning says so', async (__, id, problem) => {
    const to = recorder();
    const warned = warnings();
    const ask = await start(optionsFor(to, { id }));
    expect([await ask('/ask'), await ask('/ask')]).toEqual([200, 200]);
    expect(await ask('/ask', { headers: { 'x-request-id': 'request-1' } })).toBe(200);
    await recordedBy(to, 3);
    expect(to.queries.map((query) => query.id)).toEqual([
      expect.stringMatching(uuid),
      expect.stringMatching(uuid),
      'request-1',
    ]);
    expect(warned).toEqual([`caller-stats: the option id ${problem}. The query counts with its default.`]);
  });

  test('if `caller` throws, the rules find the caller; if `isQuestion` throws, the recorder reports the loss', async () => {
    const to = recorder();
    const warned = warnings();
    await (await start(optionsFor(to, { caller: fails })))('/ask', {
      headers: { authorization: 'Bearer a' },
    });
    await recordedBy(to, 1);
    await (await start(optionsFor(to, { isQuestion: fails })))('/ask');
    await recordedBy(to, 2);
    expect(to.queries).toMatchObject([{ caller: 'api' }, { id: '' }]);
    expect(warned).toHaveLength(1);
  });
});

test('Hono on the edge is asked to wait until the query is sent', async () => {
  const to = recorder();
  const app = new Hono();
  app.use(ofHono({ recorder: to, id: async ({ req }: Context) => (await req.json<Body>()).id }));
  app.post('/ask', async (context) => context.text(await context.req.raw.text()));
  const waited: unknown[] = [];
  const runtime = {
    waitUntil: (promise: unknown) => void waited.push(promise),
    passThroughOnException: () => {},
  };
  const request = new Request('http://docs.test/ask', post({ id: 'message-1' }));
  await app.fetch(request, {}, { ...runtime, props: {} });
  expect(await waited[0]).toBe(true);
  expect([to.queries[0]?.id, to.flushes()]).toEqual(['message-1', 1]);
});

test('Hono keeps the body that an earlier middleware has parsed', async () => {
  const to = recorder();
  const app = new Hono();
  app.use(async ({ req }, next) => {
    await req.json();
    await next();
  });
  app.use(ofHono({ recorder: to, id: async ({ req }: Context) => (await req.json<Body>()).id }));
  app.post('/ask', async (context) => context.json(await context.req.json()));
  await app.request('/ask', post({ id: 'message-1' }));
  await recordedBy(to, 1);
  expect(to.queries).toMatchObject([{ id: 'message-1' }]);
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

test('options get the properties that a framework adds to its requests, and all of a request', async () => {
  class FrameworkRequest extends Request {
    get nextUrl(): URL {
      return new URL(this.url);
    }
  }
  const to = recorder();
  const seen: unknown[] = [];
  const POST = ofNext((request: FrameworkRequest) => answerRequest(request), {
    recorder: to,
    id: async (request) => {
      seen.push(request instanceof FrameworkRequest, request.method, request.headers.get('a'));
      return `${request.nextUrl.pathname} ${await request.clone().text()} ${await request.text()}`;
    },
  });
  await POST(
    new FrameworkRequest('http://docs.test/ask', { method: 'POST', body: 'Why?', headers: { a: 'b' } }),
  );
  await recordedBy(to, 1);
  expect(to.queries).toMatchObject([{ id: '/ask Why? Why?' }]);
  expect(seen).toEqual([true, 'POST', 'b']);
});

test('a worker is asked to wait by the argument that can wait', async () => {
  const to = recorder();
  const waited: Promise<unknown>[] = [];
  const context = { waitUntil: (promise: Promise<unknown>) => void waited.push(promise) };
  const handle = ofFetch(
    (request: Request, _env: object, _context: typeof context) => answerRequest(request),
    {
      recorder: to,
    },
  );
  await handle(new Request('http://docs.test/ask'), {}, context);
  await Promise.all(waited);
  expect([waited.length, to.queries.length, to.flushes()]).toEqual([1, 1, 1]);
});
