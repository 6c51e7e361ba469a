/**
 * Hands what arrives to the parser of HTTP/1 in slices. Node parses all that it has read of a connection in one turn of the event
 * loop: of 64 KB, and on every connection that has something to read. Pipelined requests held the loop for seconds that way. A
 * client that waits for its answers notices nothing: its request is one slice, or its body follows as it has arrived.
 */
import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import type { Turns } from './turns.js';

/** A slice where requests may begin: some 50 of the shortest. */
const sliceBytes = 1024;

/** A slice of a body in chunks. Requests may follow it. */
const chunkedSliceBytes = 4 * 1024;

/** What these take of a turn. */
const requestSteps = 4;
const stepBytes = 64;

interface Arriving {
  readonly parse: (bytes: Buffer) => void;
  /** The request whose body has not arrived completely. */
  request: IncomingMessage | undefined;
  /** At least so many bytes of its body follow. */
  bodyBytes: number;
  /** Whether the parser gets nothing more. */
  isOver: boolean;
}

/** Call it before the server listens. */
export function paceArrivals(server: Server, turns: Turns): void {
  const arrivals = new Arrivals(turns);
  server.on('request', (request) => arrivals.begin(request));
  server.on('connection', (socket: Socket) => {
    arrivals.watch(socket);
    paceEnd(socket, turns);
  });
  // Without a listener, Node takes an upgrade for a request like others.
  server.on('connect', (_request, socket: Socket) => arrivals.end(socket));
  server.on('clientError', (_error, socket) => arrivals.end(socket as Socket));
}

/** Thousands of connections may end at once, and ending each takes several system calls. */
function paceEnd(socket: Socket, turns: Turns): void {
  const { _final, _destroy } = Socket.prototype;
  socket._final = (done) => void turns.next().then(() => _final.call(socket, done));
  socket._destroy = (error: NodeJS.ErrnoException | null, done) => {
    // The client has reset the connection: nothing follows on it.
    if (error?.syscall === 'read') void turns.next().then(() => _destroy.call(socket, error, done));
    else _destroy.call(socket, error, done);
  };
}

class Arrivals {
  readonly #arriving = new WeakMap<Socket, Arriving>();
  readonly #turns: Turns;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  watch(socket: Socket): void {
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    // Node has these of each connection until somebody else listens to its data, and they stop and start the reading at once.
    const [stop] = socket.listeners('pause') as (() => void)[];
    const [start] = socket.listeners('resume') as (() => void)[];
    if (parse === undefined || stop === undefined || start === undefined) return;
    const arriving: Arriving = { parse, request: undefined, bodyBytes: 0, isOver: false };
    this.#arriving.set(socket, arriving);
    socket.removeListener('data', parse);
    socket.on('data', (bytes: Buffer) => this.#take(socket, arriving, bytes));
    socket.on('pause', stop).on('resume', start);
  }

  begin(request: IncomingMessage): void {
    this.#turns.spend(requestSteps);
    const arriving = this.#arriving.get(request.socket);
    if (arriving !== undefined) arriving.request = request;
  }

  end(socket: Socket): void {
    const arriving = this.#arriving.get(socket);
    if (arriving !== undefined) arriving.isOver = true;
  }

  #take(socket: Socket, arriving: Arriving, bytes: Buffer): void {
    if (arriving.isOver) return;
    this.#turns.forget(socket);
    let at = 0;
    while (at < bytes.length && !arriving.isOver && !socket.destroyed) {
      if (this.#turns.isOver) {
        this.#turns.wait(socket, bytes.length - at);
        break;
      }
      const end = at + sizeOf(arriving);
      this.#parse(arriving, at === 0 && end >= bytes.length ? bytes : bytes.subarray(at, end));
      at = end;
      // Nobody reads the body, or the answers.
      if (socket.isPaused()) break;
    }
    // Also for whoever took the connection from the parser.
    if (at < bytes.length) socket.unshift(bytes.subarray(at));
  }

  #parse(arriving: Arriving, slice: Buffer): void {
    const { request, bodyBytes } = arriving;
    this.#turns.spend(1 + Math.max(0, slice.length - Math.max(0, bodyBytes)) / stepBytes);
    arriving.parse(slice);
    if (arriving.request !== request) arriving.bodyBytes = lengthOf(arriving.request);
    arriving.bodyBytes -= slice.length;
    if (arriving.request?.complete === true) arriving.request = undefined;
  }
}

/** Where no request may begin, the slice may be large. */
function sizeOf({ request, bodyBytes }: Arriving): number {
  return request === undefined ? sliceBytes : Math.max(chunkedSliceBytes, bodyBytes);
}

function lengthOf(request: IncomingMessage | undefined): number {
  return Number(request?.headers['content-length'] ?? 0);
}
