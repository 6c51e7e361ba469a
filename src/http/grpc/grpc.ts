/**
 * OTLP over gRPC, on the port of HTTP. A connection that begins as HTTP/2 without TLS is taken from the parser of HTTP/1, and each
 * call becomes a request for the route of OTLP over HTTP: the same checks, limits and counts hold for both. What HTTP/2 needs
 * is loaded later.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { later } from '../../shared/later.js';
import { exchangesOn } from '../connection/connections.js';
import type { Turns } from '../connection/turns.js';
import type { Calls, CallsPlace } from './calls.js';

const loadCalls = later(() => import('./calls.js'));

/** With these bytes a connection becomes one of HTTP/2 (RFC 9113, section 3.4). The parser of HTTP/1 stops after them. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** The error of that parser. Its `bytesParsed` end where the preface does. */
interface PrefaceError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** Takes over connections of HTTP/2. */
export class Grpc {
  readonly #place: CallsPlace;
  #app: FastifyInstance | undefined;
  #calls: Promise<Calls> | undefined;
  readonly #sockets = new WeakSet<Socket>();

  constructor(place: CallsPlace) {
    this.#place = place;
  }

  /** To be called before the app is ready. */
  watch(app: FastifyInstance): void {
    this.#app = app;
    app.addHook('preClose', async () => (await this.#calls)?.close());
  }

  /** Returns whether the connection of this error belongs to HTTP/2, and is no longer HTTP/1's concern. */
  take({ code, rawPacket, bytesParsed }: PrefaceError, socket: Socket, turns: Turns): boolean {
    const app = this.#app;
    // The parser still waits for the end of a request, and reports one that is late.
    if (this.#sockets.has(socket)) return true;
    if (code !== 'HPE_PAUSED_H2_UPGRADE' || rawPacket === undefined || app === undefined) return false;
    if (exchangesOn(socket).length > 0) return false;
    this.#sockets.add(socket);
    for (const event of ['data', 'end', 'drain', 'timeout']) socket.removeAllListeners(event);
    // Takes the connection from the parser, and keeps what arrives until there is a session.
    socket.on('readable', () => {});
    const first = Buffer.concat([PREFACE, rawPacket.subarray(bytesParsed)]);
    this.#calls ??= loadCalls().then(({ Calls }) => new Calls(app, this.#place));
    this.#calls.then(
      async (calls) => {
        await turns.next();
        socket.removeAllListeners('readable').unshift(first);
        calls.serve(socket, turns);
      },
      (error: Error) => socket.destroy(error),
    );
    return true;
  }
}
