/**
 * What the server's modules use of Fastify and of Node's HTTP server, with the same order of hooks and the same rules for a second
 * response: one that comes after the first was sent is dropped, one that comes within `onSend` of the first is a bug.
 */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Product } from '../bundle.js';
import type { Answer, Arrival, Connection } from './network.js';
import type { Process } from './process.js';
import type { World } from './world.js';

type Hook = (...values: unknown[]) => unknown;
export type HookName = 'onRequest' | 'preParsing' | 'onSend' | 'preClose' | 'onClose';

export interface FrameworkOptions {
  readonly world: World;
  readonly process: Process;
  readonly product: Product;
  readonly requestTimeoutMs: number;
  /** Handles a request whose body has arrived. */
  readonly handle: (exchange: Exchange, body: string) => Promise<unknown>;
  /** Called with every error that a request ended with. */
  readonly onError: (exchange: Exchange, error: unknown) => void;
  /** Called with every response before it is sent. */
  readonly onAnswer: (exchange: Exchange, answer: Answer) => void;
  /** The route of a path. */
  readonly routeOf: (path: string) => string;
}

/** Node's side of a response. */
class Response extends EventEmitter {
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
}

/** A request and its response on the server. */
export class Exchange {
  readonly arrival: Arrival;
  readonly startMs: number;
  readonly busyMsBefore: number;
  readonly raw: { readonly socket: Connection; complete: boolean };
  readonly response = new Response();
  readonly headers: Record<string, string> = {};
  readonly request: object;
  readonly reply: object;

  constructor(arrival: Arrival, route: string, options: FrameworkOptions, send: (payload: unknown) => void) {
    const { id, method, body, hasLength, connection } = arrival;
    this.arrival = arrival;
    this.startMs = options.world.nowMs;
    this.busyMsBefore = options.process.busyMs;
    this.raw = { socket: connection, complete: false };
    const headers = hasLength ? { 'content-length': String(body.length) } : {};
    const log = { warn: () => {}, error: () => {} };
    this.request = { id, method, raw: this.raw, headers, log, routeOptions: { url: route, config: {} } };
    const { response } = this;
    const reply = {
      raw: response,
      get statusCode() {
        return response.statusCode;
      },
      code: (status: number) => {
        response.statusCode = status;
        return reply;
      },
      headers: (more: Record<string, string>) => {
        Object.assign(this.headers, more);
        return reply;
      },
      send: (payload: unknown) => {
        send(payload);
        return reply;
      },
    };
    this.reply = reply;
  }
}

export class Framework {
  readonly #options: FrameworkOptions;
  readonly #hooks = new Map<HookName, Hook[]>();
  readonly #server = Object.assign(new EventEmitter(), { listening: true, maxConnections: 0 });
  readonly #exchanges = new Set<Exchange>();
  readonly #connections = new Set<Connection>();
  /** The fields that the product adds to requests. */
  readonly #fields: Record<string, unknown> = {};
  #onEmpty = (): void => {};

  constructor(options: FrameworkOptions) {
    this.#options = options;
  }

  /** For the product's modules. */
  get app(): FastifyInstance {
    const addHook = (name: HookName, hook: Hook): void => {
      this.#hooks.set(name, [...(this.#hooks.get(name) ?? []), hook]);
    };
    const app = {
      addHook,
      server: this.#server,
      decorateRequest: (name: string, value: unknown) => {
        this.#fields[name] = value;
        return app;
      },
    };
    return app as unknown as FastifyInstance;
  }

  get exchanges(): ReadonlySet<Exchange> {
    return this.#exchanges;
  }

  /** The headers of a request have arrived on a new connection. */
  receive(arrival: Arrival): boolean {
    if (!this.#server.listening) return false;
    const { connection } = arrival;
    const exchange: Exchange = new Exchange(
      arrival,
      this.#options.routeOf(arrival.path),
      this.#options,
      (payload) => this.#send(exchange, payload),
    );
    Object.assign(exchange.request, this.#fields);
    this.#connections.add(connection);
    this.#exchanges.add(exchange);
    this.#server.emit('connection', connection);
    connection.once('read', () => {
      exchange.response.emit('close');
      this.#finish(exchange);
      connection.destroy();
    });
    connection.once('close', () => {
      this.#closed(exchange);
      this.#finish(exchange);
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onEmpty();
    });
    this.#server.emit('request', exchange.raw, exchange.response);
    void this.#handle(exchange);
    // The client went away while the server was busy.
    if (connection.closed) connection.emit('close');
    return true;
  }

  /** Stops as the server does: refuses connections, waits for those that are open, and calls the hooks. */
  async close(): Promise<void> {
    for (const hook of this.#hooks.get('preClose') ?? []) await hook();
    this.#server.listening = false;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      if (this.#connections.size === 0) resolve();
    });
    this.#server.emit('close');
    for (const hook of this.#hooks.get('onClose') ?? []) await hook();
  }

  async #handle(exchange: Exchange): Promise<void> {
    try {
      await this.#runHooks('onRequest', exchange);
      const body = this.#receiveBody(exchange);
      const payload = await this.#runHooks('preParsing', exchange, body.payload);
      const text = await body.read(payload);
      this.#send(exchange, await this.#options.handle(exchange, text));
    } catch (error) {
      this.#options.onError(exchange, error);
      this.#send(exchange, error);
    }
  }

  /** Each hook is a function that returns a promise or calls back. `onRequest` and `preParsing` may replace the payload. */
  async #runHooks(name: HookName, { request, reply }: Exchange, payload?: unknown): Promise<unknown> {
    let current = payload;
    for (const hook of this.#hooks.get(name) ?? []) {
      const values = payload === undefined ? [request, reply] : [request, reply, current];
      const result =
        hook.length > values.length ? await callBack((done) => hook(...values, done)) : await hook(...values);
      current = result ?? current;
    }
    return current;
  }

