/**
 * A pooler as PgBouncer is in its transaction mode: each transaction gets the connection to the server that has been idle
 * for longest, no matter which client opened it. Settings and prepared statements of a session would go to others.
 */
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A type and its length (postgresql.org/docs/current/protocol-message-formats.html). */
const headBytes = 5;
const keyData = 'K'.charCodeAt(0);
const readyForQuery = 'Z'.charCodeAt(0);
const idle = 'I'.charCodeAt(0);
const terminate = 'X'.charCodeAt(0);

/** Calls `take` for each whole message of a stream. */
function messages(take: (message: Buffer) => void): (bytes: Buffer) => void {
  let rest = Buffer.of();
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= headBytes && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      take(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}

/** Connections to one server, shared by clients. */
class Pooler {
  readonly #port: number;
  readonly #idle: Socket[] = [];
  readonly #waiting: ((server: Socket) => void)[] = [];
  readonly #clients = new Map<Socket, Socket>();
  readonly sockets = new Set<Socket>();

  constructor(port: number) {
    this.#port = port;
  }

  /** A client signs in on a connection of its own, which others then share. */
  serve(client: Socket): void {
    const server = connect(this.#port, '127.0.0.1');
    for (const socket of [client, server]) {
      this.sockets.add(socket.setNoDelay());
      socket.on('error', () => {});
    }
    this.#clients.set(server, client);
    let own: Socket | undefined = server;
    const held: Buffer[] = [];
    let isWaiting = false;
    server.on(
      'data',
      messages((message) => this.#forward(server, message)),
    );
    client.on('data', (bytes) => {
      if (bytes[0] === terminate) return;
      if (own !== undefined && this.#clients.get(own) === client) own.write(bytes);
      else held.push(bytes);
      if (held.length === 0 || isWaiting) return;
      isWaiting = true;
      this.#lend((next) => {
        isWaiting = false;
        own = next;
        this.#clients.set(next, client);
        next.write(Buffer.concat(held.splice(0)));
      });
    });
    client.on('close', () => {
      // A client that leaves within a transaction takes its connection along.
      if (own !== undefined && this.#clients.get(own) === client) own.destroy();
    });
    server.on('close', () => {
      this.#clients.get(server)?.destroy();
      this.#idle.splice(0, Number.POSITIVE_INFINITY, ...this.#idle.filter((one) => one !== server));
    });
  }

  #forward(server: Socket, message: Buffer): void {
    const client = this.#clients.get(server);
    // A client's key is the pooler's own: it cannot belong to one process of the server.
    if (message[0] === keyData) message.writeInt32BE(-1, headBytes);
    client?.write(message);
    if (message[0] !== readyForQuery || message[headBytes] !== idle) return;
    this.#clients.delete(server);
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(server);
    else next(server);
  }

  #lend(take: (server: Socket) => void): void {
    const server = this.#idle.shift();
    if (server === undefined) this.#waiting.push(take);
    else take(server);
  }
}

/** Listens on a free port until the test is over. Returns the URL of a database, with the pooler instead of its server. */
export async function poolerFor(databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl);
  const pooler = new Pooler(Number(url.port));
  const listener = createServer((client) => pooler.serve(client));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of pooler.sockets) socket.destroy();
    listener.close();
  });
  const address = listener.address();
  if (typeof address !== 'object' || address === null) throw new Error('the pooler has no port');
  url.port = String(address.port);
  return url.href;
}
