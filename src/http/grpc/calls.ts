/** Calls of gRPC, as requests of HTTP/1 and back. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  constants,
  createServer,
  type Http2ServerRequest,
  Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { FastifyInstance } from 'fastify';
import {
  callsMax,
  callsPerConnectionMax,
  callWindowBytes,
  headerBytesMax,
  keepAliveTimeoutMs,
} from '../../domain/limits.js';
import { HEADERS_TOO_LARGE } from '../connection/connection-errors.js';
import type { Turns } from '../connection/turns.js';
import { ENCODINGS } from '../otlp/body.js';
import type { BasePath } from '../request/base-path.js';
import { EXPIRY_HEADER } from '../request/target.js';
import { errorBody } from '../server/errors.js';
import { SECURITY_HEADERS, type SecurityHeaders } from '../server/headers.js';
import { frameBytes } from './message.js';
import { PacedFrames } from './paced-frames.js';

/** The route of each method. */
const ROUTES: ReadonlyMap<string, string> = new Map(
  Object.entries({ Trace: 'traces', Logs: 'logs', Metrics: 'metrics' }).map(([service, path]) => [
    `/opentelemetry.proto.collector.${service.toLowerCase()}.v1.${service}Service/Export`,
    `/v1/${path}`,
  ]),
);

/** A path without a route. */
const nowhere = '/-';

/** How many calls begin in one turn of the event loop. One read of a connection may bring hundreds, and many connections may be read. */
const callsInTurn = 16;

/** How many more calls of a connection than others may be reset as they come: clients cancel few, and not those that they have just sent. */
const resetsMax = 100;

/** V8 frees all sessions that have ended in one pause, which takes 0.1 ms for each. */
const sessionsAtOnce = 128;

const TOO_MANY = new Error('The client does little else than reset its calls as they come.');

const GRPC = /^application\/grpc(\+proto)?(;|$)/i;

export interface CallsPlace {
  readonly basePath: BasePath;
  /** Of the answers that the app does not give. */
  readonly security: SecurityHeaders;
}

export class Calls {
  readonly #app: FastifyInstance;
  readonly #basePath: BasePath;
  readonly #security: SecurityHeaders;
  readonly #server = openServer();
  readonly #sockets = new Map<Http2Session | undefined, Socket>();
  /** Calls that have not begun. */
  readonly #waiting: (() => void)[] = [];
  #isClosing = false;
  #ended = 0;

  constructor(app: FastifyInstance, { basePath, security }: CallsPlace) {
    this.#app = app;
    this.#basePath = basePath;
    this.#security = security;
    this.#server.on('request', (request, response) => {
      if (this.#waiting.push(() => this.#begin(request, response)) === 1) this.#beginSome();
    });
  }

  serve(socket: Socket, turns: Turns): void {
    if (socket.destroyed) return;
    this.#server.once('session', (session) => {
      this.#sockets.set(session, socket);
      session.setLocalWindowSize(callWindowBytes);
      session.once('close', () => {
        this.#sockets.delete(session);
        if (++this.#ended % sessionsAtOnce === 0) beginCollection();
      });
      let resets = 0;
      session.on('stream', ({ destroyed }) => {
        resets = destroyed ? resets + 1 : Math.max(0, resets - 1);
        if (resets > resetsMax && !session.destroyed)
          session.destroy(TOO_MANY, constants.NGHTTP2_ENHANCE_YOUR_CALM);
      });
      // The timer of a session outlives it, and would keep it in memory.
      socket.setTimeout(keepAliveTimeoutMs, () => session.close());
      if (this.#isClosing) session.close();
    });
    this.#server.updateSettings({ maxConcurrentStreams: shareOf(this.#sockets.size + 1) });
    this.#server.emit('connection', new PacedFrames(socket, turns));
  }

  /** Takes no new calls. Connections end with their last one. */
  close(): void {
    this.#isClosing = true;
    for (const session of this.#sockets.keys()) session?.close();
  }

  /** Begins some calls in the next turn. By then, a call that its client reset at once is closed, and costs nothing more. */
  #beginSome(): void {
    setImmediate(() => {
      for (const begin of this.#waiting.splice(0, callsInTurn)) begin();
      if (this.#waiting.length > 0) this.#beginSome();
    });
  }

  #begin(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = request;
    if (stream.destroyed) return;
    const socket = this.#sockets.get(stream.session);
    if (!(response instanceof CallResponse) || socket === undefined) stream.close();
    // The client learns the limit too late for its first call.
    else if (bytesOf(request.rawHeaders) > headerBytesMax) this.#refuse(response, 431, HEADERS_TOO_LARGE);
    else if (isGrpc(request)) this.#pass(request, response, socket);
    else this.#refuse(response, 415, OTHER);
  }

  /** Answers without a status of gRPC. */
  #refuse({ stream }: CallResponse, status: number, error: string): void {
    stream.respond({ ':status': status, 'content-type': 'application/json', ...this.#security });
    stream.end(JSON.stringify(errorBody(error)));
  }

  #pass(request: Http2ServerRequest, response: CallResponse, socket: Socket): void {
    const route = ROUTES.get(request.url);
    response.isUnknown = route === undefined;
    request.url = `${this.#basePath}${route ?? nowhere}`;
    request.headers['content-type'] = 'application/x-protobuf';
    // Deadlines and limits are those of connections. The framework takes requests of HTTP/2, but its type is of one version.
    const own = Object.defineProperty(request, 'socket', { value: socket });
    this.#app.routing(own as unknown as IncomingMessage, response as unknown as ServerResponse);
  }
}

