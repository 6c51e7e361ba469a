/** The middleware in the real frameworks, in this process. `test/program/client/frameworks.test.ts` runs it on real servers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import express from 'express';
import fastify from 'fastify';
import { type Context, Hono } from 'hono';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { recordQuestions as ofExpress } from '../../clients/javascript/src/middleware/express.js';
import { recordQuestions as ofFastify } from '../../clients/javascript/src/middleware/fastify.js';
import { recordQuestions as ofFetch } from '../../clients/javascript/src/middleware/fetch.js';
import { recordQuestions as ofHono } from '../../clients/javascript/src/middleware/hono.js';
import { recordQuestions as ofNext } from '../../clients/javascript/src/middleware/next.js';
import { recordQuestions as ofNode } from '../../clients/javascript/src/middleware/node.js';
import type { Query } from '../../clients/javascript/src/query.js';
import { createRecorder } from '../../clients/javascript/src/recorder.js';
import type { Recorder } from '../../clients/javascript/src/recorder-options.js';
import { required } from '../support/client/client-recorder.js';
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
    const own = adaptExpress(options);
    app.use(ofExpress(own), express.json());
    app.all(['/ask', '/other'], (_, response) => void response.send('Because.'));
    app.all('/broken', (_, response) => void response.status(500).send('No.'));
    return askAt(await startHttpServer(app));
  },
  async Fastify(options) {
    const app = fastify();
    onTestFinished(() => app.close());
    const own = adaptFastify(options);
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

/** Counts a question twice: with middleware of an app, which knows no id, and of a part of it. */
const nested: Readonly<Record<string, (outer: Options, inner: Options) => Promise<Ask>>> = {
  async Express(outer, inner) {
    const app = express();
    const router = express.Router();
    router.post('/ask', ofExpress(adaptExpress(inner)), (_, response) => void response.send('Because.'));
    app.use(ofExpress(adaptExpress(outer)), express.json(), router);
    return askAt(await startHttpServer(app));
  },
  async Fastify(outer, inner) {
    const app = fastify();
    onTestFinished(() => app.close());
    app.register(ofFastify(adaptFastify(outer)));
    app.register(async (child) => {
      child.register(ofFastify(adaptFastify(inner)));
      child.post('/ask', async () => 'Because.');
    });
    return askAt(await app.listen({ port: 0, host: '127.0.0.1' }));
  },
  async Hono(outer, inner) {
    const [app, child] = [new Hono(), new Hono()];
    const own = (options: Options) =>
      adapt(
        options,
        ({ req }: Context) => req.json(),
        ({ req }) => req.path,
      );
    child.post('/ask', ofHono(own(inner)), ({ req }) => answerRequest(req.raw));
    app.use(ofHono(own(outer)));
    app.route('/', child);
    return async (path, init) => (await app.request(path, init)).status;
  },
  async fetch(outer, inner) {
    const own = (options: Options) =>
      adapt(
        options,
        (request: Request) => request.json() as Promise<Body>,
        ({ url }) => new URL(url).pathname,
      );
    const handle = ofFetch(ofFetch(answerRequest, own(inner)), own(outer));
    return async (path, init) => (await handle(new Request(`http://docs.test${path}`, init))).status;
  },
};

const adaptExpress = (options: Options) =>
  adapt(
    options,
    async (request: express.Request, _response: express.Response) => request.body as Body,
    ({ path }) => path,
  );

const adaptFastify = (options: Options) =>
  adapt(
    options,
    async (request: fastify.FastifyRequest, _reply: fastify.FastifyReply) => request.body as Body,
    ({ url }) => url,
  );

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

