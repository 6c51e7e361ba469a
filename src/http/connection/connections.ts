/**
 * The connection registry: which connections are open, and which exchanges (a request and its response) are in progress
 * on each. Everything that follows connections or waits for the end of a response uses it.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** A request and its response, until the response has been sent or the connection is closed. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The framework's view of the response, once the framework has received the request. */
  reply: FastifyReply | undefined;
  /** Whether there is a response, which waits for its turn to be sent. */
  isSending = false;
  /** How many deadline checks found no response. */
  unansweredChecks = 0;
  /** How many deadline checks found a response that the client had not read. */
  unreadChecks = 0;
  /** Undefined once the exchange is finished. */
  #callbacks: (() => void)[] | undefined = [];

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
  }

  onFinished(callback: () => void): void {
    if (this.#callbacks === undefined) callback();
    else this.#callbacks.push(callback);
  }

  finish(): void {
    const callbacks = this.#callbacks ?? [];
    this.#callbacks = undefined;
    for (const callback of callbacks) callback();
  }
}

/**
 * The response holds its exchange. In a weak map, the exchange would hold the map's key, and V8 would not collect either among
 * the young objects: each took memory until the next full collection, and a tenth of the time of a recording.
 */
const EXCHANGE = Symbol('exchange');
const exchangesBySocket = new WeakMap<Duplex, Set<Exchange>>();

/** Tracks all connections and exchanges of the server. Returns the open connections, a live set. */
export function trackConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    // Node remembers the address once it has been read, and does not find it after the client has disconnected.
    void socket.remoteAddress;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (request, response) => void trackExchange(request, response));
  return open;
}

/** The exchanges in progress on a connection, oldest first: more than one if the client pipelines requests. */
export function exchangesOn(socket: Duplex): readonly Exchange[] {
  return [...(exchangesBySocket.get(socket) ?? [])];
}

/** Registers the exchange, or finds it if it is registered. */
export function trackExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const tracked: ServerResponse & { [EXCHANGE]?: Exchange } = response;
  if (tracked[EXCHANGE] !== undefined) return tracked[EXCHANGE];
  const exchange = new Exchange(request, response);
  tracked[EXCHANGE] = exchange;
  const { socket } = request;
  if (socket.closed) {
    exchange.finish();
    return exchange;
  }
  const exchanges = exchangesBySocket.get(socket) ?? trackSocket(socket);
  exchanges.add(exchange);
  exchange.onFinished(() => exchanges.delete(exchange));
  response.once('close', () => exchange.finish());
  return exchange;
}

/** Calls `callback` once, when the response has been sent or its connection is closed. */
export function onFinished(request: IncomingMessage, response: ServerResponse, callback: () => void): void {
  trackExchange(request, response).onFinished(callback);
}

/**
 * Answers clients that end their side of a connection after they have sent their requests. Node would close the connection, and they
 * would not learn whether their queries were recorded. Clients that only read are still taken for gone, so that nothing works for them.
 */
export function answerHalfClosed(server: Server): void {
  // Node's types lack it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket) => {
    socket.once('end', () => {
      if (exchangesOn(socket).every(({ request }) => isRead(request))) socket.end();
    });
  });
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Node does not emit `close` for a response that waits behind another one on a pipelined connection, so the connection's own
 * event finishes its exchanges. One listener serves all of them: a client may send any number of requests ahead.
 */
function trackSocket(socket: Socket): Set<Exchange> {
  const exchanges = new Set<Exchange>();
  exchangesBySocket.set(socket, exchanges);
  socket.once('close', () => {
    for (const exchange of [...exchanges]) exchange.finish();
  });
  return exchanges;
}
