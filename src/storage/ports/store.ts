/**
 * The storage port: what every store promises. A backend can be written from this file alone, and is right when
 * the suite in `test/conformance/` passes.
 *
 * What holds for every method:
 * - Errors are `CallerStatsError`s with the codes named here. `unavailable` may come from any method: nothing was
 *   changed, unless the connection broke while the change was being made durable; then it may have happened, and
 *   repeating it is safe wherever this file says "idempotent".
 * - What a resolved promise says is on disk: a machine that loses power a moment later still has it, and every
 *   read that begins afterwards, on any handle of the same database, sees it.
 * - Each read is one snapshot: it sees each recording whole or not at all.
 * - Times are whole milliseconds since 1970-01-01T00:00:00Z. Lists are sorted by creation time, then by id.
 * - Every change of an organization, its projects, keys or members is written into its audit log in the same
 *   transaction, as made by the `Actor` it is given. Recording, and noting a key's use, are no such changes.
 * - Input has been checked by the domain; a store checks only what it alone can know.
 */

import type { CallerCounts, Counts, TypeCounts } from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Actor, AuditEntry, AuditFilter } from '../../domain/people/audit.js';
import type { Member, Role } from '../../domain/people/member.js';
import type { NewProject, Organization, Project, ProjectChange } from '../../domain/projects/project.js';
import type { Query } from '../../domain/queries/query.js';
import type { People } from './people.js';
import type { StorePart, StoreStats } from './store-stats.js';
import type { Throttles } from './throttles.js';

/** What became of a batch: `recorded + duplicates` is its length. */
export interface RecordResult {
  readonly recorded: number;
  readonly duplicates: number;
}

/** One counter that is not what a recount of the recorded queries gives. */
export interface CounterDifference {
  readonly projectId: string;
  /** Index into `BUCKET_WIDTHS_MS`. */
  readonly level: number;
  /** The bucket's number: floor(time / width). */
  readonly bucket: number;
  /** The caller of type other whose own counter it is, which has nothing but `other`; none for the counter of all. */
  readonly caller?: string;
  readonly counted: TypeCounts;
  readonly recounted: TypeCounts;
}

/** Sorts differences as `Verification` has them. */
export function inOrderOfBuckets(a: CounterDifference, b: CounterDifference): number {
  return (
    inOrderOfText(a.projectId, b.projectId) ||
    a.level - b.level ||
    a.bucket - b.bucket ||
    // No caller is called nothing, so the counter of all comes first.
    inOrderOfText(a.caller ?? '', b.caller ?? '')
  );
}

function inOrderOfText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** What `verify` found. */
export interface Verification {
  readonly projects: number;
  readonly queries: number;
  /** Damage of the database itself, in its own words; empty when it is sound. Where there is any, nothing was recounted. */
  readonly damage: readonly string[];
  /** The first differences, sorted by project, level, bucket and caller; at most `verifyDifferencesMax`. */
  readonly differences: readonly CounterDifference[];
  /** How many differences there are in all. */
  readonly differencesTotal: number;
}

/** How many differences `verify` lists; it counts them all. */
export const verifyDifferencesMax = 1000;

/** What can become of a key. */
export type KeyChange = 'revoke' | 'disable' | 'enable';

/** What one step of removing things did. */
export interface Cleanup {
  /** Queries and counters that it removed. */
  readonly removed: number;
  /** Whether there was nothing left to do. */
  readonly done: boolean;
}

/** Who asks, and for what. */
export interface Access {
  readonly key: ApiKey;
  readonly project: Project | undefined;
}

/** Reads that need no wait. */
export interface SyncReads {
  /** As `Store.findAccess`. */
  findAccess(keyHash: string, projectId: string): Access | undefined;

  /** As `Store.count`. */
  count(projectId: string, range: DateRange): Counts;
}

export interface Store {
  /** Users, and who may become a member. */
  readonly people: People;
  readonly throttles: Throttles;

  /** Adds an organization. `already_exists` where its id is taken. */
  createOrganization(organization: Organization, by: Actor): Promise<void>;