/** V8 does not know what sessions take outside its heap. It begins a collection, in steps, after 64 MB of what it does know. */
function beginCollection(): void {
  try {
    // The operating system gives no memory for bytes that nobody touches.
    Buffer.allocUnsafeSlow(80 * 1024 * 1024);
  } catch {
    // The address space is limited. V8 collects later.
  }
}

/** How many calls a new connection may have at a time: at least one, so that none is shut out. */
function shareOf(connections: number): number {
  return Math.min(callsPerConnectionMax, Math.max(1, Math.floor(callsMax / connections)));
}

/** Does not listen: it is given connections. */
function openServer() {
  return createServer({
    Http2ServerResponse: CallResponse,
    settings: {
      maxHeaderListSize: headerBytesMax,
      initialWindowSize: callWindowBytes,
    },
  });
}

function isGrpc({ method, headers }: Http2ServerRequest): boolean {
  return method === 'POST' && GRPC.test(headers['content-type'] ?? '');
}

const OTHER =
  'HTTP/2 without TLS is for calls of gRPC (application/grpc) here; send other requests as HTTP/1.1.';

function bytesOf(headers: readonly string[]): number {
  return headers.reduce((sum, text) => sum + text.length, 0);
}

/** The headers of the HTTP response that the answer to a call keeps. */
const KEPT: readonly string[] = [
  EXPIRY_HEADER,
  'strict-transport-security',
  ...Object.keys(SECURITY_HEADERS),
];

/** The response of HTTP, sent as that of a call when it is complete. Its status stays that of HTTP: metrics and logs read it. */
class CallResponse extends Http2ServerResponse {
  /** Whether there is no such method. */
  isUnknown = false;
  #headers: OutgoingHttpHeaders = {};
  readonly #body: Buffer[] = [];

  constructor(stream: ServerHttp2Stream) {
    super(stream);
    Object.defineProperty(this, 'statusCode', { value: 200, writable: true });
  }

  override writeHead(status: number, headers?: unknown): this {
    this.statusCode = status;
    this.#headers = { ...(headers as OutgoingHttpHeaders) };
    return this;
  }

  override write(chunk: string | Uint8Array): boolean {
    this.#body.push(Buffer.from(chunk));
    return true;
  }

  override end(chunk?: unknown): this {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.write(chunk);
    const body = Buffer.concat(this.#body);
    const status = this.isUnknown ? UNKNOWN : statusOf(this.statusCode, this.#headers, body);
    super.writeHead(200, {
      'content-type': 'application/grpc',
      'grpc-accept-encoding': ENCODINGS.join(),
      ...Object.fromEntries(Object.entries(this.#headers).filter(([name]) => KEPT.includes(name))),
    });
    if (status.code === 0) super.write(frame(body));
    this.addTrailers(trailersOf(status));
    // A client that is still sending must read on.
    this.req.resume();
    return super.end();
  }
}

interface Status {
  readonly code: number;
  readonly message?: string;
  /** When to try again. */
  readonly retrySeconds?: number;
}

const UNKNOWN: Status = {
  code: 12,
  message: `There is no such method; ${[...ROUTES.keys()].join(', ')} exist.`,
};

/**
 * The code of each status of HTTP. Exporters try again after `UNAVAILABLE`, and after `RESOURCE_EXHAUSTED` with a time; some also
 * without, so that a request which is too large is an invalid one.
 */
const CODES: ReadonlyMap<number, number> = new Map([
  [200, 0],
  [400, 3],
  [401, 16],
  [403, 7],
  [404, 5],
  [413, 3],
  [415, 12],
  [429, 8],
  [503, 14],
]);

const INTERNAL = 13;

function statusOf(status: number, headers: OutgoingHttpHeaders, body: Buffer): Status {
  const code = CODES.get(status) ?? INTERNAL;
  if (code === 0) return { code };
  const { error } = JSON.parse(body.toString()) as { readonly error: string };
  const retryAfter = headers['retry-after'];
  return { code, message: error, ...(retryAfter !== undefined && { retrySeconds: Number(retryAfter) }) };
}

function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(frameBytes);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Clients refuse trailers of more than 8 KB. */
const messageCharactersMax = 1000;

function trailersOf({ code, message = '', retrySeconds }: Status): OutgoingHttpHeaders {
  if (code === 0) return { 'grpc-status': '0' };
  const text = message.slice(0, messageCharactersMax).toWellFormed();
  return {
    'grpc-status': String(code),
    'grpc-message': text.replaceAll(/[^ -~]|%/gu, encodeURIComponent),
    ...(retrySeconds !== undefined && {
      'grpc-status-details-bin': detailsOf(code, text, retrySeconds).toString('base64'),
    }),
  };
}

/** A `google.rpc.Status` with `RetryInfo`. */
function detailsOf(code: number, message: string, retrySeconds: number): Buffer {
  const text = (writer: BinaryWriter, field: number, value: string) =>
    writer.tag(field, WireType.LengthDelimited).string(value);
  const writer = new BinaryWriter().tag(1, WireType.Varint).int32(code);
  text(writer, 2, message).tag(3, WireType.LengthDelimited).fork();
  text(writer, 1, 'type.googleapis.com/google.rpc.RetryInfo').tag(2, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int64(retrySeconds);
  return Buffer.from(writer.join().join().join().finish());
}
