/** Cuts answers of HTTP/1.1 out of what a connection delivers. */

export interface FuzzAnswer {
  readonly status: number;
  /** Names in lower case; of what came more than once, all values. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

const headEnd = Buffer.from('\r\n\r\n');

/** Thrown where bytes are no answer. */
class BadAnswer extends Error {
  override readonly name = 'BadAnswer';
}

export class AnswerReader {
  #unread: Buffer = Buffer.alloc(0);
  #head:
    | { readonly status: number; readonly headers: ReadonlyMap<string, string>; readonly end: number }
    | undefined;

  /** Bytes that belong to no answer yet. */
  get unread(): number {
    return this.#unread.length;
  }

  add(bytes: Buffer): void {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
  }

  /** The next whole answer, to a request of this method; undefined where there is none yet. Those in between (1xx) are passed over. */
  next(method: string): FuzzAnswer | undefined {
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
    return { status, headers, body: found.body };
  }

  #readHead() {
    const at = this.#unread.indexOf(headEnd);
    if (at === -1) return undefined;
    const [statusLine = '', ...lines] = this.#unread.toString('latin1', 0, at).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (!(status >= 100)) throw new BadAnswer(`no status line: ${JSON.stringify(statusLine.slice(0, 200))}`);
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      const before = headers.get(name);
      headers.set(name, before === undefined ? value : `${before}, ${value}`);
    }
    return { status, headers, end: at + headEnd.length };
  }

  #readBody(headers: ReadonlyMap<string, string>, start: number): { body: Buffer; end: number } | undefined {
    const length = headers.get('content-length');
    if (length !== undefined) {
      const end = start + Number(length);
      return this.#unread.length < end ? undefined : { body: this.#unread.subarray(start, end), end };
    }
    if (headers.get('transfer-encoding') !== 'chunked')
      throw new BadAnswer('an answer that does not say how long it is');
    return this.#readChunks(start);
  }

  #readChunks(start: number): { body: Buffer; end: number } | undefined {
    const pieces: Buffer[] = [];
    for (let at = start; ; ) {
      const lineEnd = this.#unread.indexOf('\r\n', at);
      if (lineEnd === -1) return undefined;
      const size = Number.parseInt(this.#unread.toString('latin1', at, lineEnd), 16);
      const end = lineEnd + 2 + size + 2;
      if (this.#unread.length < end) return undefined;
      pieces.push(this.#unread.subarray(lineEnd + 2, lineEnd + 2 + size));
      if (size === 0) return { body: Buffer.concat(pieces), end };
      at = end;
    }
  }
}
