import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CarriedCorrection, CarriedCount, CarriedQuery } from '../../domain/corrections/carried.js';
import { readJsonLines } from './records.js';

const bufferedCharactersMax = 256 * 1024;

/** A line of an export. */
export type ExportedRecord = CarriedQuery | CarriedCount | CarriedCorrection;

/**
 * Stores records in a temporary file until all of them have been checked. So the queries that are recorded are exactly those
 * that were checked, also from stdin, and memory use does not depend on their number.
 */
export class Spool {
  /** The folder of the file, if it could not be removed yet. */
  readonly #folder: string | undefined;
  readonly #file: FileHandle;
  #buffered = '';

  static async create(): Promise<Spool> {
    const folder = await mkdtemp(join(tmpdir(), 'caller-stats-import-'));
    const file = await open(join(folder, 'queries'), 'wx+', 0o600);
    // An open file without a name disappears however the process ends. Windows cannot remove open files; there, `remove`
    // does it.
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

  async add(record: ExportedRecord): Promise<void> {
    this.#buffered += `${JSON.stringify(record)}\n`;
    if (this.#buffered.length >= bufferedCharactersMax) await this.#write();
  }

  /** Reads the added records, in order. */
  async *read(): AsyncGenerator<ExportedRecord> {
    await this.#write();
    const chunks: AsyncIterable<Buffer> = this.#file.createReadStream({ start: 0, autoClose: false });
    for await (const records of readJsonLines(chunks)) {
      for (const { line, value } of records) {
        if (value === 'skipped' || !value.ok)
          throw new Error(`line ${line} of the temporary file is damaged`);
        yield value.value as ExportedRecord;
      }
    }
  }

  async remove(): Promise<void> {
    await this.#file.close();
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #write(): Promise<void> {
    await this.#file.appendFile(this.#buffered);
    this.#buffered = '';
  }
}
