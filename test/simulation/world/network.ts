/**
 * The simulated network between clients and the server, with the proxies on it. Requests and responses are late or lost, arrive
 * twice, stop in the middle, or are answered by somebody else. A connection carries one request.
 */
import { EventEmitter } from 'node:events';
import type { Process } from './process.js';
import type { World } from './world.js';

/** How often something happens to a request. */
export interface NetworkFaults {
  /** It never arrives, and the connection hangs. */
  readonly lost: number;
  /** The connection is reset before it arrives. */
  readonly reset: number;
  /** It arrives, and its response is lost: the connection hangs, is reset, or ends within the body. */
  readonly unanswered: number;
  /** A proxy sends it a second time, later. */
  readonly repeated: number;
  /** A proxy answers an error: 408, 429, 502, 503 or 504, and may have passed the request on. */
  readonly refused: number;
  /** Something that is not the server answers 200. */
  readonly foreign: number;
  /** The body stops in the middle. */
  readonly stalled: number;
  /** The response is read late, or never. */
  readonly unread: number;
  /** The longest time of a message in milliseconds. */
  readonly slownessMs: number;
}

type Fate = Exclude<keyof NetworkFaults, 'slownessMs'> | 'none';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** What the server gets of a request. */
export interface Arrival {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** Undefined if it stops before its end. */
  readonly bodyDelayMs: number | undefined;
  /** Whether the headers have its length. */
  readonly hasLength: boolean;
  readonly connection: Connection;
}

/** The server's end of a connection. */
export class Connection extends EventEmitter {
  closed = false;
  /** Whether the client, the network or the end of the server closed it. */
  isGone = false;
  readonly #onAnswer: (answer: Answer | 'closed') => void;

  constructor(onAnswer: (answer: Answer | 'closed') => void) {
    super();
    this.#onAnswer = onAnswer;
  }

  /** Sends the response. */
  answer(answer: Answer): void {
    if (!this.closed) this.#onAnswer(answer);
  }

  /** By the server. */
  destroy(): this {
    if (this.closed) return this;
    this.closed = true;
    this.#onAnswer('closed');
    this.emit('close');
    return this;
  }

  /** By the client, the network, or the end of the server. */
  goAway(): void {
    this.isGone = true;
    this.destroy();
  }
}

export interface Receiver {
  /** False if nothing listens. */
  receive(arrival: Arrival): boolean;
}

/** Who sends requests, over a link that may be cut. */
export interface Sender {
  readonly process: Process;
  isCut: boolean;
}

const busyAnswers: readonly Answer[] = [
  { status: 408, headers: {}, text: '{"error":"The request took too long to arrive."}' },
  { status: 429, headers: { 'retry-after': '2' }, text: '{"error":"Too many requests."}' },
  { status: 429, headers: {}, text: '{"error":"Too many requests."}' },
  { status: 502, headers: {}, text: '<html>Bad gateway</html>' },
  { status: 503, headers: { 'retry-after': '1' }, text: '{"error":"The server is too busy; try again."}' },
  { status: 503, headers: { 'retry-after': 'soon' }, text: 'busy' },
  { status: 504, headers: {}, text: '' },
];
const foreignAnswers: readonly Answer[] = [
  { status: 200, headers: {}, text: '<html>Log in</html>' },
  { status: 200, headers: {}, text: '{"ok":true}' },
  { status: 200, headers: {}, text: '{"recorded":0,"duplicates":0}' },
];

/** The longest wait before a proxy sends a request again. */
const repeatedMsMax = 8_000;

export class Network {
  faults: NetworkFaults;
  readonly #world: World;
  readonly #receiver: Receiver;
  #requests = 0;

  constructor(world: World, receiver: Receiver, faults: NetworkFaults) {
    this.#world = world;
    this.#receiver = receiver;
    this.faults = faults;
  }

  /** `fetch` of the platform. The response has only what the product uses of one. */
  fetch(sender: Sender, url: string, init: RequestInit): Promise<Response> {
    const { process } = sender;
    if (!process.alive) return new Promise(() => {});
    if (init.signal?.aborted) return Promise.reject(init.signal.reason);
    const id = `r${++this.#requests}`;
    process.requests++;
    return new Promise<Response>((resolve, reject) => {
      let isOver = false;
      const settle = (run: () => void): void => {
        if (isOver || !process.alive) return;
        isOver = true;
        init.signal?.removeEventListener('abort', abort);
        process.requests--;
        run();
      };
      const fail = (words: string) => settle(() => reject(new TypeError(words)));
      const exchange = this.#start(id, sender, url, init, (answer) => {
        if (answer === 'closed') fail('fetch failed: the connection was closed');
        else settle(() => resolve(responseOf(answer, this.#world, process)));
      });
      process.atEnd(() => exchange.goAway());
      const abort = (): void => {
        settle(() => reject(init.signal?.reason));
        this.#world.after(this.#latency(), () => exchange.goAway());
      };
      init.signal?.addEventListener('abort', abort);
    });
  }

  #latency(): number {
    return 0.05 + this.#world.uptoMs(this.faults.slownessMs);
  }

