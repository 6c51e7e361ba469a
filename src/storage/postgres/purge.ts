/** Removes the queries of deleted projects and those past retention, in bounded steps. */
import { bucketAt, DAY_LEVEL } from '../../domain/counting/buckets.js';
import { EARLIEST_MS } from '../../domain/counting/date-range.js';
import { movedBack, needsRetention, nextRowsFrom } from '../../domain/projects/retention.js';
import type { Cleanup } from '../ports/maintenance.js';
import type { Session } from './connection/database.js';
import type { OpenDatabase } from './connection/open-database.js';
import { copyProject } from './project-copy.js';
import type { Statements } from './statements/statements.js';

/** The statements that remove the first rows of a project, one for each table. */
const REMOVALS = [
  'removeQueries',
  'removeReceipts',
  'removeImportRanges',
  'removeCorrections',
  'removeCorrectedQueries',
  'removeWithdrawnCounts',
  'removeImportedCounts',
  'removeTypeCounters',
  'removeCallerCounters',
  'removeQueryKeys',
  'removeFoundQueries',
  'removeLateChanges',
  'removeIngestionSources',
  'removeIngestionCounts',
] as const;

/** The state of a project's retention. During a sweep, `sweptTo` is the id of the last query it looked at. */
interface Retention {
  readonly id: string;
  readonly retentionDays: number | null;
  readonly rowsFrom: number | null;
  readonly sweptTo: Buffer | null;
  /** See `nextRowsFrom`. */
  readonly lastCounted: number | null;
}

/** A query that a sweep looks at. */
interface SweptRow {
  readonly id: Buffer;
  readonly occurredAt: number;
}

/** A query that a sweep has removed. The counters of its level and of all wider ones include it. */
interface RemovedRow {
  readonly occurredAt: number;
  readonly caller: string;
  readonly level: number;
}

/** The statements return one row each. */
type Removed = Pick<Cleanup, 'removed'>;

export class Cleaner {
  readonly #database: OpenDatabase;
  readonly #statements: Statements;

  constructor(database: OpenDatabase) {
    this.#database = database;
    this.#statements = database.statements;
  }

  /**
   * See `Maintenance.purgeDeleted`. Nodes take turns by locking the project's row. It is removed last, so that until then no new
   * project gets its id.
   */
  async purgeDeleted(limit: number): Promise<Cleanup> {
    const [deleted] = await this.#database.session.all<Pick<Retention, 'id'>>(this.#statements.findDeleted);
    if (deleted === undefined) return { removed: 0, done: true };
    return this.#database.changeProject(deleted.id, async (session) => {
      const locked = await session.get(this.#statements.lockDeleted, [deleted.id]);
      // Without a row, another node has just finished it.
      const removed = locked === undefined ? 0 : await this.#purge(session, deleted.id, limit);
      return { removed, done: false };
    });
  }

  /** See `Maintenance.applyRetention`. */
  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    const retentions = await this.#database.session.all<Retention>(this.#statements.listRetentions);
    const project = retentions.find((one) => needsRetention(one, nowMs));
    if (project === undefined) return { removed: 0, done: true };
    return this.#database.changeProject(project.id, async (session) => {
      const locked = await session.get<Retention>(this.#statements.lockRetention, [project.id]);
      // Without a row, the project was just deleted.
      const isHeld = await session.get(this.#statements.findUnfinished, [project.id]);
      if (locked === undefined || isHeld !== undefined) return { removed: 0, done: false };
      return { done: false, ...(await this.#retain(session, locked, nowMs, limit)) };
    });
  }

  async #purge(session: Session, projectId: string, limit: number): Promise<number> {
    await session.run(this.#statements.keepToIndex);
    let removed = 0;
    for (const name of REMOVALS) {
      const row = await session.get<Removed>(this.#statements[name], [projectId, limit - removed]);
      removed += row?.removed ?? 0;
      if (removed === limit) return removed;
    }
    await session.run(this.#statements.removeProject, [projectId]);
    return removed;
  }

  /**
   * A sweep that has begun is finished first: if `rowsFrom` moved every day, it might never be. Does nothing if another node
   * has just done it.
   */
  async #retain(
    session: Session,
    retention: Retention,
    nowMs: number,
    limit: number,
  ): Promise<Omit<Cleanup, 'done'>> {
    let removed = 0;
    const next = retention.sweptTo === null ? nextRowsFrom(retention, nowMs) : undefined;
    if (retention.sweptTo !== null) removed = await this.#sweep(session, retention, limit);
    else if (next !== undefined) await this.#moveRowsFrom(session, retention, next);
    // In each step: without an audit entry, a worker may commit and the coordinator not.
    await copyProject(session, this.#statements, retention.id);
    return { removed, ...(next === undefined ? {} : movedBack(retention, next)) };
  }

  /** A sweep starts after the empty id. None is needed if no query is from before `next`. */
  async #moveRowsFrom(session: Session, { id, rowsFrom }: Retention, next: number): Promise<void> {
    await session.run(this.#statements.stopRecording, [id]);
    const days = [rowsFrom ?? EARLIEST_MS, next].map((timeMs) => bucketAt(timeMs, DAY_LEVEL));
    const counted = await session.get(this.#statements.findDays, [id, ...days]);
    const sweptTo = counted === undefined ? null : Buffer.of();
    await session.run(this.#statements.moveRowsFrom, [id, next, sweptTo]);
  }

  /** Adds the removed queries to the narrower counters, so that every count stays the same. */
  async #sweep(session: Session, { id, rowsFrom, sweptTo }: Retention, limit: number): Promise<number> {
    await session.run(this.#statements.keepToIndex);
    const rows = await session.all<SweptRow>(this.#statements.readSwept, [id, sweptTo, limit]);
    const old = rows.filter(({ occurredAt }) => occurredAt < (rowsFrom ?? EARLIEST_MS));
    const ids = old.map((row) => row.id);
    const removed = await session.all<RemovedRow>(this.#statements.removeSwept, [id, ids]);
    await session.run(this.#statements.removeSweptCorrections, [id, ids]);
    await session.run(this.#statements.removeSweptChanges, [id, ids]);
    const columns = (['occurredAt', 'caller', 'level'] as const).map((field) =>
      removed.map((row) => row[field]),
    );
    await session.run(this.#statements.countSweptTypes, [id, ...columns]);
    await session.run(this.#statements.countSweptCallers, [id, ...columns]);
    const last = rows.length < limit ? null : rows.at(-1)?.id;
    await session.run(this.#statements.noteSwept, [id, last ?? null]);
    return removed.length;
  }
}
