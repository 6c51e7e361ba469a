/**
 * Deadlines for responses that take too long to produce, for clients that do not read their response, and for
 * connections that are still open when the server stops. Node itself answers requests that do not arrive in time (408).
 *
 * The framework has an option for slow handlers (`handlerTimeout`), but it creates and aborts a signal for each request,
 * which costs a tenth of recording a single query. Checking all exchanges now and then costs next to nothing.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { closeGraceMs } from '../../domain/limits.js';
import { UnavailableError } from '../server/errors.js';
import { type Exchange, exchangesOn, trackConnections, trackExchange } from './connections.js';

/** Limits of each connection. */
export interface ConnectionLimits {
  /** Connections above this number are closed at once. */
  readonly connectionsMax: number;
  /** How long a request may take to arrive; then 408. */
  readonly requestTimeoutMs: number;
  /** How long the server may take to respond after that (then 503), and then how long the response may wait to be read. */
  readonly answerTimeoutMs: number;
}

/** Begins the deadline of a response anew: for one that is made while it is read, and may take as long as that goes on. */
export function extendDeadline(request: IncomingMessage, response: ServerResponse): void {
  trackExchange(request, response).unansweredChecks = 0;
}

/** Checks per `answerTimeoutMs`: deadlines are precise to a quarter of it. */
const checksPerTimeout = 4;

/** Enforces the limits on all connections of the app's server, and tracks them in the registry. */
export function limitConnections(
  app: FastifyInstance,
  { connectionsMax, requestTimeoutMs, answerTimeoutMs }: ConnectionLimits,
): void {
  app.server.maxConnections = connectionsMax;
  const sockets = trackConnections(app.server);
  app.addHook('onRequest', (request, reply, done) => {
    trackExchange(request.raw, reply.raw).reply = reply;
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    trackExchange(request.raw, reply.raw).isSending = true;
    done(null, payload);
  });
  const unansweredMax = (checksPerTimeout * (requestTimeoutMs + answerTimeoutMs)) / answerTimeoutMs;
  const timer = setInterval(() => {
    for (const socket of sockets) {
      for (const exchange of exchangesOn(socket)) check(exchange, unansweredMax);
    }
  }, answerTimeoutMs / checksPerTimeout).unref();
  app.addHook('preClose', async () => {
    const cuts = setInterval(() => destroyUnlessServed(sockets), closeGraceMs);
    app.server.once('close', () => clearInterval(cuts));
    if (!app.server.listening) clearInterval(cuts);
  });
  app.addHook('onClose', async () => clearInterval(timer));
}

function check(exchange: Exchange, unansweredMax: number): void {
  const { request, response, reply, isSending } = exchange;
  if (response.writableEnded) {
    exchange.unreadChecks++;
    if (exchange.unreadChecks > checksPerTimeout) request.socket.destroy();
    return;
  }
  exchange.unansweredChecks++;
  if (exchange.unansweredChecks <= unansweredMax) return;
  // A second response would take the status of the first one, and could not be sent.
  if (isSending && !response.headersSent) return;
  // Once the response has begun, its status cannot change.
  if (reply === undefined || response.headersSent) request.socket.destroy();
  // A recording that is still in progress may succeed after this response.
  else
    reply.send(
      new UnavailableError(
        'The server could not answer in time; try again. Queries may have been recorded; repeating them is safe.',
      ),
    );
}

/** A request that has arrived completely was accepted and gets its response. No other connection may delay the shutdown. */
function destroyUnlessServed(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) {
    const isServed = exchangesOn(socket).some(
      ({ request, response }) => request.complete && !response.writableEnded,
    );
    if (!isServed) socket.destroy();
  }
}
