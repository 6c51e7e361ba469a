import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Turns } from '../../../src/http/connection/turns.js';
import { PacedFrames } from '../../../src/http/grpc/paced-frames.js';
import { http2Frame, PREFACE } from '../../support/http/grpc.js';

function repeated(count: number, bytes: Uint8Array): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => bytes));
}

/** Sends bytes on each of several connections, and notes how many their sessions get in each turn of the event loop. */
async function send(connections: number, bytes: Buffer) {
  const inTurn = new Map<number, number>();
  let turn = 0;
  let counting = setImmediate(function count() {
    turn++;
    counting = setImmediate(count);
  });
  const turns = new Turns(1e9);
  const received: Promise<Buffer>[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const frames = new PacedFrames(socket, turns);
    frames.on('data', ({ length }: Buffer) => inTurn.set(turn, (inTurn.get(turn) ?? 0) + length));
    received.push(frames.toArray().then((chunks) => Buffer.concat(chunks as Buffer[])));
    socket.resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    clearImmediate(counting);
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: connections }, () => dial(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.end(bytes);
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
  return { received: await Promise.all(received), mostInTurn: Math.max(...inTurn.values()) };
}

test.each([
  ['headers', 1, 20, 5000, 2000],
  ['pings', 6, 8, 20_000, 9000],
  ['empty frames of data', 0, 0, 20_000, 5000],
])('%s of many connections are handed over a few in each turn', async (_what, type, size, count, most) => {
  const bytes = Buffer.concat([PREFACE, repeated(count, http2Frame(type, Buffer.alloc(size)))]);
  const { received, mostInTurn } = await send(10, bytes);
  expect(received.map((one) => one.equals(bytes))).toEqual(Array.from({ length: 10 }, () => true));
  expect(mostInTurn).toBeLessThan(most);
});

test('data of a call is handed over as it has arrived', async () => {
  const bytes = Buffer.concat([PREFACE, repeated(60, http2Frame(0, Buffer.alloc(16_384, 'x')))]);
  const { received, mostInTurn } = await send(1, bytes);
  expect(received[0]?.equals(bytes)).toBe(true);
  expect(mostInTurn).toBeGreaterThan(16_384);
});

test('a session that does not read stops its connection, and misses nothing', async () => {
  const bytes = Buffer.concat([PREFACE, repeated(20_000, http2Frame(1, Buffer.alloc(20)))]);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const client = dial((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  const frames = new PacedFrames(socket, new Turns(1e9)).pause();
  client.end(bytes);
  await once(socket, 'pause');
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  expect(frames.readableLength).toBeLessThan(2000);
  expect(Buffer.concat(await frames.toArray()).equals(bytes)).toBe(true);
});
