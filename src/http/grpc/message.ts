/** The messages of gRPC in their frames. */
import { Readable } from 'node:stream';
import type { FastifyRequest, RequestPayload } from 'fastify';
import { HttpError } from '../server/errors.js';

/** Whether the request is a call of gRPC. */
export function isCall({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return 'stream' in raw;
}

/** A flag whether the message is compressed, and four bytes with its length. */
export const frameBytes = 5;

/** A `preParsing` hook: the message of a call, with headers that say what those of HTTP say. Of other requests, the body. */
export async function unwrapMessage(
  request: FastifyRequest,
  _reply: unknown,
  payload: RequestPayload,
): Promise<RequestPayload> {
  if (!isCall(request)) return payload;
  const { headers } = request;
  const chunks: AsyncIterator<Buffer> = payload.iterator({ destroyOnReturn: false });
  let first = Buffer.alloc(0);
  while (first.length < frameBytes) {
    const { done, value } = await chunks.next();
    if (done === true) throw new HttpError(400, 'The call has no message.');
    first = Buffer.concat([first, value]);
  }
  const [isCompressed, bytes] = [first.readUInt8() !== 0, first.readUInt32BE(1)];
  headers['content-encoding'] = 'identity';
  if (!isCompressed) headers['content-length'] = String(bytes);
  else {
    delete headers['content-length'];
    headers['content-encoding'] = headers['grpc-encoding']?.toString() ?? 'unknown';
  }
  return Readable.from(readMessage(first.subarray(frameBytes), bytes, chunks));
}

async function* readMessage(
  first: Buffer,
  bytes: number,
  chunks: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  let left = bytes;
  for (let chunk = first; ; ) {
    if (chunk.length > left)
      throw new HttpError(400, 'The call has more than one message; send each with a call of its own.');
    left -= chunk.length;
    yield chunk;
    const next = await chunks.next();
    if (next.done === true) break;
    chunk = next.value;
  }
  if (left > 0) throw new HttpError(400, 'The body ended too early.');
}
