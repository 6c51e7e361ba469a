/**
 * Deadlines: for answers that are not made, for whoever never reads one, and for what is still connected when the server
 * stops. Requests that do not arrive are Node's to refuse (408).
 *
 * The framework could end late handlers (`handlerTimeout`), but makes and aborts a signal for each request to do so, which
 * costs a tenth of recording a single query. A look at all of them now and then is next to nothing for each.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { tooLate } from '../errors.js';
import { onExchangeEnd } from './on-finished.js';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** How many looks have found no answer. */
  unanswered: number;
  /** How many looks have found its answer made and not taken. */
  untaken: number;
}

interface Times {
  readonly requestTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly closeGraceMs: number;
}

/** Looks in the time that an answer may stay where it is. */
const looks = 4;

export class Deadlines {
  readonly #sockets = new Set<Socket>();
  readonly #exchanges = new Set<Exchange>();
  readonly #replies = new WeakMap<ServerResponse, FastifyReply>();

  /**
   * `requestTimeoutMs`: how long a request may take to arrive; `answerTimeoutMs`: how long it may take to be answered then, and
   * how long the whole answer may wait for its reader; `closeGraceMs`: what others have when the app closes. Kept to a quarter
   * of them.
   */
  watch(app: FastifyInstance, { requestTimeoutMs, answerTimeoutMs, closeGraceMs }: Times): void {
    this.#followAll(app.server);
    app.addHook('onRequest', (_request, reply, done) => {
      this.#replies.set(reply.raw, reply);
      done();
    });
    const unansweredMax = (looks * (requestTimeoutMs + answerTimeoutMs)) / answerTimeoutMs;
    const timer = setInterval(() => this.#look(unansweredMax), answerTimeoutMs / looks).unref();
    app.addHook('preClose', async () => {
      const cuts = setInterval(() => this.#cutAllButWorkedOn(), closeGraceMs);
      app.server.once('close', () => clearInterval(cuts));
      if (!app.server.listening) clearInterval(cuts);
    });
    app.addHook('onClose', async () => clearInterval(timer));
  }

  #followAll(server: Server): void {
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (request, response) => this.follow(request, response));
  }

  /** Until its answer has gone out, or its connection is gone. */
  follow(request: IncomingMessage, response: ServerResponse): void {
    const exchange = { request, response, unanswered: 0, untaken: 0 };
    this.#exchanges.add(exchange);
    onExchangeEnd(request, response, () => this.#exchanges.delete(exchange));
  }

  #look(unansweredMax: number): void {
    for (const exchange of this.#exchanges) {
      if (exchange.response.writableEnded) {
        exchange.untaken++;
        if (exchange.untaken > looks) exchange.request.socket.destroy();
      } else {
        exchange.unanswered++;
        if (exchange.unanswered > unansweredMax) this.#answerLate(exchange);
      }
    }
  }

  /** Of an answer that has begun, nothing can be said any more. */
  #answerLate({ request, response }: Exchange): void {
    const reply = this.#replies.get(response);
    if (reply === undefined || response.headersSent) request.socket.destroy();
    else reply.send(tooLate());
  }

  /** What came whole was accepted and gets its answer; no other connection may hold up the end. */
  #cutAllButWorkedOn(): void {
    const workedOn = new Set<Socket>();
    for (const { request, response } of this.#exchanges) {
      if (request.complete && !response.writableEnded) workedOn.add(request.socket);
    }
    for (const socket of this.#sockets) if (!workedOn.has(socket)) socket.destroy();
  }
}