  #fate(): Fate {
    const names: readonly Exclude<Fate, 'none'>[] = [
      'lost',
      'reset',
      'unanswered',
      'repeated',
      'refused',
      'foreign',
      'stalled',
      'unread',
    ];
    return names.find((name) => this.#world.chance(this.faults[name])) ?? 'none';
  }

  /** Sends a request and returns the server's end of its connection. */
  #start(
    id: string,
    sender: Sender,
    url: string,
    init: RequestInit,
    onAnswer: (answer: Answer | 'closed') => void,
  ): Connection {
    const world = this.#world;
    const fate = this.#fate();
    world.note(`${sender.process.name} sends ${id} ${fate}${sender.isCut ? ' cut' : ''}`);
    const toClient = (answer: Answer | 'closed') => {
      if (fate === 'unanswered') return this.#loseAnswer(answer, onAnswer, connection);
      world.after(this.#latency(), () => {
        // What is on its way while the link is cut is lost.
        if (sender.isCut) return;
        world.note(`${id} gets ${answer === 'closed' ? answer : answer.status}`);
        onAnswer(answer);
        if (answer !== 'closed') this.#read(fate, connection);
      });
    };
    const connection = new Connection(toClient);
    if (fate === 'lost' || sender.isCut) return connection;
    if (fate === 'reset') {
      world.after(this.#latency(), () => onAnswer('closed'));
      return connection;
    }
    const send = (one: Connection, copy: string, delayMs: number) =>
      world.after(delayMs, () => this.#arrive(`${id}${copy}`, url, init, fate, one));
    if (fate === 'refused' || fate === 'foreign') {
      const answer = world.random.pick(fate === 'refused' ? busyAnswers : foreignAnswers);
      world.after(this.#latency(), () => {
        world.note(`${id} gets ${answer.status} of a proxy`);
        onAnswer(answer);
      });
      if (fate === 'refused' && world.chance(0.5)) send(this.#unwatched(), '-passed', this.#latency());
      return connection;
    }
    send(connection, '', this.#latency());
    if (fate === 'repeated') send(this.#unwatched(), '-again', this.#latency() + world.uptoMs(repeatedMsMax));
    return connection;
  }

  #arrive(id: string, url: string, init: RequestInit, fate: Fate, connection: Connection): void {
    if (connection.closed) return;
    const arrival: Arrival = {
      id,
      method: init.method ?? 'GET',
      path: new URL(url).pathname,
      body: String(init.body ?? ''),
      bodyDelayMs: fate === 'stalled' ? undefined : this.#world.uptoMs(this.faults.slownessMs),
      hasLength: this.#world.chance(0.8),
      connection,
    };
    if (!this.#receiver.receive(arrival)) connection.goAway();
  }

  /** A connection of a proxy that drops the response. */
  #unwatched(): Connection {
    const connection = new Connection(() => void this.#world.after(0, () => this.#read('none', connection)));
    return connection;
  }

  #loseAnswer(
    answer: Answer | 'closed',
    onAnswer: (answer: Answer | 'closed') => void,
    connection: Connection,
  ): void {
    this.#world.random.pick<() => void>([
      () => {},
      () => void this.#world.after(this.#latency(), () => onAnswer('closed')),
      () =>
        void this.#world.after(this.#latency(), () =>
          onAnswer(answer === 'closed' ? answer : { ...answer, status: -answer.status }),
        ),
    ])();
    this.#read('none', connection);
  }

  /** The end of the exchange for the server: the client has read the response. */
  #read(fate: Fate, connection: Connection): void {
    if (fate !== 'unread') connection.emit('read');
    else if (this.#world.chance(0.5))
      this.#world.after(this.#world.uptoMs(repeatedMsMax), () => connection.emit('read'));
  }
}

/** A negative status means that the body ends early. */
function responseOf({ status, headers, text }: Answer, world: World, process: Process): Response {
  const response = {
    ok: Math.abs(status) >= 200 && Math.abs(status) < 300,
    status: Math.abs(status),
    headers: { get: (name: string) => headers[name] ?? null },
    text: async () => {
      process.requests++;
      await new Promise<void>((resolve) => void world.after(world.uptoMs(2), resolve, process));
      process.requests--;
      if (status < 0) throw new TypeError('terminated');
      return text;
    },
  };
  return response as unknown as Response;
}
