/** A keep-alive connection over which requests are sent without waiting for the answers to those before (pipelining). */
import { connect, type Socket } from 'node:net';
import { AnswerReader, type FuzzAnswer } from './answers.js';
import type { FuzzRequest } from './parts.js';

/** What became of a request: its answer, or what happened instead of one. */
export type Outcome = FuzzAnswer | 'closed' | 'hung' | { readonly bad: string };

export interface LaneOptions {
  readonly port: number;
  /** Requests under way at once. */
  readonly depth: number;
  readonly hangMs: number;
  readonly now: () => number;
  /** The next request to send; undefined where there are no more. */
  readonly next: () => FuzzRequest | undefined;
  readonly onOutcome: (request: FuzzRequest, outcome: Outcome) => void;
  /** Told of a request that goes over another connection because the first ended without an answer to it. */
  readonly onSentAgain: (request: FuzzRequest) => void;
}

/** Sends what `next` gives, in order, over as many connections as it takes, one at a time. */
export class Lane {
  readonly #options: LaneOptions;
  #socket: Socket | undefined;
  #reader = new AnswerReader();
  #underWay: FuzzRequest[] = [];
  /** Sent, but their connection ended before they were answered: the server may end it after any answer that says so. */
  #again: FuzzRequest[] = [];
  #lastAnswerMs = 0;
  #onDone: () => void = () => {};

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Resolves when there is nothing to send any more and all is answered. */
  run(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDone = resolve;
      this.#fill();
    });
  }

  /** To be called now and then: gives up what has waited for too long. */
  look(): void {
    if (this.#underWay.length === 0 || this.#options.now() - this.#lastAnswerMs < this.#options.hangMs)
      return;
    const [first, ...others] = this.#underWay;
    this.#drop();
    this.#sendAgain(others);
    if (first !== undefined) this.#options.onOutcome(first, 'hung');
    this.#fill();
  }

  #fill(): void {
    const { depth, next, now } = this.#options;
    if (this.#underWay.length > depth / 2) return;
    const pieces: Buffer[] = [];
    while (this.#underWay.length < depth && !this.#underWay.at(-1)?.alone) {
      // What goes alone waits until nothing is before it.
      const request = this.#again.shift() ?? next();
      if (request === undefined) break;
      if (request.alone && this.#underWay.length > 0) {
        this.#again.unshift(request);
        break;
      }
      if (this.#underWay.length === 0) this.#lastAnswerMs = now();
      this.#underWay.push(request);
      pieces.push(request.bytes);
    }
    if (this.#underWay.length === 0) {
      this.#drop();
      this.#onDone();
      return;
    }
    if (pieces.length > 0) this.#write(Buffer.concat(pieces));
  }

  #write(bytes: Buffer): void {
    const [first] = this.#underWay;
    if (first?.alone) this.#drop({ keeping: true });
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
    // A server that closes while it is written to resets the connection; what it said before was read.
    socket.on('error', () => {
      if (isCurrent()) this.#closed();
    });
    this.#reader = new AnswerReader();
    return socket;
  }

  #take(bytes: Buffer): void {
    this.#reader.add(bytes);
    try {
      for (;;) {
        const [request] = this.#underWay;
        if (request === undefined) break;
        const answer = this.#reader.next(request.method);
        if (answer === undefined) break;
        this.#underWay.shift();
        this.#lastAnswerMs = this.#options.now();
        if (this.#hasMore(request, answer)) {
          this.#options.onOutcome(request, { bad: 'it is answered more than once' });
          this.#restart();
          return;
        }
        this.#options.onOutcome(request, answer);
        if (request.alone || answer.headers.get('connection') === 'close') {
          this.#restart();
          return;
        }
      }
    } catch (error) {
      const request = this.#underWay.shift();
      if (request !== undefined) this.#options.onOutcome(request, { bad: (error as Error).message });
      this.#restart();
      return;
    }
    this.#fill();
  }

  /** Whether something follows the only answer that there may be. */
  #hasMore({ alone, cut, mustBeRefused, method }: FuzzRequest, { headers }: FuzzAnswer): boolean {
    if (!alone || (cut && !mustBeRefused)) return false;
    // Who cannot read a request does not know that it is HEAD.
    const own = method === 'HEAD' ? Number(headers.get('content-length') ?? 0) : 0;
    return this.#reader.unread > own;
  }

  /** What is under way goes over another connection. */
  #restart(): void {
    this.#sendAgain(this.#underWay);
    this.#drop();
    this.#fill();
  }

  /** Nobody says after which of several requests a server closed; each goes alone from now on, and then it is known. */
  #closed(): void {
    const under = this.#underWay;
    this.#drop();
    const [first] = under;
    if (first?.alone) this.#options.onOutcome(first, 'closed');
    else this.#sendAgain(under.map((request, at) => (at === 0 ? { ...request, alone: true } : request)));
    this.#fill();
  }

  #sendAgain(requests: readonly FuzzRequest[]): void {
    for (const request of requests) this.#options.onSentAgain(request);
    this.#again.unshift(...requests);
  }

  #drop({ keeping = false } = {}): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    if (!keeping) this.#underWay = [];
  }
}
