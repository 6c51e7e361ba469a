/** The parts of a request, and how they are written as bytes. */

/** What a request records if its response is `200`. */
export type Effect =
  /** The queries of these numbers. */
  | { readonly kind: 'events'; readonly numbers: readonly number[] }
  /** The traces of these numbers, each as one query. */
  | { readonly kind: 'traces'; readonly numbers: readonly number[] }
  /** Unknown queries; the response says how many. */
  | { readonly kind: 'counted' }
  | { readonly kind: 'none' };

export interface Parts {
  method: string;
  /** Path and query string. */
  target: string;
  version: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
  /** The number of chunks, or 0 for a body with `Content-Length`. */
  chunks: number;
  /** The only allowed response is 200. */
  mustSucceed: boolean;
  /** It has no valid key, so the response must not reveal anything. */
  mustNotEnter: boolean;
  effect: Effect;
  /** It is sent on its own connection, because the server may close the connection after it. */
  alone: boolean;
}

/** The values of most requests that need not succeed. */
export const PLAIN_PARTS = {
  version: '1.1',
  chunks: 0,
  mustSucceed: false,
  mustNotEnter: false,
  effect: { kind: 'none' },
  alone: false,
} as const;

export interface FuzzRequest
  extends Readonly<Pick<Parts, 'method' | 'target' | 'mustSucceed' | 'mustNotEnter' | 'effect' | 'alone'>> {
  /** This number and the seed determine the request. */
  readonly number: number;
  readonly bytes: Buffer;
  /** The client stops sending after it, even if it is incomplete, so a response is optional. */
  readonly cut: boolean;
  /** The response must be one error, and the server must close the connection. */
  readonly mustBeRefused: boolean;
}

/** Writes a request, its head in Latin-1. */
export function writeRequest({ method, target, version, headers, body, chunks }: Parts): Buffer {
  const framing =
    body === undefined ? [] : [chunks > 0 ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`];
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${[...lines, ...framing].join('\r\n')}\r\n\r\n`, 'latin1');
  if (body === undefined) return head;
  return Buffer.concat([head, ...(chunks > 0 ? splitIntoChunks(body, chunks) : [body])]);
}

function splitIntoChunks(body: Buffer, chunks: number): Buffer[] {
  const size = Math.max(Math.ceil(body.length / chunks), 1);
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return [...pieces, Buffer.from('0\r\n\r\n')];
}

/** Bytes as readable text, with escapes for all that is not printable ASCII. */
export function escapeBytes(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1')).replaceAll(
    /[\u007f-\u00ff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
