/** A keep-alive connection that sends requests without waiting for earlier responses (pipelining). */
import { connect, type Socket } from 'node:net';
import { type RawResponse, ResponseReader } from '../support/response-reader.js';
import type { FuzzRequest } from './parts.js';

/** The response to a request, or why there is none. */
export type Outcome = RawResponse | 'closed' | 'hung' | { readonly bad: string };

export interface LaneOptions {
  readonly port: number;
  /** The number of requests that may wait for their responses. */
  readonly depth: number;
  readonly hangMs: number;
  readonly now: () => number;
  /** The next request to send; undefined after the last one. */
  readonly next: () => FuzzRequest | undefined;
  readonly onOutcome: (request: FuzzRequest, outcome: Outcome) => void;
  /** Called with a request that is repeated because its connection ended without a response to it. */
  readonly onRepeat: (request: FuzzRequest) => void;
}

/** Sends all requests of `next` in order, over one connection at a time. */
export class Lane {
  readonly #options: LaneOptions;
  #socket: Socket | undefined;
  #reader = new ResponseReader();
  #pending: FuzzRequest[] = [];
  /** Requests to repeat, because their connection ended before their responses. */
  #repeats: FuzzRequest[] = [];
  #lastResponseMs = 0;
  #onDone: () => void = () => {};

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Resolves when all requests have been sent and answered. */
  run(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDone = resolve;
      this.#fill();
    });
  }

  /** Gives up a request that has waited for too long. Must be called regularly. */
  checkDeadline(): void {
    if (this.#pending.length === 0 || this.#options.now() - this.#lastResponseMs < this.#options.hangMs)
      return;
    const [first, ...others] = this.#pending;
    this.#drop();
    this.#repeat(others);
    if (first !== undefined) this.#options.onOutcome(first, 'hung');
    this.#fill();
  }

  #fill(): void {
    const { depth, next, now } = this.#options;
    if (this.#pending.length > depth / 2) return;
    const batch: Buffer[] = [];
    while (this.#pending.length < depth && !this.#pending.at(-1)?.alone) {
      // A request that is sent alone waits for the others.
      const request = this.#repeats.shift() ?? next();
      if (request === undefined) break;
      if (request.alone && this.#pending.length > 0) {
        this.#repeats.unshift(request);
        break;
      }
      if (this.#pending.length === 0) this.#lastResponseMs = now();
      this.#pending.push(request);
      batch.push(request.bytes);
    }
    if (this.#pending.length === 0) {
      this.#drop();
      this.#onDone();
      return;
    }
    if (batch.length > 0) this.#write(Buffer.concat(batch));
  }

  #write(bytes: Buffer): void {
    const [first] = this.#pending;
    if (first?.alone) this.#disconnect();
    this.#socket ??= this.#open();
    if (first?.cut) this.#socket.end(bytes);
    else this.#socket.write(bytes);
  }

  #open(): Socket {
    const socket = connect({
      port: this.#options.port,
      host: '127.0.0.1',
      noDelay: true,
      allowHalfOpen: true,
    });
    const isCurrent = (): boolean => socket === this.#socket;
    socket.on('data', (bytes: Buffer) => {
      if (isCurrent()) this.#take(bytes);
    });
    socket.on('end', () => {
      if (isCurrent()) this.#closed();
    });
    // The server resets a connection that it closes while it receives data. Its response has been read by then.
    socket.on('error', () => {
      if (isCurrent()) this.#closed();
    });
    this.#reader = new ResponseReader();
    return socket;
  }

  #take(bytes: Buffer): void {
    this.#reader.add(bytes);
    try {
      for (;;) {
        const [request] = this.#pending;
        if (request === undefined) break;
        const response = this.#reader.next(request.method);
        if (response === undefined) break;
        this.#pending.shift();
        this.#lastResponseMs = this.#options.now();
        if (this.#hasMore(request, response)) {
          this.#options.onOutcome(request, { bad: 'it has more than one response' });
          this.#restart();
          return;
        }
        this.#options.onOutcome(request, response);
        if (request.alone || response.headers['connection'] === 'close') {
          this.#restart();
          return;
        }
      }
    } catch (error) {
      const request = this.#pending.shift();
      if (request !== undefined) this.#options.onOutcome(request, { bad: (error as Error).message });
      this.#restart();
      return;
    }
    this.#fill();
  }

  /** Whether anything follows the only response that is allowed. */
  #hasMore({ alone, cut, mustBeRefused, method }: FuzzRequest, { headers }: RawResponse): boolean {
    if (!alone || (cut && !mustBeRefused)) return false;
    // A server that cannot parse a request does not know that it is HEAD, and sends a body.
    const bodyLength = method === 'HEAD' ? Number(headers['content-length'] ?? 0) : 0;
    return this.#reader.unread > bodyLength;
  }

  /** Repeats the pending requests over a new connection. */
  #restart(): void {
    this.#repeat(this.#pending);
    this.#drop();
    this.#fill();
  }

  /** Sends the first pending request again, alone, to find out whether the server closed because of it. */
  #closed(): void {
    const pending = this.#pending;
    this.#drop();
    const [first] = pending;
    if (first?.alone) this.#options.onOutcome(first, 'closed');
    else this.#repeat(pending.map((request, at) => (at === 0 ? { ...request, alone: true } : request)));
    this.#fill();
  }

  #repeat(requests: readonly FuzzRequest[]): void {
    for (const request of requests) this.#options.onRepeat(request);
    this.#repeats.unshift(...requests);
  }

  #drop(): void {
    this.#disconnect();
    this.#pending = [];
  }

  #disconnect(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}
