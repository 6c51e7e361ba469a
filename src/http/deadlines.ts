/**
 * Deadlines that the framework does not keep: for whoever never reads an answer, and for what is still connected when the
 * server stops. Requests that do not arrive are Node's to refuse (408), answers that are not made the framework's (503).
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { onExchangeEnd } from './exchange-end.js';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** How many looks have found its answer made and not taken. */
  untaken: number;
}

/** Looks in the time that an answer may stay where it is. */
const looks = 4;

export class Deadlines {
  readonly #sockets = new Set<Socket>();
  readonly #exchanges = new Set<Exchange>();

  /** `answerTimeoutMs`: how long a whole answer may wait for its reader; `closeGraceMs`: what others have when the app closes. */
  watch(
    app: FastifyInstance,
    { answerTimeoutMs, closeGraceMs }: { readonly answerTimeoutMs: number; readonly closeGraceMs: number },
  ): void {
    this.#followAll(app.server);
    const timer = setInterval(() => this.#cutUntaken(), answerTimeoutMs / looks).unref();
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
    const exchange = { request, response, untaken: 0 };
    this.#exchanges.add(exchange);
    onExchangeEnd(request, response, () => this.#exchanges.delete(exchange));
  }

  #cutUntaken(): void {
    for (const exchange of this.#exchanges) {
      if (!exchange.response.writableEnded) continue;
      exchange.untaken++;
      if (exchange.untaken > looks) exchange.request.socket.destroy();
    }
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
