/** The store on one SQLite file: reads on this thread, writes in groups on the writer thread. */

import type { CallerCounts, Counts } from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import { CallerStatsError } from '../../domain/errors.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Actor, AuditEntry, AuditFilter } from '../../domain/people/audit.js';
import type { Member, Role } from '../../domain/people/member.js';
import type { NewProject, Organization, Project, ProjectChange } from '../../domain/projects/project.js';
import type { Query } from '../../domain/queries/query.js';
import { Backlog, CommitQueue } from '../commit-queue.js';
import type {
  Access,
  Cleanup,
  KeyChange,
  RecordResult,
  Store,
  SyncReads,
  Verification,
} from '../ports/store.js';
import { type CommitObserver, STORE_PARTS, type StorePart, type StoreStats } from '../ports/store-stats.js';
import type { Attempt, Throttles } from '../ports/throttles.js';
import { type Connection, openReader } from './connection.js';
import { verify } from './counters/verify.js';
import { storeError } from './errors.js';
import { makePrivately, OpenedFile, sizeOf } from './files/opened-file.js';
import { using } from './files/snapshot.js';
import { SqlitePeople } from './people.js';
import { Reader } from './reader.js';
import type { Operation } from './writer/operations.js';
import { WriterHandle } from './writer/writer-handle.js';

/**
 * Opens the file, made with its folder where there is none, and brings its schema up to date. `lowMemory` and `onBackup` are
 * those of `OpenOptions`.
 */
export async function openSqliteStore(
  file: string,
  { lowMemory, commits, onBackup }: SqliteOptions = {},
): Promise<Store> {
  await makePrivately(file);
  const start = () => WriterHandle.start({ file, lowMemory });
  const writer = await start();
  if (writer.kept !== null) onBackup?.(writer.kept);
  try {
    const reader = openReader(file);
    return new SqliteStore({ file: new OpenedFile(file), startWriter: start, commits }, writer, reader);
  } catch (error) {
    await writer.close();
    throw storeError(error);
  }
}

interface SqliteOptions {
  readonly lowMemory?: boolean | undefined;
  readonly commits?: CommitObserver | undefined;
  readonly onBackup?: ((copy: string) => void) | undefined;
}

interface SqliteStoreOptions {
  readonly file: OpenedFile;
  readonly startWriter: () => Promise<WriterHandle>;
  readonly commits: CommitObserver | undefined;
}

class SqliteStore implements Store {
  readonly people: SqlitePeople;
  readonly throttles: Throttles;
  readonly #file: OpenedFile;
  readonly #startWriter: () => Promise<WriterHandle>;
  readonly #connection: Connection;
  readonly #reader: Reader;
  readonly #backlog = new Backlog();
  readonly #queue: CommitQueue<Operation, unknown>;
  #writer: WriterHandle;
  #closing: Promise<void> | undefined;

