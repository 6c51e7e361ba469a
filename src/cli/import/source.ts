/** Bytes of an import file: from disk or stdin, unpacked where they are gzip, whatever the file is called. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CallerStatsError } from '../../domain/errors.js';

export interface Source {
  /** What messages call it. */
  readonly name: string;
  /** Bytes it has as stored; undefined for stdin. */
  readonly sizeBytes: number | undefined;
  /** The unpacked bytes, to be read once. `onProgress` hears how many stored bytes each step took. */
  readonly read: (onProgress: (storedBytes: number) => void) => AsyncIterable<Buffer>;
}

/** Thrown while reading, where a source breaks off. The message goes on from its name. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

/** `-` is stdin. `CallerStatsError` where there is no such file. */
export async function openSource(path: string, stdin: Readable): Promise<Source> {
  if (path === '-')
    return { name: 'stdin', sizeBytes: undefined, read: (onProgress) => unpack(stdin, onProgress) };
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CallerStatsError('not_found', `${path} cannot be read: ${error.code}.`, { cause: error });
  });
  if (file.isDirectory()) throw new CallerStatsError('not_found', `${path} cannot be read: it is a folder.`);
  return {
    name: path,
    sizeBytes: file.size,
    read: (onProgress) => unpack(createReadStream(path), onProgress),
  };
}

async function* unpack(stored: Readable, onProgress: (storedBytes: number) => void): AsyncGenerator<Buffer> {
  try {
    const chunks = counted(stored, onProgress);
    const start = await takeStart(chunks);
    const all = continued(start, chunks);
    if (!isGzip(start)) {
      yield* all;
      return;
    }
    const unpacked = createGunzip();
    // Its errors come out of `unpacked` as well, which is where they are waited for.
    pipeline(Readable.from(all), unpacked, () => {});
    yield* unpacked;
  } catch (error) {
    throw new SourceError(
      `cannot be read to its end: ${readProblem((error as NodeJS.ErrnoException).code)}`,
      {
        cause: error,
      },
    );
  }
}

async function* counted(stored: Readable, onProgress: (storedBytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of stored) {
    onProgress((chunk as Buffer).length);
    yield chunk as Buffer;
  }
}

/** The first two bytes at least, or all there are: a pipe may deliver them one by one. */
async function takeStart(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < 2) {
    const next = await chunks.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

async function* continued(start: Buffer, chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (start.length > 0) yield start;
  yield* chunks;
}

function readProblem(code: string | undefined): string {
  if (code === 'Z_BUF_ERROR') return 'its gzip data is cut short';
  return code?.startsWith('Z_') ? 'its gzip data is damaged' : (code ?? 'unknown error');
}

/** RFC 1952, section 2.3.1. No text begins with these bytes. */
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}
