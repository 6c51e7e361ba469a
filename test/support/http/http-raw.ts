/** Sends requests as raw bytes, for tests of requests that no client library would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type RawResponse, ResponseReader } from '../response-reader.js';

export interface RawAnswer extends Omit<RawResponse, 'body'> {
  readonly text: string;
}

export class RawConnection {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #reader = new ResponseReader();

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

  /** Sends nothing more, and goes on reading. */
  endWriting(): void {
    this.#socket.end();
  }

  /** Resolves once the system has taken all bytes. Rejects if the server closes the connection before. */
  writeAll(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** The next response, which must have a Content-Length. Skips interim responses (1xx). */
  async read(method: string): Promise<RawAnswer> {
    let response = this.#reader.next(method);
    while (response === undefined) {
      const { done, value } = await this.#chunks.next();
      if (done) throw new Error(`the connection was closed after ${this.#reader.unread} bytes of a response`);
      this.#reader.add(value);
      response = this.#reader.next(method);
    }
    const { status, headers, body } = response;
    if (headers['content-length'] === undefined) throw new Error('the response has no Content-Length');
    return { status, headers, text: body.toString('utf8') };
  }

  /** Resolves when the server has closed the connection; rejects if it sends anything before. */
  async ended(): Promise<void> {
    if (this.#reader.unread > 0 || !(await this.#chunks.next()).done)
      throw new Error('the server sent more than one response');
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** A `HEAD` request in bytes. */
export function headOf(path: string, headers: Readonly<Record<string, string>>): string {
  const all = Object.entries({ host: 'localhost:80', connection: 'close', ...headers });
  return [`HEAD ${path} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');
}
