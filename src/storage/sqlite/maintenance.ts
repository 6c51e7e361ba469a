/** Removing old data from a SQLite file, and checks of it. */
import type { Cleanup, Maintenance, Verification } from '../ports/maintenance.js';
import { STORE_PARTS, type StorePart, type StoreStats } from '../ports/store-stats.js';
import type { RecordingCheck } from '../recording-check.js';
import { openReader } from './connection.js';
import { verify } from './counters/verify.js';
import { storeError } from './errors.js';
import type { SqliteFile } from './file.js';
import { using } from './files/snapshot.js';
import type { Operation } from './writer/operations.js';

const NOTHING_LEFT: Cleanup = { removed: 0, done: true };

export class SqliteMaintenance implements Maintenance {
  readonly #file: SqliteFile;
  readonly #recordingCheck: RecordingCheck;
  /** Whether the log may have what was removed: by this process, or by one that was killed. */
  #isInLog = true;

  constructor(file: SqliteFile, recordingCheck: RecordingCheck) {
    this.#file = file;
    this.#recordingCheck = recordingCheck;
  }

  async purgeDeleted(limit: number): Promise<Cleanup> {
    const isLeft = this.#file.read((reader) => reader.hasDeleted());
    return isLeft ? this.#remove({ kind: 'purgeDeleted', limit }) : this.#finish();
  }

  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    const isLeft = this.#file.read((reader) => reader.hasRetentionToApply(nowMs));
    return isLeft ? this.#remove({ kind: 'applyRetention', nowMs, limit }) : this.#finish();
  }

  #remove(operation: Operation & { readonly kind: 'purgeDeleted' | 'applyRetention' }): Promise<Cleanup> {
    this.#isInLog = true;
    return this.#file.submit(operation);
  }

  /** Asks the writer only if there is something to do. What fails now is tried by the next call. */
  async #finish(): Promise<Cleanup> {
    if (!this.#isInLog) return NOTHING_LEFT;
    // What is removed meanwhile sets it again.
    this.#isInLog = false;
    let isEmpty = false;
    try {
      isEmpty = await this.#file.emptyLog();
    } finally {
      this.#isInLog ||= !isEmpty;
    }
    return NOTHING_LEFT;
  }

  async verify(): Promise<Verification> {
    this.#file.requireOpen();
    // On its own connection, because it holds one snapshot for seconds.
    try {
      return using(openReader(this.#file.name), verify);
    } catch (error) {
      throw storeError(error);
    }
  }

  async check(part?: StorePart): Promise<void> {
    this.#file.requireThere();
    for (const one of part === undefined ? STORE_PARTS : [part])
      this.#file.read((reader) => reader.check(one));
  }

  async checkRecording(nowMs: number): Promise<void> {
    this.#file.requireOpen();
    await this.#recordingCheck.run(nowMs);
  }

  async stats(): Promise<StoreStats> {
    return { ...this.#file.pending, sizeBytes: await this.#file.size(), pools: [], servers: [] };
  }
}
