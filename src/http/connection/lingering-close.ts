/**
 * Closes a connection whose client may still be sending, so that the client can read the response (RFC 9112, section 9.6).
 * A connection that is closed with unread bytes is reset, and the client then loses the response: some clients read it only
 * after they have sent everything.
 *
 * The server ends its own side, then reads and drops what arrives until the client closes. Dropping costs no memory and
 * little time, and has limits: bytes and time for each connection, the number of connections, and for all connections
 * together one portion of bytes per turn of the event loop, so that other requests do not wait.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import { unreadBodyBytesMax } from '../../domain/limits.js';
import { withDeadline } from '../../shared/deadline.js';
import { PacedQueue, RECORDING_PACE } from '../admission/paced-queue.js';
import { exchangesOn } from './connections.js';

/** Closes the connection when the client has closed it, or at a limit. The response must have been written. */
export type LingeringClose = (socket: Socket) => void;

export interface LingerLimits {
  /** Connections that linger at a time. Others are closed at once. */
  readonly connectionsMax: number;
  /** For each connection. */
  readonly bytesMax: number;
  /** For each connection. */
  readonly timeoutMs: number;
}

/** For the connections of one server. */
export function createLingeringClose({ connectionsMax, bytesMax, timeoutMs }: LingerLimits): LingeringClose {
  const turns = new PacedQueue(RECORDING_PACE);
  const lingering = new Set<Socket>();
  return (socket) => {
    if (socket.destroyed || lingering.has(socket)) return;
    if (lingering.size >= connectionsMax) {
      Socket.prototype.destroySoon.call(socket);
      return;
    }
    lingering.add(socket);
    socket.once('close', () => lingering.delete(socket));
    socket.end();
    const timeoutError = () => new Error('the client did not close the connection in time');
    withDeadline(timeoutMs, timeoutError, () => drop(socket, bytesMax, turns))
      .catch(() => {})
      .finally(() => socket.destroy());
  };
}

/** Uses `close` for the connections that Node would close although the body of a request has not arrived. */
export function closeWhileReceiving(server: Server, close: LingeringClose): void {
  server.on('connection', (socket: Socket) => {
    // Node calls this after the last response of a connection.
    socket.destroySoon = () => {
      const isReceiving = exchangesOn(socket).some(({ request }) => !request.complete);
      if (isReceiving) close(socket);
      else Socket.prototype.destroySoon.call(socket);
    };
  });
}

async function drop(socket: Socket, bytesMax: number, turns: PacedQueue): Promise<void> {
  // From here on, the parser gets nothing, of what waits for its turn either: it would pause the connection again.
  socket.removeAllListeners('data');
  // What arrived with the request is handed back to the connection in this turn, and a stream that is read meanwhile would stop.
  await turns.next();
  // Node pauses a connection when nobody reads a body. Its HTTP parser must take part in resuming it.
  if (socket.isPaused()) await once(socket.resume(), 'resume');
  let bytes = 0;
  for await (const { length } of socket.iterator({ destroyOnReturn: false })) {
    bytes += length;
    if (bytes > bytesMax) return;
    await turns.next(length);
  }
}

/**
 * Whether the connection must close after the response to this request: because too much of its body has not arrived yet, or
 * because the client may leave the body out after `Expect: 100-continue`. Node reads and drops the rest of other bodies.
 */
export function mustCloseAfter({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length =
    headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;
  return length > (headers.expect === undefined ? unreadBodyBytesMax : 0);
}

/** Lets a client that waits for `100 Continue` send its body when the body is read, and not if the request is refused before. */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue();
    });
    server.emit('request', request, response);
  });
}