  /** Receives the body in two parts. Node answers 408 if that takes too long. */
  #receiveBody({ arrival, raw, response, reply }: Exchange): Body {
    const { world, process, requestTimeoutMs } = this.#options;
    const { body, bodyDelayMs, hasLength, connection } = arrival;
    const received = hasLength ? new WholeBody() : new StreamedBody();
    const half = Math.floor(body.length / 2);
    received.add(body.slice(0, half));
    const end = (): void => {
      if (connection.closed) return;
      raw.complete = true;
      received.add(body.slice(half));
      received.end();
    };
    const giveUp = (): void => {
      if (!response.headersSent) (reply as { send(payload: unknown): void }).send(requestTimeout());
      connection.destroy();
    };
    if (bodyDelayMs === undefined) world.after(requestTimeoutMs, giveUp, process);
    else world.after(bodyDelayMs, end, process);
    connection.once('close', () => received.fail(new Error('aborted')));
    return received;
  }

  #send(exchange: Exchange, payload: unknown): void {
    if (exchange.response.writableEnded || !this.#options.process.alive) return;
    if (payload instanceof Error) {
      const { answerError } = this.#options.product;
      if ('answer' in payload) this.#write(exchange, payload.answer as Answer);
      else answerError(payload, exchange.request as never, exchange.reply as never);
      return;
    }
    void this.#sendAfterHooks(exchange, payload);
  }

  async #sendAfterHooks(exchange: Exchange, payload: unknown): Promise<void> {
    const text = JSON.stringify(payload);
    await this.#runHooks('onSend', exchange, text);
    const { response, headers } = exchange;
    this.#write(exchange, { status: response.statusCode, headers, text });
  }

  #write(exchange: Exchange, answer: Answer): void {
    const { world, process, onAnswer } = this.#options;
    const { response, arrival } = exchange;
    if (!process.alive || arrival.connection.closed) return;
    // Here Node throws ERR_HTTP_HEADERS_SENT.
    if (response.headersSent) {
      world.fail(`${process.name} sends two responses to ${arrival.id}`);
      return;
    }
    response.headersSent = true;
    response.writableEnded = true;
    world.note(`${process.name} answers ${arrival.id} ${answer.status}`);
    onAnswer(exchange, answer);
    arrival.connection.answer(answer);
  }

  #finish(exchange: Exchange): void {
    this.#exchanges.delete(exchange);
  }

  /** A request that has arrived gets its response, unless its client has gone. */
  #closed({ raw, response, arrival }: Exchange): void {
    if (!raw.complete || response.writableEnded || arrival.connection.isGone) return;
    const { world, process } = this.#options;
    if (process.alive)
      world.fail(`${process.name} closes the connection of ${arrival.id} without a response`);
  }
}

/** The payload that the hook calls back with, or that its promise has. Rejects with its error. */
function callBack(hook: (done: (error?: unknown, payload?: unknown) => void) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const result = hook((error, payload) => (error ? reject(error) : resolve(payload)));
    if (result instanceof Promise) result.then(resolve, reject);
  });
}

function requestTimeout(): Error {
  const text = '{"error":"The request took too long to arrive."}';
  return Object.assign(new Error('timeout'), { answer: { status: 408, headers: {}, text } });
}

interface Body {
  /** What hooks get, and may replace. */
  readonly payload: unknown;
  add(part: string): void;
  end(): void;
  fail(error: Error): void;
  /** Reads what the hooks have made of the payload. */
  read(payload: unknown): Promise<string>;
}

/** A body whose length is known, which no hook reads. */
class WholeBody implements Body {
  readonly payload = {};
  #text = '';
  #settle = { resolve: (_text: string): void => {}, reject: (_error: Error): void => {} };
  readonly #whole = new Promise<string>((resolve, reject) => {
    this.#settle = { resolve, reject };
  });

  constructor() {
    this.#whole.catch(() => {});
  }

  add(part: string): void {
    this.#text += part;
  }

  end(): void {
    this.#settle.resolve(this.#text);
  }

  fail(error: Error): void {
    this.#settle.reject(error);
  }

  read(): Promise<string> {
    return this.#whole;
  }
}

/** A body of unknown length: a stream, which costs much more. */
class StreamedBody implements Body {
  readonly payload = new PassThrough();

  constructor() {
    this.payload.on('error', () => {});
  }

  add(part: string): void {
    if (part !== '') this.payload.write(part);
  }

  end(): void {
    this.payload.end();
  }

  fail(error: Error): void {
    this.payload.destroy(error);
  }

  async read(payload: unknown): Promise<string> {
    const stream = payload as PassThrough;
    let text = '';
    stream.on('data', (part: Buffer) => {
      text += part.toString();
    });
    await new Promise<void>((resolve, reject) => {
      stream.once('end', resolve);
      stream.once('error', reject);
      stream.once('close', resolve);
    });
    return text;
  }
}
