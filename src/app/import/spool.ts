import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Query } from '../../domain/queries/query.js';
import { readJsonLines } from './records.js';

const bufferedCharactersMax = 256 * 1024;

const chunkBytes = 64 * 1024;

/**
 * Keeps queries in a temporary file until it is known whether all of them are good. What was checked is then what is
 * recorded, from stdin as from files, and memory stays flat.
 */
export class Spool {
  /** Where it still has a name. */
  readonly #folder: string | undefined;
  readonly #file: FileHandle;
  #buffered = '';

  static async create(): Promise<Spool> {
    const folder = await mkdtemp(join(tmpdir(), 'caller-stats-import-'));
    const file = await open(join(folder, 'queries'), 'wx+', 0o600);
    // It has no name from here on, so that nothing of it stays behind however the process ends. Windows keeps the names of
    // open files: there it has one until the end.
    const isRemoved = await rm(folder, { recursive: true }).then(
      () => true,
      () => false,
    );
    return new Spool(file, isRemoved ? undefined : folder);
  }

  private constructor(file: FileHandle, folder: string | undefined) {
    this.#file = file;
    this.#folder = folder;
  }

  async add({ id, caller, occurredAt }: Query): Promise<void> {
    this.#buffered += `${JSON.stringify([id, caller, occurredAt])}\n`;
    if (this.#buffered.length >= bufferedCharactersMax) await this.#write();
  }

  /** Everything added so far, in order. */
  async *read(): AsyncGenerator<Query> {
    await this.#write();
    for await (const { value } of readJsonLines(this.#chunks())) {
      if (!value.ok) throw new Error(`the temporary file was damaged: ${value.problems.join(', ')}`);
      const [id, caller, occurredAt] = value.value as [string, string, number];
      yield { id, caller, occurredAt };
    }
  }

  async remove(): Promise<void> {
    await this.#file.close();
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; ; ) {
      // A buffer of its own each time: lines of the last one may still be in use.
      const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async #write(): Promise<void> {
    await this.#file.appendFile(this.#buffered);
    this.#buffered = '';
  }
}