  constructor(
    { file, startWriter, commits }: SqliteStoreOptions,
    writer: WriterHandle,
    connection: Connection,
  ) {
    this.#file = file;
    this.#startWriter = startWriter;
    this.#writer = writer;
    this.#connection = connection;
    this.#reader = new Reader(connection);
    this.#queue = new CommitQueue({
      commit: (operations) => this.#commit(operations),
      weigh: (operation) => (operation.kind === 'record' ? operation.ids.length : 1),
      backlog: this.#backlog,
      observer: commits,
    });
    this.throttles = {
      take: async (key, limit, nowMs) =>
        (await this.#queue.submit({ kind: 'takeAttempt', key, limit, nowMs })) as Attempt,
      giveBack: async (key, resetsAt) => {
        await this.#queue.submit({ kind: 'giveBackAttempt', key, resetsAt });
      },
      reset: async (key) => {
        await this.#queue.submit({ kind: 'resetAttempts', key });
      },
    };
    this.people = new SqlitePeople({
      read: (read) => this.#read(() => read(connection)),
      submit: (operation) => this.#queue.submit(operation),
    });
  }

  async createOrganization(organization: Organization, by: Actor): Promise<void> {
    await this.#queue.submit({ kind: 'createOrganization', organization, by });
  }

  async listOrganizations(): Promise<Organization[]> {
    return this.#read((reader) => reader.listOrganizations());
  }

  async createProject(project: NewProject, by: Actor): Promise<void> {
    await this.#queue.submit({ kind: 'createProject', project, by });
  }

  async changeProject(
    organizationId: string,
    projectId: string,
    change: ProjectChange,
    by: Actor,
  ): Promise<Project> {
    const changed = await this.#queue.submit({
      kind: 'changeProject',
      organizationId,
      projectId,
      change,
      by,
    });
    return changed as Project;
  }

  async deleteProject(organizationId: string, projectId: string, by: Actor): Promise<void> {
    await this.#queue.submit({ kind: 'deleteProject', organizationId, projectId, by });
  }

  async purgeDeleted(limit: number): Promise<Cleanup> {
    // A look costs the writer nothing.
    if (!this.#read((reader) => reader.hasDeleted())) return { removed: 0, done: true };
    return (await this.#queue.submit({ kind: 'purgeDeleted', limit })) as Cleanup;
  }

  async listProjects(organizationId: string): Promise<Project[]> {
    return this.#read((reader) => reader.listProjects(organizationId));
  }

  async findProject(organizationId: string, projectId: string): Promise<Project | undefined> {
    return this.#read((reader) => reader.findProject(organizationId, projectId));
  }

  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    if (!this.#read((reader) => reader.hasRetentionToApply(nowMs))) return { removed: 0, done: true };
    return (await this.#queue.submit({ kind: 'applyRetention', nowMs, limit })) as Cleanup;
  }

  async createKey(key: ApiKey, by: Actor): Promise<void> {
    await this.#queue.submit({ kind: 'createKey', key, by });
  }

  async listKeys(organizationId: string): Promise<ApiKey[]> {
    return this.#read((reader) => reader.listKeys(organizationId));
  }

  async findAccess(keyHash: string, projectId: string): Promise<Access | undefined> {
    return this.#read((reader) => reader.findAccess(keyHash, projectId));
  }

  readonly readSync = <T>(work: (reads: SyncReads) => T): T =>
    this.#read((reader) =>
      reader.snapshot.run(() =>
        work({
          findAccess: (keyHash, projectId) => reader.findAccess(keyHash, projectId),
          count: (projectId, range) => reader.counters.count(projectId, range),
        }),
      ),
    );

  async changeKey(organizationId: string, keyId: string, change: KeyChange, by: Actor): Promise<ApiKey> {
    return (await this.#queue.submit({ kind: 'changeKey', organizationId, keyId, change, by })) as ApiKey;
  }

  async rotateKey(
    organizationId: string,
    keyId: string,
    successor: ApiKey,
    expiresAt: number,
    by: Actor,
  ): Promise<void> {
    await this.#queue.submit({ kind: 'rotateKey', organizationId, keyId, successor, expiresAt, by });
  }

  async revokeLeakedKey(keyHash: string, by: Actor): Promise<boolean> {
    return (await this.#queue.submit({ kind: 'revokeLeakedKey', keyHash, by })) as boolean;
  }

  async touchKey(keyId: string, usedAt: number): Promise<void> {
    await this.#queue.submit({ kind: 'touchKey', keyId, usedAt });
  }

  async addMember(member: Member, by: Actor): Promise<void> {
    await this.#queue.submit({ kind: 'addMember', member, by });
  }

  async listMembers(organizationId: string): Promise<Member[]> {
    return this.#read((reader) => reader.listMembers(organizationId));
  }

  async changeMember(organizationId: string, email: string, role: Role, by: Actor): Promise<void> {
    await this.#queue.submit({ kind: 'changeMember', organizationId, email, role, by });
  }

  async removeMember(organizationId: string, email: string, by: Actor): Promise<void> {
    await this.#queue.submit({ kind: 'removeMember', organizationId, email, by });
  }

  async readAudit(organizationId: string, filter: AuditFilter): Promise<AuditEntry[]> {
    return this.#read((reader) => reader.readAudit(organizationId, filter));
  }

  async pruneAudit(before: number): Promise<number> {
    return (await this.#queue.submit({ kind: 'pruneAudit', before })) as number;
  }

  async record(projectId: string, queries: readonly Query[]): Promise<RecordResult> {
    const result = await this.#queue.submit({
      kind: 'record',
      projectId,
      ids: queries.map(({ id }) => id),
      callers: queries.map(({ caller }) => caller),
      occurredAt: Float64Array.from(queries, ({ occurredAt }) => occurredAt),
    });
    return result as RecordResult;
  }

  async count(projectId: string, range: DateRange): Promise<Counts> {
    return this.#read((reader) => reader.counters.count(projectId, range));
  }

  async countSeries(projectId: string, bounds: readonly number[]): Promise<readonly Counts[]> {
    return this.#read((reader) => reader.counters.countSeries(projectId, bounds));
  }

  async countCallers(projectId: string, range: DateRange): Promise<CallerCounts> {
    return this.#read((reader) => reader.counters.countCallers(projectId, range));
  }

  async findExtent(projectId: string): Promise<DateRange | undefined> {
    return this.#read((reader) => reader.counters.findExtent(projectId));
  }

  async readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<Query[]> {
    return this.#read((reader) => reader.readQueries(projectId, afterId, limit));
  }

  async verify(): Promise<Verification> {
    this.#requireOpen();
    // A connection of its own, so that its long snapshot does not outlive it on the one that answers.
    try {
      return using(openReader(this.#file.name), verify);
    } catch (error) {
      throw storeError(error);
    }
  }

  async check(part?: StorePart): Promise<void> {
    this.#file.requireThere();
    const parts = part === undefined ? STORE_PARTS : [part];
    for (const one of parts) this.#read((reader) => reader.check(one));
  }

  async stats(): Promise<StoreStats> {
    const sizeBytes = this.#closing === undefined ? await sizeOf(this.#file.name) : undefined;
    return { ...this.#backlog.pending, sizeBytes, pools: [] };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#queue.close();
    this.#file.close();
    this.#connection.close();
    await this.#writer.close();
  }

  async #commit(operations: readonly Operation[]) {
    if (!this.#writer.alive) {
      // A writer that died takes its transaction with it; the next group gets a new one, of this very file.
      this.#file.requireThere();
      this.#writer = await this.#startWriter();
    }
    const outcomes = await this.#writer.commit(operations);
    // What went to a file that nobody will ever read must not be acknowledged.
    this.#file.requireThere();
    return outcomes;
  }

  #read<T>(read: (reader: Reader) => T): T {
    this.#requireOpen();
    this.#file.requireThereLately();
    try {
      return read(this.#reader);
    } catch (error) {
      throw storeError(error);
    }
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new CallerStatsError('unavailable', 'The store is closing.');
  }
}
