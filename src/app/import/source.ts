/** Bytes of an import file: from disk or stdin, unpacked where they are packed. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CallerStatsError } from '../../domain/errors.js';
import { fileProblem } from './file-problem.js';
import { PackedDataError, unpack } from './unpack.js';

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
  if (path !== '-') return openFile(path);
  return { name: 'stdin', sizeBytes: undefined, read: (onProgress) => bytesOf(stdin, onProgress) };
}

export async function openFile(path: string): Promise<Source> {
  const file = await stat(path).catch((error: unknown) => {
    throw new CallerStatsError('not_found', `${path} cannot be read: ${fileProblem(error)}.`);
  });
  if (file.isDirectory()) throw new CallerStatsError('not_found', `${path} cannot be read: it is a folder.`);
  return {
    name: path,
    sizeBytes: file.size,
    read: (onProgress) => bytesOf(createReadStream(path), onProgress),
  };
}

async function* bytesOf(stored: Readable, onProgress: (storedBytes: number) => void): AsyncGenerator<Buffer> {
  try {
    yield* unpack(counted(stored, onProgress));
  } catch (error) {
    const reason = error instanceof PackedDataError ? error.message : fileProblem(error);
    throw new SourceError(`cannot be read to its end: ${reason}`, { cause: error });
  }
}

async function* counted(stored: Readable, onProgress: (storedBytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of stored) {
    onProgress((chunk as Buffer).length);
    yield chunk as Buffer;
  }
}
