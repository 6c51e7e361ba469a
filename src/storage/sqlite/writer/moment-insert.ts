import { bucketAt, bucketWidthMs } from '../../../domain/counting/buckets.js';
import type { Connection } from '../connection.js';
import { Placed, type Recorded } from '../counters/counter-deltas.js';
import { isKept, KEPT_LEVELS, momentBytes, momentsMax, writeMoment } from '../counters/moments.js';
import { type Prepared, prepare, prepareArrays } from '../statements.js';

/** Keeps queries one by one where there is room for them, within the transaction that is open. */
export class MomentInsert {
  readonly #find: Prepared<readonly [queries: Uint8Array]>;
  readonly #write: Prepared<unknown>;
  readonly #remove: Prepared<unknown>;

  constructor(db: Connection) {
    const where = 'WHERE project = ? AND level = ? AND bucket = ?';
    this.#find = prepareArrays(db, `SELECT queries FROM moment ${where}`);
    this.#write = prepare(
      db,
      `INSERT INTO moment (project, level, bucket, queries) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET queries = excluded.queries`,
    );
    this.#remove = prepare(db, `DELETE FROM moment ${where}`);
  }

  /** Says from which level on each query is counted, and each that is removed was. They are in the order of time. */
  place(project: number, { times, types, callers, queries }: Recorded): Placed {
    const placed = new Placed();
    const buckets = KEPT_LEVELS.map((level) => new KeptBucket(level));
    for (let at = 0; at < times.length; at++) {
      const [timeMs, type, caller] = [times[at] as number, types[at] as number, callers[at] as number];
      let left = queries?.[at] ?? 1;
      for (const bucket of buckets) {
        if (left === 0) break;
        this.#open(project, bucket, timeMs);
        const changed = bucket.change(timeMs, caller, left);
        if (changed !== 0) placed.add(bucket.level, timeMs, type, caller, changed);
        left -= changed;
      }
      if (left !== 0) placed.add(0, timeMs, type, caller, left);
    }
    for (const bucket of buckets) this.#end(project, bucket);
    return placed;
  }

  #open(project: number, bucket: KeptBucket, timeMs: number): void {
    if (bucket.includes(timeMs)) return;
    this.#end(project, bucket);
    const number = bucketAt(timeMs, bucket.level);
    bucket.begin(number, this.#find.get(project, bucket.level, number)?.[0]);
  }

  #end(project: number, { level, bucket, queries, isChanged }: KeptBucket): void {
    if (!isChanged) return;
    if (queries.length === 0) this.#remove.run(project, level, bucket);
    else this.#write.run(project, level, bucket, queries);
  }
}

/** The queries that one bucket at a time keeps. */
class KeptBucket {
  readonly level: number;
  readonly #widthMs: number;
  readonly #bytes = new Uint8Array(momentsMax * momentBytes);
  #bucket = Number.NaN;
  #length = 0;
  #isChanged = false;

  constructor(level: number) {
    this.level = level;
    this.#widthMs = bucketWidthMs(level);
  }

  get bucket(): number {
    return this.#bucket;
  }

  get queries(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  includes(timeMs: number): boolean {
    return bucketAt(timeMs, this.level) === this.#bucket;
  }

  begin(bucket: number, queries: Uint8Array = new Uint8Array()): void {
    this.#bucket = bucket;
    this.#bytes.set(queries);
    this.#length = queries.length;
    this.#isChanged = false;
  }

  /** Adds queries if there is room for all of them, or removes those that are here. Returns how many. */
  change(timeMs: number, caller: number, queries: number): number {
    if (!isKept(caller)) return 0;
    const sinceStartMs = timeMs - this.#bucket * this.#widthMs;
    const changed =
      queries > 0 ? this.#add(sinceStartMs, caller, queries) : -this.#remove(sinceStartMs, caller, -queries);
    if (changed !== 0) this.#isChanged = true;
    return changed;
  }

  #add(sinceStartMs: number, caller: number, queries: number): number {
    if (this.#length + queries * momentBytes > this.#bytes.length) return 0;
    for (let added = 0; added < queries; added++) {
      writeMoment(this.#bytes, this.#length, sinceStartMs, caller);
      this.#length += momentBytes;
    }
    return queries;
  }

  #remove(sinceStartMs: number, caller: number, queries: number): number {
    const wanted = new Uint8Array(momentBytes);
    writeMoment(wanted, 0, sinceStartMs, caller);
    let removed = 0;
    for (let at = this.#length - momentBytes; at >= 0 && removed < queries; at -= momentBytes) {
      if (!wanted.every((byte, place) => byte === this.#bytes[at + place])) continue;
      this.#length -= momentBytes;
      // The last one takes its place.
      this.#bytes.copyWithin(at, this.#length, this.#length + momentBytes);
      removed++;
    }
    return removed;
  }
}
