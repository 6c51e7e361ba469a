/** A proxy between a recorder and a real server that causes failures of networks, proxies and busy servers. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { whenOver } from '../cleanup.js';

/** What happens to a request. */
export type Mishap =
  | 'pass'
  /** It arrives late, after the repetition that the recorder sends. */
  | 'slow'
  /** The connection is reset before the server gets it. */
  | 'reset'
  /** The server records it, but the response is lost. */
  | 'lost'
  /** There is no response. */
  | 'silent'
  | 'busy'
  | 'limited'
  /** The server stops listening for a moment. */
  | 'refuse';

export interface Front {
  readonly url: string;
  /** How often each happened. */
  readonly seen: ReadonlyMap<Mishap, number>;
}

export interface FrontOptions {
  /** The current URL of the server, which changes with a restart. */
  readonly target: () => string;
  /** What happens to a request, by its number from 0. */
  readonly mishapOf: (number: number) => Mishap | Promise<Mishap>;
}

/** Listens on a free port until the test is over. */
export async function startFront({ target, mishapOf }: FrontOptions): Promise<Front> {
  const seen = new Map<Mishap, number>();
  const held: (() => void)[] = [];
  let requests = 0;
  const server = createServer((near, answer) => {
    void (async () => {
      const mishap = await mishapOf(requests++);
      seen.set(mishap, (seen.get(mishap) ?? 0) + 1);
      const late = held.splice(0);
      if (mishap === 'slow') held.push(() => forward(target(), near, answer));
      else handle(mishap, near, answer);
      for (const release of late) release();
    })();
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  whenOver(() => {
    server.close();
    server.closeAllConnections();
  });

  const handle = (mishap: Exclude<Mishap, 'slow'>, near: IncomingMessage, answer: ServerResponse): void => {
    if (mishap === 'pass') forward(target(), near, answer);
    else if (mishap === 'lost') forward(target(), near, answer, () => near.socket.resetAndDestroy());
    else if (mishap === 'reset') near.socket.resetAndDestroy();
    else if (mishap === 'busy') refuse(answer, 503, '0');
    else if (mishap === 'limited') refuse(answer, 429, new Date().toUTCString());
    else if (mishap === 'refuse') {
      // Listen again when all connections are closed.
      server.close(() => void listen(port));
      server.closeAllConnections();
    }
  };
  return { url: `http://127.0.0.1:${port}`, seen };
}

function refuse(answer: ServerResponse, status: number, retryAfter: string): void {
  answer.writeHead(status, { 'retry-after': retryAfter, 'content-type': 'text/html' }).end('<h1>Busy</h1>');
}

/** Forwards a request and its response. Calls `lose` instead of sending the response. */
function forward(target: string, near: IncomingMessage, answer: ServerResponse, lose?: () => void): void {
  const far = request(
    new URL(near.url ?? '/', target),
    { method: near.method ?? 'GET', headers: near.headers },
    (response) => {
      if (lose) return lose();
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    },
  );
  far.on('error', () => near.socket.destroy());
  near.on('error', () => far.destroy());
  near.pipe(far);
}
