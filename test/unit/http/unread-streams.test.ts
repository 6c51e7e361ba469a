import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { endWith } from '../../../src/http/connection/unread-streams.js';

async function connection(): Promise<Socket> {
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

test('streams end with their connection, those that are done before are forgotten', async () => {
  const socket = await connection();
  const streams = Array.from({ length: 20 }, () => new PassThrough());
  for (const stream of streams) endWith(socket, stream);
  expect(socket.listenerCount('close')).toBe(1);
  streams[0]?.destroy();
  expect(streams.map(({ destroyed }) => destroyed).filter(Boolean)).toHaveLength(1);
  socket.destroy();
  await once(socket, 'close');
  expect(streams.every(({ destroyed }) => destroyed)).toBe(true);
});

test('a stream for a connection that is gone already ends at once', async () => {
  const socket = await connection();
  socket.destroy();
  await once(socket, 'close');
  const stream = new PassThrough();
  endWith(socket, stream);
  expect(stream.destroyed).toBe(true);
});
