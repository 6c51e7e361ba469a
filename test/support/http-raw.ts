/** Speaks HTTP/1.1 byte by byte, for what no client library would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; what came more than once is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export class RawConnection {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  #unread = Buffer.alloc(0);

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]();
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** The next answer; those in between (1xx) are passed over. An answer to HEAD ends with its headers. */
  async read(method: string): Promise<RawAnswer> {
    const head = await this.#take(await this.#indexOf('\r\n\r\n'));
    await this.#take(4);
    const [statusLine = '', ...lines] = head.toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (status < 200) return this.read(method);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const [name = '', value = ''] = line.split(/: ?(.*)/s);
      const before = headers[name.toLowerCase()];
      headers[name.toLowerCase()] = before === undefined ? value : `${before}, ${value}`;
    }
    const length = headers['content-length'];
    if (length === undefined) throw new Error(`an answer without Content-Length: ${head}`);
    const body = method === 'HEAD' ? Buffer.alloc(0) : await this.#take(Number(length));
    return { status, headers, text: body.toString('utf8') };
  }

  /** Resolves when the server has closed the connection; rejects if it says anything more before. */
  async ended(): Promise<void> {
    if (this.#unread.length > 0 || !(await this.#chunks.next()).done)
      throw new Error('the server said more than one answer');
  }

  close(): void {
    this.#socket.destroy();
  }

  async #indexOf(text: string): Promise<number> {
    while (!this.#unread.includes(text)) await this.#more();
    return this.#unread.indexOf(text);
  }

  async #take(length: number): Promise<Buffer> {
    while (this.#unread.length < length) await this.#more();
    const taken = this.#unread.subarray(0, length);
    this.#unread = this.#unread.subarray(length);
    return taken;
  }

  async #more(): Promise<void> {
    const next = await this.#chunks.next();
    if (next.done) throw new Error(`the connection was closed after ${JSON.stringify(String(this.#unread))}`);
    this.#unread = Buffer.concat([this.#unread, next.value]);
  }
}

/** A `HEAD` request in bytes. */
export function headOf(path: string, headers: Readonly<Record<string, string>>): string {
  const all = Object.entries({ host: 'localhost:80', connection: 'close', ...headers });
  return [`HEAD ${path} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');
}
