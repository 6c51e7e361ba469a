import { once } from 'node:events';
import { constants, type Http2ServerRequest, type Http2Session } from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { Turns } from '../../../src/http/connection/turns.js';
import { Calls } from '../../../src/http/grpc/calls.js';
import { call, connectGrpc, framed, TRACES_METHOD } from '../../support/http/grpc.js';

const headers = { ':method': 'POST', ':path': TRACES_METHOD, 'content-type': 'application/grpc' };

/** A connection to a server that notes in which turn of the event loop each call begins. */
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
  const calls = new Calls(app, '');
  const server = createServer((socket) => calls.serve(socket, new Turns(1e9))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    clearImmediate(counting);
    server.close();
    calls.close();
  });
  return {
    begun,
    served,
    session: connectGrpc(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  };
}

test('calls that arrive together begin a few at a time', async () => {
  const { begun, session } = await connect();
  const answers = Array.from({ length: 100 }, () =>
    call(session, TRACES_METHOD, {}, framed(Buffer.alloc(0))),
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
