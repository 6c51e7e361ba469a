/** From the bytes of a recording request to the values in it: encodings and media types, not what the values mean. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isBlank, parseJson, splitLines } from '../domain/lines.js';
import type { Result } from '../domain/result.js';
import { HttpError } from './errors.js';

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
  if (encodingOf(request) === undefined) {
    throw new HttpError(415, 'The Content-Encoding is not supported; send gzip, or none.', {
      'accept-encoding': 'gzip',
    });
  }
}

/**
 * Adds parsers for JSON (any value) and NDJSON (an array of its lines' values). The body may have `bodyBytesMax`
 * bytes, as sent and once decoded.
 */
export function addRecordingParsers(app: FastifyInstance, bodyBytesMax: number): void {
  const options = { parseAs: 'buffer', bodyLimit: bodyBytesMax } as const;
  app.addContentTypeParser('application/json', options, async (request: FastifyRequest, body: Buffer) => {
    return orThrow(parseJson(await decode(request, body, bodyBytesMax)));
  });
  app.addContentTypeParser('application/x-ndjson', options, async (request: FastifyRequest, body: Buffer) => {
    const lines = [...splitLines(await decode(request, body, bodyBytesMax))].filter((line) => !isBlank(line));
    return lines.map((line) => {
      const value = parseJson(line);
      return value.ok ? value.value : new MalformedLine(value.problems.join('; '));
    });
  });
}

function encodingOf(request: FastifyRequest): 'gzip' | 'identity' | undefined {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  return encoding === 'gzip' || encoding === 'identity' ? encoding : undefined;
}

async function decode(request: FastifyRequest, body: Buffer, bytesMax: number): Promise<Buffer> {
  if (encodingOf(request) !== 'gzip') return body;
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

function orThrow<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new HttpError(400, `The body ${result.problems.join('; ')}.`);
}