  /** All organizations; the default one is always there. */
  listOrganizations(): Promise<Organization[]>;

  /**
   * Adds a project. `already_exists` where its id is taken, in any organization, or is still that of a deleted project
   * whose queries are being removed; `not_found` without its organization.
   */
  createProject(project: NewProject, by: Actor): Promise<void>;

  /** The organization's projects; empty where there is no such organization. */
  listProjects(organizationId: string): Promise<Project[]>;

  /**
   * The project, if it is the organization's. Undefined both where it does not exist and where it is another's,
   * by the same single look-up, so that the two cannot be told apart by time either.
   */
  findProject(organizationId: string, projectId: string): Promise<Project | undefined>;

  /**
   * Changes a project and gives it back. Idempotent; what changes nothing is not written into the audit log.
   * `not_found` where the organization has no such project.
   */
  changeProject(
    organizationId: string,
    projectId: string,
    change: ProjectChange,
    by: Actor,
  ): Promise<Project>;

  /**
   * Deletes a project and its recording keys, for ever. Once this resolves, nothing of it is found by any method but
   * the audit log. A recording at the same time is either counted before that, or refused as `not_found`. Its queries
   * and counters are removed by `purgeDeleted`; a project that is made with its id has none of them, ever.
   * `not_found` where the organization has no such project.
   */
  deleteProject(organizationId: string, projectId: string, by: Actor): Promise<void>;

  /**
   * Removes some of what deleted projects left behind: at most `limit` queries and counters, in one transaction that no
   * recording waits long for. Any number of handles may do it at once. Call it until it is `done`.
   */
  purgeDeleted(limit: number): Promise<Cleanup>;

  /**
   * Does some of what the projects' retention asks for at a time: moves a project's `rowsFrom` forward (see
   * `nextRowsFrom`), or looks at no more than `limit` of its queries, by id, and removes the rows of those from before
   * it. Counts stay as they are. Recordings of older queries are refused from the moment on that `rowsFrom` is moved, and
   * only then are rows removed. Any number of handles may do it at once. Call it until it is `done`.
   */
  applyRetention(nowMs: number, limit: number): Promise<Cleanup>;

  /** Adds a key. `already_exists` where its id or hash is taken; `not_found` without its organization or project. */
  createKey(key: ApiKey, by: Actor): Promise<void>;

  /** The organization's keys, expired and revoked ones included. */
  listKeys(organizationId: string): Promise<ApiKey[]>;

  /**
   * The key with this hash, whatever its state, and the project of that id where it is of the key's organization;
   * undefined where there is no such key. One look-up, the same for a project that is another's and for one that is
   * not there. Sees a revocation that resolved before, through any handle on the same machine, at once: a store must
   * not answer from a cache that could miss one.
   */
  findAccess(keyHash: string, projectId: string): Promise<Access | undefined>;

  /**
   * Answers any number of reads at once, all of one snapshot, which is taken when `work` begins: for stores that answer
   * within microseconds, without going anywhere. Others have none. Throws what `work` throws, and `unavailable`.
   */
  readonly readSync?: (<T>(work: (reads: SyncReads) => T) => T) | undefined;

  /**
   * Changes whether a key works and gives it back: revoked for ever, disabled until it is enabled. Idempotent: a
   * revoked key keeps its first `revokedAt`, a disabled one its first `disabledAt`, and what changes nothing is not
   * written into the audit log. `not_found` where the organization has no such key.
   */
  changeKey(organizationId: string, keyId: string, change: KeyChange, by: Actor): Promise<ApiKey>;

  /**
   * Adds a successor (see `createKey`) and gives the old key its new, earlier expiry and its successor's id, both or
   * neither. `not_found` where the organization has no such key; `invalid` where it is revoked, or has a successor.
   */
  rotateKey(
    organizationId: string,
    keyId: string,
    successor: ApiKey,
    expiresAt: number,
    by: Actor,
  ): Promise<void>;

  /** Revokes the key with this hash, whichever organization's it is. True where there is one. Idempotent. */
  revokeLeakedKey(keyHash: string, by: Actor): Promise<boolean>;

