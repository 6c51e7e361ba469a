import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect as dial, type Socket } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { paceArrivals } from '../../../src/http/connection/paced-arrivals.js';
import { Turns } from '../../../src/http/connection/turns.js';
import { ResponseReader } from '../../support/response-reader.js';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const answer: Handle = (request, response) => {
  request.resume();
  response.end(request.url);
};

/** A server that notes in which turn of the event loop each request begins, and how to connect to it. */
async function serve(handle = answer, waitingBytesMax = 1e9) {
  const begun: number[] = [];
  let turn = 0;
  let counting = setImmediate(function count() {
    turn++;
    counting = setImmediate(count);
  });
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    begun.push(turn);
    handle(request, response);
  });
  paceArrivals(server, new Turns(waitingBytesMax));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    clearImmediate(counting);
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  const connect = async (): Promise<Socket> => {
    const socket = dial({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  return { server, begun, connect, turn: () => turn };
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\n\r\n`;
}

/** Resolves when the connection is closed, by a reset, too. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket
      .resume()
      .on('error', () => {})
      .once('close', () => resolve());
  });
}

/** How often each turn is named. */
function countsOf(turns: readonly number[]): number[] {
  const counts = new Map<number, number>();
  for (const turn of turns) counts.set(turn, (counts.get(turn) ?? 0) + 1);
  return [...counts.values()];
}

/** The bodies of so many answers. */
async function answers(socket: Socket, count: number): Promise<string[]> {
  const reader = new ResponseReader();
  const bodies: string[] = [];
  for await (const bytes of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    reader.add(bytes);
    for (let next = reader.next('GET'); next !== undefined; next = reader.next('GET'))
      bodies.push(next.body.toString());
    if (bodies.length >= count) break;
  }
  return bodies;
}

const short = get('/');
/** Node reads 64 KB of a connection at once. */
const pieceful = Math.floor((64 * 1024) / short.length);

test('nothing after invalid bytes begins', async () => {
  const { server, begun, connect } = await serve();
  let errors = 0;
  server.on('clientError', (_error, socket) => {
    errors++;
    setImmediate(() => socket.end());
  });
  const socket = await connect();
  socket.write(`${short}nonsense\r\n\r\n${short.repeat(pieceful)}`);
  await closed(socket);
  expect([begun.length, errors]).toEqual([1, 1]);
});

test('nothing after CONNECT begins', async () => {
  const { server, begun, connect } = await serve();
  server.on('connect', (_request, socket: Socket) => void setImmediate(() => socket.destroy()));
  const socket = await connect();
  socket.write(`CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${short.repeat(pieceful)}`);
  await closed(socket);
  expect(begun).toEqual([]);
});

test('what follows on a connection that is closed does not begin', async () => {
  const { begun, connect } = await serve((request) => request.socket.destroy());
  const socket = await connect();
  socket.write(short.repeat(pieceful));
  await closed(socket);
  expect(begun.length).toBeLessThan(100);
});

test('connections close when too much waits on all of them, and others are served', async () => {
  const { connect } = await serve(answer, 100_000);
  const sockets = await Promise.all(Array.from({ length: 10 }, connect));
  const ends = sockets.map(async (socket) => {
    socket.on('error', () => {});
    const received = answers(socket, pieceful).catch(() => []);
    socket.write(short.repeat(pieceful));
    return (await received).length;
  });
  const counts = await Promise.all(ends);
  expect(counts.filter((count) => count < pieceful).length).toBeGreaterThan(0);
  expect(counts.filter((count) => count === pieceful).length).toBeGreaterThan(0);
  const socket = await connect();
  socket.write(get('/later'));
  expect(await answers(socket, 1)).toEqual(['/later']);
});

test.each<[what: string, end: (socket: Socket) => void]>([
  ['close', (socket) => socket.destroy()],
  ['reset', (socket) => socket.resetAndDestroy()],
])('connections that clients %s at once end a few in a turn', async (_what, end) => {
  const { server, connect, turn } = await serve();
  const turns: number[] = [];
  const [accepted, ended] = [new EventEmitter(), new EventEmitter()];
  let connections = 0;
  server.on('connection', (socket) => {
    if (++connections === 200) accepted.emit('all');
    socket.once('close', () => {
      if (turns.push(turn()) === 200) ended.emit('all');
    });
  });
  const all = [once(accepted, 'all'), once(ended, 'all')];
  const sockets = await Promise.all(Array.from({ length: 200 }, connect));
  await all[0];
  for (const socket of sockets) end(socket);
  await all[1];
  expect(Math.max(...countsOf(turns))).toBeLessThanOrEqual(8);
});

test.each([1, 5])(
  'requests that arrive together on %i connections begin a few in a turn',
  async (connections) => {
    const { begun, connect } = await serve();
    const sockets = await Promise.all(Array.from({ length: connections }, connect));
    const received = sockets.map((socket) => answers(socket, pieceful));
    for (const socket of sockets) socket.write(short.repeat(pieceful));
    for (const { length } of await Promise.all(received)) expect(length).toBe(pieceful);
    expect(begun).toHaveLength(connections * pieceful);
    expect(Math.max(...countsOf(begun))).toBeLessThanOrEqual(400);
  },
);

test('chunks that arrive together on several connections are read some thousand in a turn', async () => {
  const chunks: number[] = [];
  const { begun, connect, turn } = await serve((request, response) => {
    request.on('data', () => chunks.push(turn()));
    request.on('end', () => response.end());
  });
  const sockets = await Promise.all(Array.from({ length: 5 }, connect));
  const received = sockets.map((socket) => answers(socket, 1));
  const count = 60_000;
  const head = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n';
  for (const socket of sockets) socket.write(`${head}${'1\r\n \r\n'.repeat(count)}0\r\n\r\n`);
  await Promise.all(received);
  expect([begun.length, chunks.length]).toEqual([5, 5 * count]);
  expect(Math.max(...countsOf(chunks))).toBeLessThanOrEqual(15_000);
});

test('a connection that waits for its answers does not wait for those that do not', async () => {
  const { begun, connect } = await serve();
  const [flooding, honest] = await Promise.all([connect(), connect()]);
  const flooded = answers(flooding, 5 * pieceful);
  flooding.write(short.repeat(5 * pieceful));
  honest.write(get('/honest'));
  expect(await answers(honest, 1)).toEqual(['/honest']);
  expect(begun.length).toBeLessThan(5 * pieceful);
  await flooded;
});

/** A body with its headers, and whether it is read: a client may send any number of them ahead. */
const body = fc.record({
  length: fc.oneof(fc.nat(40), fc.nat(9000), fc.nat(200_000)),
  chunk: fc.option(fc.integer({ min: 1, max: 5000 })),
});

function post(at: number, { length, chunk }: { length: number; chunk: number | null }): string {
  const text = String(at % 10).repeat(length);
  const head = (line: string) => `POST /${at} HTTP/1.1\r\n${line}\r\n\r\n`;
  if (chunk === null) return head(`Content-Length: ${length}`) + text;
  const size = Math.max(chunk, Math.ceil(length / 1000));
  let chunks = '';
  for (let from = 0; from < length; from += size) {
    const part = text.slice(from, from + size);
    chunks += `${part.length.toString(16)}\r\n${part}\r\n`;
  }
  return `${head('Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`;
}

test('each request is answered once, in order, with its body, however its bytes arrive', async () => {
  const { begun, connect } = await serve((request, response) => {
    let bytes = 0;
    const isSlow = request.url?.endsWith('7') === true;
    request.on('readable', function read() {
      const next = () => {
        for (let piece = request.read(); piece !== null; piece = request.read()) bytes += piece.length;
      };
      if (isSlow) setImmediate(next);
      else next();
    });
    request.on('end', () => response.end(`${request.url} ${bytes}`));
  });
  const pieces = fc.array(fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 100_000 })), {
    minLength: 1,
    maxLength: 20,
  });
  const bodies = fc.array(fc.option(body), { minLength: 1, maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(bodies, pieces, fc.boolean(), async (sent, sizes, readsLate) => {
      begun.length = 0;
      const socket = await connect();
      const bytes = Buffer.from(sent.map((one, at) => (one ? post(at, one) : get(`/${at}`))).join(''));
      const received = readsLate ? undefined : answers(socket, sent.length);
      for (let at = 0, piece = 0; at < bytes.length; piece++) {
        const size = piece < 200 ? (sizes[piece % sizes.length] ?? 1) : bytes.length;
        socket.write(bytes.subarray(at, at + size));
        at += size;
        await new Promise(setImmediate);
      }
      expect(await (received ?? answers(socket, sent.length))).toEqual(
        sent.map((one, at) => `/${at} ${one?.length ?? 0}`),
      );
      expect(begun).toHaveLength(sent.length);
      socket.destroy();
    }),
    { numRuns: 40 },
  );
});
