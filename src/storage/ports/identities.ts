/** The part of the storage port that tells which queries in telemetry are one, and for whom they count. See `query-identity.ts`. */
import type { FoundFacts, FoundPlan } from '../../domain/queries/found-queries.js';
import type { Query } from '../../domain/queries/query.js';
import type { IdSource } from '../../domain/queries/telemetry-settings.js';
import { dayMs } from '../../domain/time/duration.js';

export interface Identified extends Pick<FoundPlan, 'queryIds' | 'callers'> {
  /** The queries of the project that have to be recorded, if they are not, and then settled. */
  readonly pending: readonly Query[];
}

export interface Identities {
  /**
   * The id and the caller of each query that was found, in their order, as `planIdentities` and `planFound` decide. Durable, and
   * the same through any number of handles, also for queries that are identified at the same time. Recording and settling the
   * queries are other steps: repeating all after a crash between them gives the same. Also forgets some of the project's keys
   * that were stored more than `keysKeptMs` before `expiryMs`, which is `nowMs` unless the clock may be wrong. A request whose
   * query is not known yet waits for it for `statesKeptMs`. `not_found` if there is no such project.
   */
  identify(
    projectId: string,
    found: readonly FoundFacts[],
    id: IdSource,
    nowMs: number,
    expiryMs?: number,
  ): Promise<Identified>;

  /**
   * Corrects what is recorded of these queries: a named caller takes the place of the assumed one, and those that turned out to be
   * others no longer count. What a correction has changed stays as it is. Idempotent.
   */
  settle(projectId: string, queryIds: readonly string[], nowMs: number): Promise<void>;
}

/** Far longer than any exporter or collector tries to send the same spans again. */
export const keysKeptMs = 30 * dayMs;

/** How long a named caller can take the place of an assumed one, and an id show that two queries are one. */
export const statesKeptMs = dayMs;

/**
 * How many requests of a project may wait for their queries: the latest ones, and for a while some more. So many arrive at a busy
 * site in minutes, and a query seconds after its request.
 */
export const waitingRequestsMax = 10_000;

/** Expired keys that a call removes: so many, or twice those that it may add, so that they cannot pile up. */
export const expiredKeysMin = 1000;
