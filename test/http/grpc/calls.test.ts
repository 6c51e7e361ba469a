import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type Http2ServerRequest,
  type Http2Session,
} from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { Turns } from '../../../src/http/connection/turns.js';
import { Calls } from '../../../src/http/grpc/calls.js';
import { securityHeaders } from '../../../src/http/server/headers.js';
import { call, connectGrpc, framed, TRACES_METHOD } from '../../support/http/grpc.js';

const headers = { ':method': 'POST', ':path': TRACES_METHOD, 'content-type': 'application/grpc' };

function closed(stream: ClientHttp2Stream): Promise<void> {
  return new Promise((resolve) => void stream.once('close', resolve));
}

/** Connections to a server that notes in which turn of the event loop each call begins. */
async function connect() {
  const begun: number[] = [];
  let turn = 0;
  let counting = setImmediate(function count() {
    turn++;
    counting = setImmediate(count);
  });
  const app = fastify();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    payload.once('end', () => done(null));
  });
  app.post('/v1/traces', async () => '');
  const served: WeakRef<Http2Session>[] = [];
  app.addHook('onRequest', async ({ raw }) => {
    begun.push(turn);
    const { session } = (raw as unknown as Http2ServerRequest).stream;
    if (session !== undefined) served.push(new WeakRef(session));
  });
  await app.ready();
  const calls = new Calls(app, { basePath: '', security: securityHeaders(undefined) });
  const server = createServer((socket) => calls.serve(socket, new Turns(1e9))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    clearImmediate(counting);
    server.close();
    calls.close();
  });
  const open = () => connectGrpc(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { begun, served, open, session: open() };
}

test('calls that arrive together begin a few at a time', async () => {
  const { begun, open } = await connect();
  const answers = Array.from({ length: 10 }, open).flatMap((session) =>
    Array.from({ length: 10 }, () => call(session, TRACES_METHOD, {}, framed(Buffer.alloc(0)))),
  );
  expect(new Set((await Promise.all(answers)).map(({ code }) => code))).toEqual(new Set([0]));
  const counts = new Map<number, number>();
  for (const turn of begun) counts.set(turn, (counts.get(turn) ?? 0) + 1);
  expect(begun).toHaveLength(100);
  expect(Math.max(...counts.values())).toBeLessThanOrEqual(16);
});

test('a call that is reset at once does not begin', async () => {
  const { begun, session } = await connect();
  for (let reset = 0; reset < 50; reset++) session.request(headers).close(constants.NGHTTP2_CANCEL);
  expect(await call(session, TRACES_METHOD, {}, framed(Buffer.alloc(0)))).toMatchObject({ code: 0 });
  expect(begun).toHaveLength(1);
});

test('a connection whose calls are reset as they come is closed, and told why', async () => {
  const { begun, session } = await connect();
  const code = new Promise((resolve) => session.once('goaway', resolve));
  for (let reset = 0; reset < 900; reset++)
    session
      .request(headers)
      .on('error', () => {})
      .close(constants.NGHTTP2_CANCEL);
  expect(await code).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect(begun).toEqual([]);
});

test('a connection that has ended is not kept in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const { served, session } = await connect();
  await call(session, TRACES_METHOD, {}, framed(Buffer.alloc(0)));
  session.destroy();
  for (let turn = 0; turn < 100 && served[0]?.deref() !== undefined; turn++) {
    await new Promise(setImmediate);
    collect();
  }
  expect(served.map((one) => one.deref() === undefined)).toEqual([true]);
});

test('a connection has few calls at a time, and what it sends before it learns how many is refused unseen', async () => {
  const { begun, open, session } = await connect();
  const streams = Array.from({ length: 30 }, () => session.request(headers).on('error', () => {}));
  const [taken, refused] = [streams.slice(0, 10), streams.slice(10)];
  await Promise.all(refused.map(closed));

  expect(new Set(refused.map(({ rstCode }) => rstCode))).toEqual(new Set([constants.NGHTTP2_REFUSED_STREAM]));
  expect(await call(open(), TRACES_METHOD, {}, framed(Buffer.alloc(0)))).toMatchObject({ code: 0 });

  for (const stream of taken) stream.resume().end(framed(Buffer.alloc(0)));
  await Promise.all(taken.map(closed));
  expect(new Set(taken.map(({ rstCode }) => rstCode))).toEqual(new Set([constants.NGHTTP2_NO_ERROR]));

  expect(begun).toHaveLength(11);
  // Clients that have learnt it wait with further calls.
  const later = Array.from({ length: 30 }, () => call(session, TRACES_METHOD, {}, framed(Buffer.alloc(0))));
  expect(new Set((await Promise.all(later)).map(({ code }) => code))).toEqual(new Set([0]));
});

test('each of many connections has fewer calls at a time, and one at least', async () => {
  const { open, session } = await connect();
  const allowed = async (one: ClientHttp2Session) => {
    const [settings] = (await once(one, 'remoteSettings')) as [{ maxConcurrentStreams: number }];
    return settings.maxConcurrentStreams;
  };
  expect(await allowed(session)).toBe(10);
  let last = 0;
  for (let count = 1; count < 400; count++) last = await allowed(open());
  expect(last).toBe(5);
  expect(await call(open(), TRACES_METHOD, {}, framed(Buffer.alloc(0)))).toMatchObject({ code: 0 });
});
