/** A request in its parts, and the bytes of it. */

/** What becomes of a request that is answered `200`. */
export type Effect =
  /** The queries of these numbers are recorded. */
  | { readonly kind: 'events'; readonly numbers: readonly number[] }
  /** The traces of these numbers are recorded as a query each. */
  | { readonly kind: 'traces'; readonly numbers: readonly number[] }
  /** Something is recorded, and the answer says how much. */
  | { readonly kind: 'counted' }
  | { readonly kind: 'none' };

export interface Parts {
  method: string;
  /** With its query string. */
  target: string;
  version: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
  /** In so many chunks; 0 with its length. */
  chunks: number;
  /** Nothing but 200 may be answered. */
  mustSucceed: boolean;
  /** Nothing of 2xx may be answered, and nothing that tells what there is: it has no key that works. */
  mustNotEnter: boolean;
  effect: Effect;
  /** Sent over a connection of its own: it ends its connection, or may. */
  alone: boolean;
}

export interface FuzzRequest
  extends Readonly<Pick<Parts, 'method' | 'target' | 'mustSucceed' | 'mustNotEnter' | 'effect' | 'alone'>> {
  /** Together with the seed, all that it takes to make it again. */
  readonly number: number;
  readonly bytes: Buffer;
  /** The client stops sending behind it, whether it is whole or not: it need not be answered. */
  readonly cut: boolean;
  /** It must be answered with an error, once, and its connection ended. */
  readonly mustBeRefused: boolean;
}

/** The bytes of a request, each character of its head as one. */
export function bytesOf({ method, target, version, headers, body, chunks }: Parts): Buffer {
  const framing =
    body === undefined ? [] : [chunks > 0 ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`];
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${[...lines, ...framing].join('\r\n')}\r\n\r\n`, 'latin1');
  if (body === undefined) return head;
  return Buffer.concat([head, ...(chunks > 0 ? chunked(body, chunks) : [body])]);
}

function chunked(body: Buffer, chunks: number): Buffer[] {
  const size = Math.max(Math.ceil(body.length / chunks), 1);
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return [...pieces, Buffer.from('0\r\n\r\n')];
}

/** Bytes as text that a shell or a test can be given, for people to read: what is not printable is escaped. */
export function escaped(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1')).replaceAll(
    /[\u007f-\u00ff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
