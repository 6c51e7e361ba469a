import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { connectionsMax, retryAfterSeconds } from '../../../src/domain/limits.js';
import { Admission } from '../../../src/http/admission/admission.js';
import { onFinished } from '../../../src/http/connection/connections.js';
import { answerError, unauthenticated } from '../../../src/http/server/errors.js';
import { recordings } from '../../../src/shared/fair-share.js';

const limits = {
  recordingsMax: 10,
  recordingBytesMax: 1000,
  correctionsBytesMax: 1000,
  requestsMax: 10,
  unreadBytesMax: 1_000_000,
  eventLoopDelayMsMax: 100,
};

test('answers 503 whenever the store is too busy, and logs that once in ten seconds', async () => {
  const lines: { readonly level: number; readonly msg: string; readonly unwritten: number }[] = [];
  const app = fastify({
    logger: { level: 'warn', stream: { write: (line) => lines.push(JSON.parse(line)) } },
  });
  let nowMs = 0;
  new Admission(limits, { now: () => nowMs }, () => 0).watch(app);
  app.setErrorHandler(answerError);
  app.get('/', async () => {
    throw new CallerStatsError('busy', 'Too much is waiting to be written; try again.');
  });
  for (nowMs = 0; nowMs <= 10_000; nowMs += 100) {
    const { statusCode, headers } = await app.inject('/');
    expect([statusCode, headers['retry-after']]).toEqual([503, String(retryAfterSeconds)]);
  }
  expect(lines.map(({ msg, unwritten }) => [msg, unwritten])).toEqual([
    ['requests are refused: the server has too much to do', 0],
    ['requests are refused: the server has too much to do', 99],
  ]);
});

const unread = { status: 503, error: 'Too many large answers are waiting to be read; try again.' };

/** An app whose answers at `/large` fit into no buffer of a connection. */
async function listen() {
  const app = fastify();
  new Admission(limits, { now: () => 0 }, () => 0).watch(app);
  app.setErrorHandler(answerError);
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const large = async () => 'x'.repeat(30_000_000);
  app.get('/large', large);
  app.get('/waiting', () => opened.then(large));
  app.get('/api/shared/:token/series', async () => 'visited');
  app.get('/', async () => 'read');
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const ask = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    return response.ok
      ? (await response.text()).length
      : { status: response.status, ...((await response.json()) as { readonly error: string }) };
  };
  const arrived = async () => {
    const [request] = (await once(app.server, 'request')) as [IncomingMessage];
    return request;
  };
  /** Sends a request and reads no more than the first bytes of its answer. */
  const begin = async (path: string) => {
    const client = connect(Number(new URL(url).port), '127.0.0.1');
    client.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
    const { socket } = await arrived();
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    return { client, closed, begun: once(client, 'readable') };
  };
  return { app, ask, begin, arrived, open };
}

test('refuses large answers while others wait to be read, until their readers are gone', async () => {
  const { app, ask, begin, arrived, open } = await listen();
  const first = await begin('/waiting');
  const second = ask('/waiting');
  await arrived();
  open();
  expect(await second).toEqual(unread);
  await first.begun;
  for (const path of ['/large', '/api/shared/x/series', '/']) expect(await ask(path)).toEqual(unread);
  first.client.destroy();
  await first.closed;
  expect(await ask('/large')).toBe(30_000_000);
  await app.close();
});

test('keeps half of the requests from readers of share links', async () => {
  const { app, ask, begin, open } = await listen();
  const waiting: Awaited<ReturnType<typeof begin>>[] = [];
  for (let number = 0; number < 5; number++) waiting.push(await begin('/waiting'));
  expect(await ask('/api/shared/x/series')).toMatchObject({ status: 503 });
  expect(await ask('/')).toBe('read'.length);
  open();
  for (const { client } of waiting) client.destroy();
  await app.close();
});

