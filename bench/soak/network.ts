/** A network between senders and a server, which fails as networks and proxies do. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export const FAULTS = ['refuse', 'cut', 'hold', 'bad gateway', 'lose answers'] as const;
type State = 'pass' | (typeof FAULTS)[number];

export class Network {
  state: State = 'pass';
  readonly #serverPort: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => this.#connect(near));

  /** Passes what it gets on to this port. */
  constructor(serverPort: number) {
    this.#serverPort = serverPort;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that are open are part of what breaks. */
  change(state: State): void {
    this.state = state;
    if (state !== 'lose answers') for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.change('refuse');
  }

  #connect(near: Socket): void {
    const far = connect(this.#serverPort, '127.0.0.1');
    const both = [near, far];
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        for (const one of both) one.destroy();
      });
    }
    if (this.state === 'refuse') near.resetAndDestroy();
    near.on('data', (bytes) => {
      if (this.state === 'hold') return;
      if (this.state === 'bad gateway') return void near.end(badGateway);
      const { length } = bytes;
      far.write(this.state === 'cut' ? bytes.subarray(0, length / 2) : bytes);
      if (this.state === 'cut') near.resetAndDestroy();
    });
    far.on('data', (bytes) => {
      // The server has done the work.
      if (this.state === 'lose answers') near.resetAndDestroy();
      else near.write(bytes);
    });
  }
}

const badGateway =
  'HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: 20\r\nconnection: close\r\n\r\n<h1>Bad Gateway</h1>';
