/** The storage port for removing old data and for checks. `store.ts` says what holds for every method. */
import type { TypeCounts } from '../../domain/counting/counts.js';
import type { StorePart, StoreStats } from './store-stats.js';

/** A counter that differs from a recount of the recorded queries and imported counts. */
export interface CounterDifference {
  readonly projectId: string;
  /** Index into `BUCKET_WIDTHS_MS`. */
  readonly level: number;
  /** The bucket's number: floor(time / width). */
  readonly bucket: number;
  /** Set for the counter of a single caller of type other, which counts `other` only. */
  readonly caller?: string;
  readonly counted: TypeCounts;
  readonly recounted: TypeCounts;
}

/** Sorts differences by project, level, bucket and caller, as `Verification` lists them. */
export function inOrderOfBuckets(a: CounterDifference, b: CounterDifference): number {
  return (
    inOrderOfText(a.projectId, b.projectId) ||
    a.level - b.level ||
    a.bucket - b.bucket ||
    // A caller's name is never empty, so the counter of all callers comes first.
    inOrderOfText(a.caller ?? '', b.caller ?? '')
  );
}

function inOrderOfText(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

/** The result of `verify`. */
export interface Verification {
  readonly projects: number;
  readonly queries: number;
  /** The queries in imported counts. */
  readonly importedQueries: number;
  /** Damage of the database itself, as the database describes it. If there is any, nothing was recounted. */
  readonly damage: readonly string[];
  /** The first differences, sorted by project, level, bucket and caller; at most `verifyDifferencesMax`. */
  readonly differences: readonly CounterDifference[];
  /** The number of all differences. */
  readonly differencesTotal: number;
  /** The ids of projects whose copy for look-ups is not right, in order. Undefined if there are none, or nothing is copied. */
  readonly wrongCopies?: readonly string[];
}

/** The result of `verify` for a damaged database. */
export function damagedVerification(damage: readonly string[]): Verification {
  return { projects: 0, queries: 0, importedQueries: 0, damage, differences: [], differencesTotal: 0 };
}

/** How many differences `verify` lists; it counts all of them. */
export const verifyDifferencesMax = 1000;

/** The result of one step of removing data. */
export interface Cleanup {
  /** Number of removed queries and counters. */
  readonly removed: number;
  /** Whether there was nothing left to do. */
  readonly done: boolean;
  /** Set if a wrong clock had put the `rowsFrom` of a project into the future, with the new one. */
  readonly movedBack?: { readonly projectId: string; readonly rowsFrom: number };
}

export interface Maintenance {
  /**
   * Removes at most `limit` queries and counters of deleted projects, in one short transaction. Any number of handles
   * may do it at once. Call it until it is `done`.
   */
  purgeDeleted(limit: number): Promise<Cleanup>;

  /**
   * Does one step of the projects' retention: moves a project's `rowsFrom` forward (see `nextRowsFrom`), or looks at up
   * to `limit` of its queries by id and removes the rows of those before it. Counts do not change. Older queries are
   * refused from the moment `rowsFrom` moves, and rows are removed only after that. Any number of handles may do it at
   * once. Call it until it is `done`.
   */
  applyRetention(nowMs: number, limit: number): Promise<Cleanup>;

  /**
   * Recounts every counter of every project from the recorded queries and imported counts, in one snapshot, and checks
   * the database for damage. Changes nothing; other processes may record meanwhile. The time grows with everything that
   * was recorded, and the calling process may block for it: for operators, not for requests.
   */
  verify(): Promise<Verification>;

  /**
   * Tests one part of the store, or all of them in order: that the database can be read, that its schema is the one
   * this program works with, and that a count can be made. `unavailable` with the reason if not.
   */
  check(part?: StorePart): Promise<void>;

  /**
   * Tests whether queries can be recorded, which a full or read-only disk prevents while counts are still made: by the last
   * commit since the previous call, or else by a commit that changes nothing, at most one in five seconds. Throws the reason
   * if not.
   */
  checkRecording(nowMs: number): Promise<void>;

  /** The store's current numbers. Never rejects, even when closed; takes no longer than `statsTimeoutMs`. */
  stats(): Promise<StoreStats>;
}
