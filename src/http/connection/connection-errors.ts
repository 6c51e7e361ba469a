/**
 * Answers to what never becomes a request that the framework sees: broken HTTP, headers too large, a client too slow,
 * CONNECT, an Expect that cannot be met. Node would answer these with an empty body or not at all; the contract says
 * that every error has one shape.
 */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody } from '../errors.js';
import { SECURITY_HEADERS } from '../headers.js';

const ANSWERS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The URL and headers together are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions of the body are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
};

/** A request whose answer has not gone out yet. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers what the framework leaves to Node. One for each server. */
export class ConnectionErrors {
  readonly #onAnswer: (status: number) => void;
  readonly #underWay = new WeakMap<Duplex, Exchange[]>();

  /** `onAnswer` is called with the status of each answer. */
  constructor(onAnswer: (status: number) => void = () => undefined) {
    this.#onAnswer = onAnswer;
  }

  /** For Node's `clientError`. */
  readonly onClientError = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const refusal = refusalOf(error, socket, this.#underWay.get(socket) ?? []);
    if (refusal !== undefined) this.#answer(socket, ...refusal);
  };

  /** Listens to what else the server says. */
  watch(server: Server): void {
    server.on('request', (request, response) => {
      const exchanges = this.#underWay.get(request.socket) ?? [];
      this.#underWay.set(request.socket, exchanges);
      exchanges.push({ request, response });
      response.once('close', () => exchanges.shift());
    });
    server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
      const message = 'This server is no proxy: it takes no CONNECT.';
      this.#answer(socket, 405, message, { allow: 'GET, HEAD, POST' });
    });
    server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
      const body = JSON.stringify(errorBody('The Expect header asks for what this server cannot do.'));
      response.writeHead(417, { ...headersFor(body), connection: 'close' }).end(body);
      this.#onAnswer(417);
    });
  }

  #answer(socket: Duplex, status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    answer(socket, status, message, headers);
    this.#onAnswer(status);
  }
}

/**
 * What to answer to what is no request; undefined where there is nothing to say, and the connection's end is seen to.
 * What follows a whole request on its connection may be nonsense, but the request is not: it gets its own answer, for
 * it may have been recorded, and then the connection ends.
 */
function refusalOf(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  exchanges: readonly Exchange[],
): readonly [status: number, message: string] | undefined {
  const last = exchanges.at(-1);
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
  } else if (last === undefined || (exchanges.length === 1 && !last.request.complete)) {
    return ANSWERS[error.code ?? ''] ?? [400, 'The request is not valid HTTP/1.1.'];
  } else if (last.request.complete) {
    last.response.once('finish', () => socket.end());
  } else {
    // Any answer would be taken for that of the request before it.
    socket.destroy();
  }
  return undefined;
}

function answer(
  socket: Duplex,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>>,
): void {
  const body = JSON.stringify(errorBody(message));
  const lines = Object.entries({ ...headersFor(body), ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
}

function headersFor(body: string): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    ...SECURITY_HEADERS,
  };
}