  /** Notes that a key was used. Never moves `lastUsedAt` back; does nothing where there is no such key. */
  touchKey(keyId: string, usedAt: number): Promise<void>;

  /** Adds a member. `already_exists` where the e-mail address is a member's; `not_found` without its organization. */
  addMember(member: Member, by: Actor): Promise<void>;

  /** The organization's members. */
  listMembers(organizationId: string): Promise<Member[]>;

  /**
   * Gives a member another role. `not_found` where the organization has no such member; `invalid` where it is the last
   * owner: an organization that has an owner keeps one.
   */
  changeMember(organizationId: string, email: string, role: Role, by: Actor): Promise<void>;

  /** `not_found` where the organization has no such member; `invalid` where it is the last owner. */
  removeMember(organizationId: string, email: string, by: Actor): Promise<void>;

  /** The entries of the organization's audit log that fit the filter, newest first. */
  readAudit(organizationId: string, filter: AuditFilter): Promise<AuditEntry[]>;

  /** Forgets entries of the audit log, of all organizations, that are from before a time. Gives how many. */
  pruneAudit(before: number): Promise<number>;

  /**
   * Records queries into a project: all of them or, when it rejects, none. Idempotent for ever by (project, id):
   * a query whose id the project already has, or that comes again later in the same batch, is a duplicate and
   * changes nothing, whatever else it says. Counters move in the same transaction as the rows, so a count never
   * sees one without the other. Any number of handles and processes may record the same ids at once.
   * `not_found` where there is no such project. `invalid`, with a detail for each by its index, where queries are from
   * before the project's `rowsFrom`: whether they are repeats cannot be told any more. `unavailable` where too much is
   * waiting already.
   */
  record(projectId: string, queries: readonly Query[]): Promise<RecordResult>;

  /**
   * Counts the project's queries in a range, exactly. Four zeros where the range is empty or there is no such
   * project. Takes bounded time, whatever was recorded.
   */
  count(projectId: string, range: DateRange): Promise<Counts>;

  /**
   * Counts the project's queries in each of the adjacent ranges that `bounds`, which ascend, are the ends of: n bounds
   * make n - 1 counts, all of one snapshot, so that they add up to what `count` says of the whole. Zeros where there is
   * no such project. Takes time in proportion to the number of bounds, whatever was recorded.
   */
  countSeries(projectId: string, bounds: readonly number[]): Promise<readonly Counts[]>;

  /**
   * Counts the project's queries in a range by their callers, all in one snapshot: `total` is what `count` says. Nobody
   * where the range is empty or there is no such project. Takes time in proportion to the number of callers, whatever
   * was recorded.
   */
  countCallers(projectId: string, range: DateRange): Promise<CallerCounts>;

  /**
   * From the project's first query to just behind its last, by when they occurred; undefined where it has none, or
   * there is no such project. It only ever grows. Takes bounded time.
   */
  findExtent(projectId: string): Promise<DateRange | undefined>;

  /**
   * A page of the project's queries, for copying them: at most `limit` of those behind the one with the id `afterId`,
   * or of all without one. In an order by id that is the store's own; each page is a snapshot of its own, and a page
   * that is not full is the last. Empty where there is no such project.
   */
  readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<Query[]>;

  /**
   * Recounts every counter of every project from the recorded queries, in one snapshot, and checks the
   * database itself for damage. Changes nothing; other processes may record meanwhile. Takes time in proportion
   * to all that was recorded, and may hold up the calling process for it: it is for operators, not for requests.
   */
  verify(): Promise<Verification>;

  /**
   * Tries a part for real, or all of them in order: whether the database can be read, whether its schema is the one that
   * this program works with, and whether a count can be made. `unavailable` with the reason where it cannot.
   */
  check(part?: StorePart): Promise<void>;

  /** How it is now. Never rejects, even when it is closed; takes no longer than `statsTimeoutMs`. */
  stats(): Promise<StoreStats>;

  /** Finishes what was accepted, refuses what comes after (`unavailable`), and lets go of everything. Idempotent. */
  close(): Promise<void>;
}
