/** The body of an OTLP request, decoded as it arrives. */
import { Readable, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { FastifyRequest, RequestPayload } from 'fastify';
import {
  otlpBytesMax,
  bodyBytesMax as usualBytesMax,
  zstdDecodersMax,
  zstdWindowBytesMax,
} from '../../domain/limits.js';
import { Slots } from '../../shared/slots.js';
import { encodingOf } from '../request/body.js';
import { HttpError } from '../server/errors.js';

/** What the event loop reads at a time, unless it has so many steps that it takes several turns. */
const pieceBytes = 16 * 1024;

/** Newer versions of Node also have zstd. */
const zstd = zlib as {
  readonly createZstdDecompress?: (options: { readonly params: Record<number, number> }) => Transform;
  readonly constants: { readonly ZSTD_d_windowLogMax?: number };
};

const DECODERS: ReadonlyMap<string, (() => Transform) | undefined> = new Map([
  ['identity', undefined],
  ['gzip', () => zlib.createGunzip()],
  ['deflate', () => zlib.createInflate()],
  ...zstdDecoder(),
]);

function zstdDecoder(): [string, () => Transform][] {
  const { createZstdDecompress, constants } = zstd;
  const { ZSTD_d_windowLogMax: windowLogMax } = constants;
  if (createZstdDecompress === undefined || windowLogMax === undefined) return [];
  const params = { [windowLogMax]: Math.log2(zstdWindowBytesMax) };
  return [['zstd', () => createZstdDecompress({ params })]];
}

/** The names of the encodings that can be decoded. */
export const ENCODINGS = [...DECODERS.keys()].filter((name) => name !== 'identity');

/** Those with large windows. */
const zstdDecoders = new Slots(zstdDecodersMax);

type Headed = Pick<FastifyRequest, 'headers'>;

/** A `preParsing` hook. Throws 415 for an encoding that cannot be decoded, before the body is read. */
export async function refuseOtherEncodings(request: Headed): Promise<void> {
  if (DECODERS.has(encodingOf(request))) return;
  const names = ENCODINGS.join(', ');
  const remedy = 'In the exporter of a Collector, set compression: gzip.';
  throw new HttpError(415, `The Content-Encoding is not supported; send ${names}, or none. ${remedy}`, {
    'accept-encoding': names,
  });
}

/** Bytes of a body after decoding, given the setting for other requests. Who lowers that means all requests. */
export function otlpLimit(bodyBytesMax: number): number {
  return bodyBytesMax < usualBytesMax ? bodyBytesMax : Math.max(bodyBytesMax, otlpBytesMax);
}

interface BodyLimit {
  readonly bytesMax: number;
  /** The plural noun for what it has too many of. */
  readonly records: string;
  /** Called for bytes that are kept in memory. May throw. */
  readonly keep: (bytes: number) => void;
}

/** The decoded body in small pieces. Throws 413 for more than `bytesMax` bytes, and 400 if they cannot be decoded. */
export async function* decodedPieces(
  request: Headed,
  payload: RequestPayload,
  limit: BodyLimit,
): AsyncGenerator<Buffer> {
  const encoding = encodingOf(request);
  if (encoding === 'identity') refuseMore(Number(request.headers['content-length']), limit);
  if (encoding !== 'zstd') return yield* decode(payload, payload, encoding, limit);
  // A client that stalls must not keep others from decoding.
  const body = await arrive(payload, limit);
  await zstdDecoders.enter();
  try {
    yield* decode(body, payload, encoding, limit);
  } finally {
    zstdDecoders.leave();
  }
}

async function arrive(payload: RequestPayload, limit: BodyLimit): Promise<Readable> {
  const chunks: Buffer[] = [];
  for await (const chunk of decode(payload, payload, 'identity', limit)) {
    limit.keep(chunk.length);
    chunks.push(chunk);
  }
  return Readable.from(chunks);
}

/** `source` is the payload, or what has arrived of it. */
async function* decode(
  source: Readable,
  payload: RequestPayload,
  encoding: string,
  limit: BodyLimit,
): AsyncGenerator<Buffer> {
  const decoder = DECODERS.get(encoding)?.();
  const decoded = decoder === undefined ? source : source.pipe(decoder);
  payload.once('error', (error: Error) => decoder?.destroy(error));
  let bytes = 0;
  try {
    for await (const chunk of decoded.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      refuseMore(bytes, limit);
      for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes);
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    const isCut = decoder === undefined || payload.errored !== null;
    throw new HttpError(400, isCut ? 'The body ended too early.' : problemOf(encoding, error));
  } finally {
    dropRest(source, payload, decoder);
  }
}

function problemOf(encoding: string, error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'ZSTD_error_frameParameter_windowTooLarge')
    return `The window of the body's zstd is larger than ${zstdWindowBytesMax} bytes; use level 19 or lower, without long distance matching.`;
  return `The body is not valid ${encoding}, though its Content-Encoding says so.`;
}

function refuseMore(bytes: number, { bytesMax, records }: BodyLimit): void {
  if (bytes > bytesMax)
    throw new HttpError(
      413,
      `The body has more than ${bytesMax} bytes once decoded; send fewer ${records} at a time ` +
        '(OTEL_BSP_MAX_EXPORT_BATCH_SIZE), or let a Collector drop the prompts first.',
    );
}

/** The sender may read the response only when it has sent all. */
function dropRest(source: Readable, payload: RequestPayload, decoder: Transform | undefined): void {
  if (decoder !== undefined) source.unpipe(decoder);
  decoder?.destroy();
  payload.resume();
}
