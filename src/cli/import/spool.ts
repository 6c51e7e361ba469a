import { createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Query } from '../../domain/query.js';
import { readJsonLines } from './records.js';

const bufferedCharactersMax = 256 * 1024;

/**
 * Keeps queries in a temporary file until it is known whether all of them are good. What was checked is then what is
 * recorded, from stdin as from files, and memory stays flat.
 */
export class Spool {
  readonly #folder: string;
  readonly #file: FileHandle;
  #buffered = '';

  static async create(): Promise<Spool> {
    const folder = await mkdtemp(join(tmpdir(), 'caller-stats-import-'));
    return new Spool(folder, await open(join(folder, 'queries'), 'wx', 0o600));
  }

  private constructor(folder: string, file: FileHandle) {
    this.#folder = folder;
    this.#file = file;
  }

  async add({ id, caller, occurredAt }: Query): Promise<void> {
    this.#buffered += `${JSON.stringify([id, caller, occurredAt])}\n`;
    if (this.#buffered.length >= bufferedCharactersMax) await this.#write();
  }

  /** Everything added so far, in order. */
  async *read(): AsyncGenerator<Query> {
    await this.#write();
    for await (const { value } of readJsonLines(createReadStream(join(this.#folder, 'queries')))) {
      if (!value.ok) throw new Error(`the temporary file was damaged: ${value.problems.join(', ')}`);
      const [id, caller, occurredAt] = value.value as [string, string, number];
      yield { id, caller, occurredAt };
    }
  }

  async remove(): Promise<void> {
    await this.#file.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #write(): Promise<void> {
    await this.#file.appendFile(this.#buffered);
    this.#buffered = '';
  }
}