test.each(Object.entries(nested))(
  '%s: middleware of an app and of its part count a question once',
  async (_, start) => {
    const to = recorder();
    const other = recorder();
    const id = async (body: () => Promise<Body>) => (await body()).id;
    const ask = await start(optionsFor(to), optionsFor(to, { id, isQuestion: async () => true }));
    for (let times = 0; times < 3; times++) expect(await ask('/ask', post({ id: 'message-1' }))).toBe(200);
    await recordedBy(to, 3);
    // Each of two recorders counts, and what is not a question for one may be for the other.
    const both = await start(optionsFor(other), optionsFor(to, { id }));
    const one = await start(optionsFor(other), optionsFor(to, { id, isQuestion: () => false }));
    expect([await both('/ask', post({ id: 'message-2' })), await one('/ask', post({ id: 'no' }))]).toEqual([
      200, 200,
    ]);
    await recordedBy(other, 2);
    await recordedBy(to, 4);
    expect(to.queries.map((query) => query.id)).toEqual([...Array(3).fill('message-1'), 'message-2']);
    expect(other.queries).toHaveLength(2);
  },
);

test.each<[string, (request: Request) => unknown]>([
  ['was read', (request) => request.text()],
  ['is locked', (request) => request.body?.getReader()],
])('a question counts although its body %s before', async (_, use) => {
  const to = recorder();
  const warned = warnings();
  const id = async (request: Request) => ((await request.json()) as Body).id;
  const answer = () => new Response('Because.');
  const request = () => new Request('http://docs.test/ask', post({ id: 'message-1' }));
  const app = new Hono();
  app.use(async ({ req }, next) => {
    await use(req.raw);
    await next();
  });
  app.use(ofHono({ recorder: to, id: async ({ req }: Context) => id(req.raw) }));
  app.post('/ask', answer);
  expect((await app.request(request())).status).toBe(200);
  const used = request();
  await use(used);
  expect((await ofFetch(answer, { recorder: to, id })(used)).status).toBe(200);
  await recordedBy(to, 2);
  expect(to.queries.map((query) => query.id)).toEqual([
    expect.stringMatching(uuid),
    expect.stringMatching(uuid),
  ]);
  expect(warned).toHaveLength(2);
});

test('a handler that returns nothing, as in Bun after a change to WebSocket, is left alone', async () => {
  const to = recorder();
  const handle = ofFetch((request: Request) => (request.url.endsWith('ws') ? undefined : new Response()), {
    recorder: to,
  });
  expect(await handle(new Request('http://docs.test/ws'))).toBeUndefined();
  expect((await handle(new Request('http://docs.test/ask')))?.status).toBe(200);
  expect(to.queries).toHaveLength(1);
});

test('nothing that the middleware calls can break the answer', async () => {
  const to = { ...recorder(), record: fails, waitFor: fails, flush: fails };
  const options = { recorder: to, after: fails };
  expect((await ofFetch(() => new Response(), options)(new Request('http://docs.test/ask'))).status).toBe(
    200,
  );
  const app = express();
  app.use(ofExpress(options), (_, response) => void response.send('Because.'));
  expect(await askAt(await startHttpServer(app))('/')).toBe(200);
});