test('a recording that is rejected before its body is read takes neither the turns nor the places of others', async () => {
  const app = fastify();
  const admission = new Admission({ ...limits, recordingsMax: 300 }, { now: () => 0 }, () => 0);
  admission.watch(app);
  admission.share(app);
  let [inTurn, most, answered] = [0, 0, 0];
  app.setErrorHandler((error, request, reply) => {
    answered++;
    if (inTurn++ === 0) setImmediate(() => (inTurn = 0));
    most = Math.max(most, inTurn);
    return answerError(error, request, reply);
  });
  app.addHook('onRequest', async ({ headers }) => {
    if (headers.authorization === undefined) throw unauthenticated('Send a key.');
  });
  app.post('/v1/traces', async () => 'recorded');
  await app.ready();
  let end = (): void => {};
  const recording = recordings.during(() => new Promise<void>((resolve) => (end = resolve)));
  recordings.arrive();
  const url = '/v1/traces';
  const rejected = Promise.all(
    Array.from({ length: 200 }, () => app.inject({ method: 'POST', url, payload: {} })),
  );
  const honest = await app.inject({ method: 'POST', url, payload: {}, headers: { authorization: 'key' } });
  expect([honest.statusCode, admission.load.recordings, admission.load.requests]).toEqual([200, 0, 0]);
  expect(answered).toBeLessThan(200);
  end();
  await recording;
  expect(new Set((await rejected).map(({ statusCode }) => statusCode))).toEqual(new Set([401]));
  expect(most).toBeLessThanOrEqual(128);
  expect([admission.load.recordings, admission.load.requests, admission.load.recordingBytes]).toEqual([
    0, 0, 0,
  ]);
  await app.close();
});

test('counts no bytes of a request whose client went before its body was read', async () => {
  const app = fastify();
  const admission = new Admission(limits, { now: () => 0 }, () => 0);
  admission.watch(app);
  let passed = (): void => {};
  const read = new Promise<void>((resolve) => (passed = resolve));
  app.addHook('onRequest', async (request, reply) => {
    client.destroy();
    await new Promise<void>((resolve) => onFinished(request.raw, reply.raw, resolve));
    setImmediate(passed);
  });
  app.post('/v1/traces', async () => 'recorded');
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const client = connect(Number(new URL(url).port), '127.0.0.1');
  client.write('POST /v1/traces HTTP/1.1\r\nHost: test\r\nContent-Length: 900\r\n\r\n');
  await read;
  expect([admission.load.recordings, admission.load.recordingBytes]).toEqual([0, 0]);
  await app.close();
});

test('closes a connection that sends more ahead than may wait to be refused', async () => {
  const app = fastify();
  const admission = new Admission({ ...limits, recordingsMax: 1e6 }, { now: () => 0 }, () => 0);
  admission.watch(app);
  app.addHook('onRequest', async () => {
    throw unauthenticated('Send a key.');
  });
  app.post('/v1/traces', async () => 'recorded');
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  let end = (): void => {};
  const recording = recordings.during(() => new Promise<void>((resolve) => (end = resolve)));
  recordings.arrive();
  const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  const closed = new Promise((resolve) => client.once('close', resolve));
  client.resume();
  const request = 'POST /v1/traces HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n';
  client.write(request.repeat(2 * connectionsMax));
  await closed;
  end();
  await recording;
  expect(admission.load.recordings).toBe(0);
  await app.close();
});

test('lets health checks take turns while recordings go on, however many there are', async () => {
  const app = fastify();
  const admission = new Admission(limits, { now: () => 0 }, () => 0);
  admission.watch(app);
  admission.share(app);
  let [inTurn, most] = [0, 0];
  app.get('/livez', async () => {
    if (inTurn++ === 0) setImmediate(() => (inTurn = 0));
    most = Math.max(most, inTurn);
    return 'live';
  });
  await app.ready();
  let end = (): void => {};
  const recording = recordings.during(() => new Promise<void>((resolve) => (end = resolve)));
  recordings.arrive();
  const answers = await Promise.all(Array.from({ length: 200 }, () => app.inject('/livez')));
  end();
  await recording;
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect(most).toBeLessThanOrEqual(16);
});
