/**
 * Answers requests that never reach the framework: invalid HTTP, headers that are too large, clients that are too slow,
 * CONNECT, an Expect that cannot be met. Node would send an empty body or nothing, but every error has the same shape.
 */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { headerBytesMax } from '../../domain/limits.js';
import { errorBody } from '../server/errors.js';
import type { SecurityHeaders } from '../server/headers.js';
import { type Exchange, exchangesOn, trackExchange } from './connections.js';
import type { LingeringClose } from './lingering-close.js';

export const HEADERS_TOO_LARGE = `The URL and headers together are too large; they may have ${headerBytesMax} bytes.`;

const ANSWERS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, HEADERS_TOO_LARGE],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions of the body are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
};

interface ConnectionErrorsOptions {
  /** Of each answer. */
  readonly security: SecurityHeaders;
  /** Called with the status of each answer. */
  readonly malformed?: (status: number) => void;
  /** Called for each error. Returns whether it takes the connection. */
  readonly take?: (error: NodeJS.ErrnoException, socket: Socket) => boolean;
}

/** Creates the listeners for such requests. */
export function createConnectionErrors(
  closeLingering: LingeringClose,
  { security, malformed: onAnswer = () => undefined, take = () => false }: ConnectionErrorsOptions,
) {
  const answer = (
    socket: Socket,
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): void => {
    const body = JSON.stringify(errorBody(message));
    const lines = Object.entries({ ...headersFor(body, security), ...headers, connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
    closeLingering(socket);
    onAnswer(status);
  };
  return {
    /** For Node's `clientError`. */
    onClientError: (error: NodeJS.ErrnoException, socket: Socket): void => {
      if (take(error, socket)) return;
      const [status, message] = ANSWERS[error.code ?? ''] ?? [400, 'The request is not valid HTTP/1.1.'];
      afterEarlierAnswers(error, socket, () => {
        // The last response may have announced that it closes the connection.
        if (socket.writable) answer(socket, status, message);
        else closeLingering(socket);
      });
    },
    /** Handles the server's other events for such requests. Its connections must be tracked (`trackConnections`). */
    watch: (server: Server): void => {
      server.on('connect', (_request: IncomingMessage, socket: Socket) => {
        const message = 'This server is not a proxy and does not support CONNECT.';
        answer(socket, 405, message, { allow: 'GET, HEAD, POST' });
      });
      server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
        trackExchange(request, response);
        const body = JSON.stringify(errorBody('The Expect header asks for what this server cannot do.'));
        response.writeHead(417, { ...headersFor(body, security), connection: 'close' }).end(body);
        onAnswer(417);
      });
    },
  };
}

/**
 * Calls `answer` when it is the turn of the invalid bytes. Requests before them get their own responses first, because
 * they may have recorded something. If the bytes may belong to a request that has its response, the connection ends without.
 */
function afterEarlierAnswers(error: NodeJS.ErrnoException, socket: Socket, answer: () => void): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [last, earlier] = exchangesOn(socket).toReversed();
  if (last === undefined) answer();
  else if (last.request.complete) last.response.once('finish', answer);
  else {
    const end = () => {
      if (canStillAnswer(last)) answer();
      // The client would take an answer for the response to the request before.
      else if (last.response.writableFinished || !last.response.writableEnded) socket.destroySoon();
      else last.response.once('finish', () => socket.destroySoon());
    };
    if (earlier === undefined) end();
    else earlier.onFinished(end);
  }
}

function canStillAnswer({ request, response }: Exchange): boolean {
  return !request.complete && !response.headersSent;
}

function headersFor(body: string, security: SecurityHeaders): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    ...security,
  };
}
