/** Parses HTTP/1.1 responses from the bytes of a connection. */
import { gunzipSync } from 'node:zlib';

export interface RawResponse {
  readonly status: number;
  /** Names in lower case; the values of repeated headers are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Without the gzip coding. */
  readonly body: Buffer;
}

const headEnd = Buffer.from('\r\n\r\n');

export class ResponseReader {
  #unread: Buffer = Buffer.alloc(0);
  #head: (Omit<RawResponse, 'body'> & { readonly end: number }) | undefined;

  /** The number of bytes after the last response that was read. */
  get unread(): number {
    return this.#unread.length;
  }

  add(bytes: Buffer): void {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
  }

  /**
   * The next complete response, to a request of this method; undefined if there is none yet. Skips interim responses
   * (1xx). Throws if the bytes are not a response.
   */
  next(method: string): RawResponse | undefined {
    for (;;) {
      this.#head ??= this.#readHead();
      if (this.#head === undefined) return undefined;
      if (this.#head.status >= 200) break;
      this.#unread = this.#unread.subarray(this.#head.end);
      this.#head = undefined;
    }
    const { status, headers, end } = this.#head;
    const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
    const found = hasBody ? this.#readBody(headers, end) : { body: Buffer.alloc(0), end };
    if (found === undefined) return undefined;
    this.#unread = this.#unread.subarray(found.end);
    this.#head = undefined;
    const isCompressed = hasBody && headers['content-encoding'] === 'gzip';
    return { status, headers, body: isCompressed ? gunzipSync(found.body) : found.body };
  }

  #readHead() {
    const at = this.#unread.indexOf(headEnd);
    if (at === -1) return undefined;
    const [statusLine = '', ...lines] = this.#unread.toString('latin1', 0, at).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (!(status >= 100)) throw new Error(`not a status line: ${JSON.stringify(statusLine.slice(0, 200))}`);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      const before = headers[name];
      headers[name] = before === undefined ? value : `${before}, ${value}`;
    }
    return { status, headers, end: at + headEnd.length };
  }

  #readBody(headers: RawResponse['headers'], start: number): { body: Buffer; end: number } | undefined {
    const length = headers['content-length'];
    if (length !== undefined) {
      const end = start + Number(length);
      return this.#unread.length < end ? undefined : { body: this.#unread.subarray(start, end), end };
    }
    if (headers['transfer-encoding'] !== 'chunked') throw new Error('the response does not state its length');
    return this.#readChunks(start);
  }

  #readChunks(start: number): { body: Buffer; end: number } | undefined {
    const chunks: Buffer[] = [];
    for (let at = start; ; ) {
      const lineEnd = this.#unread.indexOf('\r\n', at);
      if (lineEnd === -1) return undefined;
      const size = Number.parseInt(this.#unread.toString('latin1', at, lineEnd), 16);
      const end = lineEnd + 2 + size + 2;
      if (this.#unread.length < end) return undefined;
      chunks.push(this.#unread.subarray(lineEnd + 2, lineEnd + 2 + size));
      if (size === 0) return { body: Buffer.concat(chunks), end };
      at = end;
    }
  }
}
