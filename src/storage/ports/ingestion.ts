/**
 * The part of the storage port that counts what arrives, by source. What `store.ts` says of every method holds here too.
 * Methods with a project throw `not_found` if it does not exist.
 */
import type { Refusal, Source, SourceBucket, SourceTotals } from '../../domain/ingestion/source-counts.js';
import type { Cleanup } from './maintenance.js';

export interface SeenSource extends Source {
  /** The last time that something came from it, in milliseconds since 1970. */
  readonly seenAt: number;
}

export interface KeptRefusal extends Source, Refusal {
  /** The start of the last bucket that has it. */
  readonly bucket: number;
}

/** What is too old to be kept. */
export interface Horizon {
  /** Buckets that start before this time. Their refusals are kept as long as sources. */
  readonly bucketsBefore: number;
  /** Sources that were not seen since. */
  readonly seenBefore: number;
}

export interface IngestionReads {
  /** The sources of a project, sorted by kind and name. */
  listSources(projectId: string): Promise<SeenSource[]>;

  /** What came from each source in all buckets that start at `from` or later. */
  sum(projectId: string, from: number): Promise<SourceTotals[]>;

  /** All refusals that are kept, the last ones first. */
  listRefusals(projectId: string): Promise<KeptRefusal[]>;

  /** The projects of which something is too old. */
  listOutdated(horizon: Horizon): Promise<string[]>;
}

/** What is known of a project besides its id. */
export interface ProjectIdentity {
  readonly createdAt?: number | undefined;
  readonly organizationId?: string | undefined;
}

export interface IngestionChanges {
  /**
   * Adds to what came to a project. Adding the same again counts it twice. Of sources that the project has no room for, and
   * of operations beyond the first of a bucket, only the sums are stored (see `SourceNames`). A project with another
   * `identity` is not found: it has the id of one that was deleted meanwhile.
   */
  add(projectId: string, buckets: readonly SourceBucket[], identity?: ProjectIdentity): Promise<void>;

  /**
   * Removes at most `limit` buckets and sources of a project that are too old, in one short transaction. Any number of handles
   * may do it at once. Call it until it is `done`.
   */
  prune(projectId: string, horizon: Horizon, limit: number): Promise<Cleanup>;
}

export interface Ingestion extends IngestionReads, IngestionChanges {}
