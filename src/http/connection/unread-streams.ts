/**
 * Ends streams that nobody will read. Of requests that a client sends ahead, Node tells only the first that the connection
 * is gone: a file that was to answer another one would stay open for ever.
 */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

const streamsOf = new WeakMap<Socket, Set<Readable>>();

/** For all answers of the app. */
export function endUnreadStreams(app: FastifyInstance): void {
  app.addHook('onSend', async ({ raw }, _reply, payload) => {
    if (payload instanceof Readable) endWith(raw.socket, payload);
  });
}

/** Destroys a stream when the connection that it is for is closed, or at once where it is already. */
export function endWith(socket: Socket, stream: Readable): void {
  if (socket.destroyed) {
    stream.destroy();
    return;
  }
  const streams = streamsOf.get(socket) ?? new Set<Readable>();
  if (!streamsOf.has(socket)) {
    streamsOf.set(socket, streams);
    // One listener, however many requests are sent ahead.
    socket.once('close', () => {
      for (const one of streams) one.destroy();
    });
  }
  streams.add(stream);
  stream.once('close', () => streams.delete(stream));
}
