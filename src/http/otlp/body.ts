/** The body of an OTLP request, decoded as it arrives. */
import type { Readable, Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { FastifyRequest, RequestPayload } from 'fastify';
import { otlpBytesMax, bodyBytesMax as usualBytesMax } from '../../domain/limits.js';
import { HttpError } from '../server/errors.js';

/** What the event loop reads at a time, unless it has so many steps that it takes several turns. */
const pieceBytes = 16 * 1024;

/** Newer versions of Node also have zstd. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: () => Transform };

const DECODERS: ReadonlyMap<string, (() => Transform) | undefined> = new Map([
  ['identity', undefined],
  ['gzip', () => zlib.createGunzip()],
  ['deflate', () => zlib.createInflate()],
  ...(createZstdDecompress === undefined ? [] : [['zstd', createZstdDecompress] as const]),
]);

function encodingOf({ headers }: FastifyRequest): string {
  return (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
}

/** A `preParsing` hook. Throws 415 for an encoding that cannot be decoded, before the body is read. */
export async function refuseOtherEncodings(request: FastifyRequest): Promise<void> {
  if (DECODERS.has(encodingOf(request))) return;
  const names = [...DECODERS.keys()].filter((name) => name !== 'identity');
  throw new HttpError(415, `The Content-Encoding is not supported; send ${names.join(', ')}, or none.`, {
    'accept-encoding': names.join(', '),
  });
}

/** Bytes of a body after decoding, given the setting for other requests. Who lowers that means all requests. */
export function otlpLimit(bodyBytesMax: number): number {
  return bodyBytesMax < usualBytesMax ? bodyBytesMax : Math.max(bodyBytesMax, otlpBytesMax);
}

/** The decoded body in small pieces. Throws 413 for more than `bytesMax` bytes, and 400 if they cannot be decoded. */
export async function* decodedPieces(
  request: FastifyRequest,
  payload: RequestPayload,
  { bytesMax, records }: { readonly bytesMax: number; readonly records: string },
): AsyncGenerator<Buffer> {
  const encoding = encodingOf(request);
  const decoder = DECODERS.get(encoding)?.();
  const tooLarge = () =>
    new HttpError(
      413,
      `The body has more than ${bytesMax} bytes once decoded; send fewer ${records} at a time ` +
        '(OTEL_BSP_MAX_EXPORT_BATCH_SIZE), or let a Collector drop the prompts first.',
    );
  if (decoder === undefined && Number(request.headers['content-length']) > bytesMax) throw tooLarge();
  const source: Readable = decoder === undefined ? payload : payload.pipe(decoder);
  payload.once('error', (error: Error) => decoder?.destroy(error));
  let bytes = 0;
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge();
      for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes);
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(
      400,
      decoder === undefined || payload.errored !== null
        ? 'The body ended too early.'
        : `The body is not valid ${encoding}, though its Content-Encoding says so.`,
    );
  } finally {
    dropRest(payload, decoder);
  }
}

/** The sender may read the response only when it has sent all. */
function dropRest(payload: RequestPayload, decoder: Transform | undefined): void {
  if (decoder !== undefined) payload.unpipe(decoder);
  decoder?.destroy();
  payload.resume();
}
