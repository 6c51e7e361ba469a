/** From the bytes of a recording request to the values in it: encodings and media types, not what the values mean. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyLineBytesMax, jsonPartsMax, queryPartsMax } from '../../domain/limits.js';
import { nonBlankLines, parseJson } from '../../domain/queries/lines.js';
import type { Admission } from '../admission/admission.js';
import { HttpError } from '../errors.js';

const inflate = promisify(gunzip);

/** Stands in a parsed NDJSON body for a line that is not JSON, so that its message can name its index. */
export class MalformedLine {
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

/** A `preParsing` hook: `415` for a Content-Encoding other than gzip, before the body is read. */
export async function refuseUnknownEncoding(request: FastifyRequest): Promise<void> {
  if (getEncoding(request) === undefined) {
    throw new HttpError(415, 'The Content-Encoding is not supported; send gzip, or none.', {
      'accept-encoding': 'gzip',
    });
  }
}

/** The same for a path that takes no encoding at all. */
export async function refuseEncoding(request: FastifyRequest): Promise<void> {
  if (getEncoding(request) !== 'identity') {
    throw new HttpError(415, 'The Content-Encoding is not supported; send none.', {
      'accept-encoding': 'identity',
    });
  }
}

/** Adds a parser for small JSON bodies. `413` for more than `bytesMax`. */
export function addJsonParser(app: FastifyInstance, bytesMax: number): void {
  const options = { parseAs: 'buffer', bodyLimit: bytesMax } as const;
  app.addContentTypeParser('application/json', options, async (_request: FastifyRequest, body: Buffer) => {
    return parseBody(body);
  });
}

/** What one recording request may have. */
export interface RecordingLimits {
  /** Queries, at most. */
  readonly batchQueriesMax: number;
  /** Bytes of the body, as sent and once decoded, at most. */
  readonly bodyBytesMax: number;
}

/** Adds parsers for JSON (any value) and NDJSON (an array of its lines' values). `413` for more than the limits. */
export function addRecordingParsers(
  app: FastifyInstance,
  { batchQueriesMax, bodyBytesMax }: RecordingLimits,
  admission: Admission,
): void {
  const options = { parseAs: 'buffer', bodyLimit: bodyBytesMax } as const;
  const partsMax = Math.max(jsonPartsMax, batchQueriesMax * queryPartsMax);
  app.addContentTypeParser('application/json', options, async (request: FastifyRequest, body: Buffer) => {
    const value = parseBody(await decode(request, body, bodyBytesMax, admission), partsMax);
    if (Array.isArray(value)) requireAtMost(batchQueriesMax, value);
    return value;
  });
  app.addContentTypeParser('application/x-ndjson', options, async (request: FastifyRequest, body: Buffer) => {
    const values: unknown[] = [];
    for (const line of nonBlankLines(await decode(request, body, bodyBytesMax, admission))) {
      values.push(valueOfLine(line));
      // Here, not after the last line: there could be millions of them.
      requireAtMost(batchQueriesMax, values);
    }
    return values;
  });
}

/**
 * Adds parsers for OTLP: JSON (any value) and protobuf (its bytes, as a `Buffer`), unpacked. `413` for more than the
 * limit, `415` for any other type.
 */
export function addOtlpParsers(
  app: FastifyInstance,
  { bodyBytesMax }: Pick<RecordingLimits, 'bodyBytesMax'>,
  admission: Admission,
): void {
  const options = { parseAs: 'buffer', bodyLimit: bodyBytesMax } as const;
  app.addContentTypeParser('application/json', options, async (request: FastifyRequest, body: Buffer) =>
    parseBody(await decode(request, body, bodyBytesMax, admission)),
  );
  app.addContentTypeParser('application/x-protobuf', options, async (request: FastifyRequest, body: Buffer) =>
    decode(request, body, bodyBytesMax, admission),
  );
  app.addContentTypeParser('*', async () => refuseOtlpType());
}

/** `415` for a body of a type that OTLP does not have. */
export function refuseOtlpType(): never {
  throw new HttpError(
    415,
    'The Content-Type is not supported; send application/x-protobuf or application/json.',
  );
}

/** The value of a JSON body. `400` where it is not JSON. */
function parseBody(body: Buffer, partsMax?: number): unknown {
  const value = parseJson(body, partsMax);
  if (!value.ok) throw new HttpError(400, `The body ${value.problems.join('; ')}.`);
  return value.value;
}

/** What is longer than any query is not parsed: a few such lines would take seconds. */
function valueOfLine(line: Uint8Array): unknown {
  if (line.length > bodyLineBytesMax) return new MalformedLine(`is longer than ${bodyLineBytesMax} bytes`);
  const value = parseJson(line);
  return value.ok ? value.value : new MalformedLine(value.problems.join('; '));
}

function requireAtMost(queriesMax: number, values: readonly unknown[]): void {
  if (values.length > queriesMax) {
    throw new HttpError(413, `The body has more than ${queriesMax} queries; send fewer at a time.`);
  }
}

function getEncoding(request: FastifyRequest): 'gzip' | 'identity' | undefined {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  return encoding === 'gzip' || encoding === 'identity' ? encoding : undefined;
}

async function decode(
  request: FastifyRequest,
  body: Buffer,
  bytesMax: number,
  admission: Admission,
): Promise<Buffer> {
  const decoded = getEncoding(request) === 'gzip' ? await unpack(body, bytesMax) : body;
  if (decoded !== body) admission.count(request, decoded.length);
  // What comes next is done at one go.
  await admission.turn(decoded.length);
  return decoded;
}

async function unpack(body: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await inflate(body, { maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new HttpError(
        413,
        `The body has more than ${bytesMax} bytes once decoded; send fewer queries at a time.`,
      );
    }
    throw new HttpError(400, 'The body is not valid gzip, though its Content-Encoding says so.');
  }
}
