/** Reads import files from disk or stdin, and makes plain text of them. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CallerStatsError } from '../../../domain/errors.js';
import { NotTextError, readText } from './text.js';
import { PackedDataError, unpack } from './unpack.js';

export interface Source {
  /** For messages. */
  readonly name: string;
  /** The size before decompression; undefined for stdin. */
  readonly sizeBytes: number | undefined;
  /** Reads the decompressed text in UTF-8, once. Calls `onProgress` with the number of compressed bytes that each step read. */
  readonly read: (onProgress: OnProgress) => AsyncIterable<Buffer>;
}

/** Reading a file in the chunks of 64 KB that are usual takes three times as long. */
const chunkBytes = 256 * 1024;

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
};

/** Why a file cannot be read. */
export function fileProblem(error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return problems[code] ?? code;
}

/** A source that cannot be read to its end. The message continues a sentence that starts with the source's name. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

/** Opens a file, or `stdin` for `-`. Throws a `CallerStatsError` if there is no such file. */
export async function openSource(path: string, stdin?: Readable): Promise<Source> {
  if (path === '-' && stdin !== undefined) {
    return { name: 'stdin', sizeBytes: undefined, read: (onProgress) => readBytes(stdin, onProgress) };
  }
  const file = await stat(path).catch((error: unknown) => {
    throw new CallerStatsError('not_found', `${path} cannot be read: ${fileProblem(error)}.`);
  });
  if (file.isDirectory()) throw new CallerStatsError('not_found', `${path} cannot be read: it is a folder.`);
  return {
    name: path,
    sizeBytes: file.size,
    read: (onProgress) => readBytes(createReadStream(path, { highWaterMark: chunkBytes }), onProgress),
  };
}

type OnProgress = (storedBytes: number) => void;

async function* readBytes(stored: Readable, onProgress: OnProgress): AsyncGenerator<Buffer> {
  try {
    yield* readText(unpack(countBytes(stored, onProgress)));
  } catch (error) {
    if (error instanceof NotTextError) throw new SourceError(`cannot be read: ${error.message}`);
    const reason = error instanceof PackedDataError ? error.message : fileProblem(error);
    throw new SourceError(`cannot be read to its end: ${reason}`, { cause: error });
  }
}

async function* countBytes(stored: Readable, onProgress: OnProgress): AsyncGenerator<Buffer> {
  for await (const chunk of stored) {
    onProgress((chunk as Buffer).length);
    yield chunk as Buffer;
  }
}
