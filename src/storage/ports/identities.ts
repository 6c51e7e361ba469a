/** The part of the storage port that tells which queries in telemetry are one. See `query-identity.ts`. */
import type { QueryKeys } from '../../domain/queries/query-identity.js';
import { dayMs } from '../../domain/time/duration.js';

export interface Identities {
  /**
   * The id of each query that was found, in their order, as `planIdentities` decides. Durable, and the same through any
   * number of handles, also for queries that are identified at the same time. Recording the queries is another step:
   * repeating both after a crash between them gives the same ids. Also forgets some of the project's keys that were stored
   * more than `keysKeptMs` before `nowMs`. `not_found` if there is no such project.
   */
  identify(projectId: string, queries: readonly QueryKeys[], nowMs: number): Promise<readonly string[]>;
}

/** Far longer than any exporter or collector tries to send the same spans again. */
export const keysKeptMs = 30 * dayMs;

/** Expired keys that a call removes: so many, or twice those that it may add, so that they cannot pile up. */
export const expiredKeysMin = 1000;
