import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is still to be called when a connection closes. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls `onEnd` once, when the answer has gone out or its connection is gone. An answer that waits behind another one, as
 * on a pipelined connection, has no connection of its own yet, and so is not told by Node when that closes.
 */
export function onExchangeEnd(
  { socket }: Pick<IncomingMessage, 'socket'>,
  response: Pick<ServerResponse, 'once'>,
  onEnd: () => void,
): void {
  if (socket.closed) {
    onEnd();
    return;
  }
  const ends = waiting.get(socket) ?? follow(socket);
  const end = () => {
    if (ends.delete(end)) onEnd();
  };
  ends.add(end);
  response.once('close', end);
}

function follow(socket: Socket): Set<() => void> {
  const ends = new Set<() => void>();
  waiting.set(socket, ends);
  // One listener for all of them: a client may send any number of requests before it reads an answer.
  socket.once('close', () => {
    for (const end of [...ends]) end();
  });
  return ends;
}