describe('a function that is frozen after its answer records all questions', () => {
  const id = async (request: Request) => {
    const { id } = (await request.json()) as Body;
    await new Promise((resolve) => setImmediate(resolve));
    return id;
  };
  const honoApp = (to: Recorder) =>
    new Hono().post('/ask', ofHono({ recorder: to, id: ({ req }: Context) => id(req.raw) }), ({ req }) =>
      answerRequest(req.raw),
    );
  const handlers: Readonly<Record<string, (to: Recorder) => (request: Request) => Promise<Response>>> = {
    Hono: (to) => async (request) => honoApp(to).fetch(request),
    fetch: (to) => ofFetch(answerRequest, { recorder: to, id }),
    Express: (to) => {
      const app = express();
      const options = { recorder: to, id: async (request: express.Request) => (await request.body).id };
      app.use(express.json(), ofExpress(options), (_, response) => void response.send('Because.'));
      const url = startHttpServer(app);
      return async (request) => fetch(await url, post((await request.json()) as Body));
    },
  };

  test.each(Object.entries(handlers))('%s', async (_, make) => {
    const ids: string[] = [];
    let frozen = false;
    const to = createRecorder({
      ...required,
      delayMs: 100_000,
      platform: {
        fetch: async (_url, { body }) => {
          const sent = JSON.parse(String(body)) as Query[];
          if (!frozen) ids.push(...sent.map((query) => query.id));
          return Response.json({ recorded: sent.length, duplicates: 0 });
        },
      },
    });
    const handle = make(to);
    for (let at = 0; at < 18; at++) {
      frozen = false;
      const response = await handle(new Request('http://docs.test/ask', post({ id: `message-${at}` })));
      await response.text();
      // The last statement of the function, as documented for Lambda.
      expect(await to.flush()).toBe(true);
      frozen = true;
    }
    expect(ids).toEqual(Array.from({ length: 18 }, (_, at) => `message-${at}`));
  });

  test('close takes its timeout once, and later flushes do not wait for work that was given up', async () => {
    let nowMs = 0;
    const timers: { run: () => void; atMs: number }[] = [];
    const pass = async (ms: number) => {
      nowMs += ms;
      for (const one of timers.filter(({ atMs }) => atMs <= nowMs)) one.run();
      await new Promise((resolve) => setImmediate(resolve));
    };
    const platform = {
      fetch: fails,
      now: () => nowMs,
      startTimer: (run: () => void, ms: number) => {
        timers.push({ run, atMs: nowMs + ms });
        return { stop: () => {}, keepAlive: () => {} };
      },
    };
    const to = createRecorder({ ...required, closeTimeoutMs: 1000, platform });
    to.waitFor(new Promise(() => {}));
    to.waitFor(Promise.reject(new Error('it fails')));
    const flushed = to.flush({ timeoutMs: 100 });
    await pass(100);
    expect(await flushed).toBe(false);
    to.waitFor(new Promise(() => {}));
    const closed = to.close();
    await pass(1000);
    expect(await to.flush()).toBe(true);
    expect(await closed).toBe(true);
  });
});

test('on a platform whose work ends with the response, that waits for its query unless `waitUntil` does', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const to = recorder();
  const id = async (request: Request) => ((await request.json()) as Body).id;
  const ask = (at: number) => new Request('http://docs.test/ask', post({ id: `message-${at}` }));
  await ofFetch(answerRequest, { recorder: to, id })(ask(1));
  const app = new Hono();
  app.post('/ask', ofHono({ recorder: to, id: ({ req }: Context) => id(req.raw) }), ({ req }) =>
    answerRequest(req.raw),
  );
  await app.request(ask(2));
  expect([to.queries.map((query) => query.id), to.flushes()]).toEqual([['message-1', 'message-2'], 2]);
  // The body cannot be read any more after the response.
  const handle = ofFetch((request: Request, _: object) => answerRequest(request), { recorder: to, id });
  await handle(ask(3), { waitUntil: () => {} });
  expect(to.queries).toHaveLength(3);
});

test('every middleware takes `after`', async () => {
  const to = recorder();
  const tasks: (() => Promise<unknown>)[] = [];
  const options = { recorder: to, after: (task: () => Promise<unknown>) => void tasks.push(task) };
  const app = express();
  app.use('/express', ofExpress(options), (_: express.Request, response: express.Response) => {
    response.send('Because.');
  });
  app.get(
    '/node',
    ofNode((_: IncomingMessage, response: ServerResponse) => response.end('Because.'), options),
  );
  const ask = askAt(await startHttpServer(app));
  const other = fastify();
  onTestFinished(() => other.close());
  other.register(ofFastify(options));
  other.get('/', async () => 'Because.');
  const hono = new Hono().get('/', ofHono(options), (context) => context.text('Because.'));
  await Promise.all([ask('/express'), ask('/node'), other.inject('/'), hono.request('/')]);
  await ofFetch(() => new Response(), options)(new Request('http://docs.test'));
  expect([tasks.length, to.flushes()]).toEqual([5, 0]);
  await Promise.all(tasks.map((task) => task()));
  expect([to.queries.length, to.flushes()]).toEqual([5, 5]);
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
