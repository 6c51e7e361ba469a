/** A client of gRPC, of frames and headers only. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { onTestFinished } from 'vitest';

export const TRACES_METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
export const LOGS_METHOD = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
export const METRICS_METHOD = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

interface CallAnswer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly code: number | undefined;
  readonly message: string;
  /** The details of the status. */
  readonly details: Buffer;
  /** The answer's message, without its frame. */
  readonly body: Buffer;
}

/** The first bytes of a connection of HTTP/2 (RFC 9113, section 3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** A frame of HTTP/2 (RFC 9113, section 4.1). */
export function http2Frame(
  type: number,
  body: Uint8Array = Buffer.alloc(0),
  { flags = 0, stream = 0 }: { readonly flags?: number; readonly stream?: number } = {},
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** A message in its frame. */
export function framed(message: Uint8Array, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isCompressed ? 1 : 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Opens a connection that is closed after the test. */
export function connectGrpc(origin: string): ClientHttp2Session {
  const session = connect(origin);
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Sends pieces of bytes to a method. */
export async function call(
  session: ClientHttp2Session,
  path: string,
  headers: OutgoingHttpHeaders,
  ...pieces: readonly Uint8Array[]
): Promise<CallAnswer> {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    te: 'trailers',
    'content-type': 'application/grpc',
    ...headers,
  });
  let answered: Record<string, unknown> = {};
  let ended: Record<string, unknown> = {};
  stream.on('response', (sent) => {
    answered = sent;
  });
  stream.on('trailers', (sent) => {
    ended = sent;
  });
  for (const piece of pieces) stream.write(piece);
  stream.end();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'close');
  const code = ended['grpc-status'];
  return {
    httpStatus: Number(answered[':status']),
    headers: answered,
    code: code === undefined ? undefined : Number(code),
    message: decodeURIComponent(String(ended['grpc-message'] ?? '')),
    details: Buffer.from(String(ended['grpc-status-details-bin'] ?? ''), 'base64'),
    body: Buffer.concat(chunks).subarray(code === undefined ? 0 : 5),
  };
}
