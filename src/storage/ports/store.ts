/**
 * The storage port: what every store promises, in parts such as `store.counts`. A backend can be written from the interfaces
 * in this folder alone, and is right when the suite in `test/conformance/` passes.
 *
 * For every method:
 * - Errors are `CallerStatsError`s with the documented codes. Any method may throw `unavailable`: nothing was changed,
 *   unless the connection broke during the commit; then the change may have happened, and repeating it is safe if the
 *   method is documented as idempotent.
 * - When a promise resolves, the change is on disk: a power failure does not lose it, and every read that begins later,
 *   on any handle of the same database, sees it.
 * - Each read is one snapshot: it sees each recording completely or not at all.
 * - Times are whole milliseconds since 1970-01-01T00:00:00Z. Lists are sorted by creation time, then by id.
 * - Every change of an organization, its projects, keys or members is written into its audit log in the same
 *   transaction, with the `Actor` who made it. Recording queries, importing counts and noting a key's use are not
 *   logged.
 * - The domain has checked all input; a store checks only what it alone can know.
 */
import type { Corrections } from './corrections.js';
import type { CountStore } from './counts.js';
import type { Directory } from './directory.js';
import type { History } from './history.js';
import type { Identities } from './identities.js';
import type { Ingestion } from './ingestion.js';
import type { Maintenance } from './maintenance.js';
import type { Notifications } from './notifications.js';
import type { Throttles } from './throttles.js';
import type { UserTables } from './user-tables.js';

export type { RecordResult } from './counts.js';
export type { Access, AccessProof, KeyChange } from './directory.js';
export type { Cleanup, CounterDifference, Verification } from './maintenance.js';

/** A store: its parts, each with the methods of one subject. */
export interface Store {
  readonly counts: CountStore;

  readonly corrections: Corrections;

  readonly history: History;

  readonly directory: Directory;

  readonly maintenance: Maintenance;

  readonly users: UserTables;

  readonly throttles: Throttles;

  readonly ingestion: Ingestion;

  readonly identities: Identities;

  readonly notifications: Notifications;

  /** Finishes accepted changes, refuses new ones (`unavailable`), and releases all resources. Idempotent. */
  close(): Promise<void>;
}
