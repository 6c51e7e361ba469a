/** Removes what nobody can ask for any more, a bounded piece at a time. */
import { bucketAt, DAY_LEVEL } from '../../domain/counting/buckets.js';
import { EARLIEST_MS } from '../../domain/counting/date-range.js';
import { nextRowsFrom } from '../../domain/projects/retention.js';
import type { Cleanup } from '../ports/maintenance.js';
import { toNumber } from '../sql/rows.js';
import type { Row, Session } from './database.js';
import type { StatementName, Statements } from './statements.js';

/** What a project has rows in, each with the statement that removes its first rows. */
const REMOVALS = ['removeQueries', 'removeTypeCounters', 'removeCallerCounters'] as const;

/** How far the retention of a project has come. While its rows are looked through, `sweptTo` is the last that was. */
interface Retention {
  readonly id: string;
  readonly retentionDays: number | null;
  readonly rowsFrom: number | null;
  readonly sweptTo: Buffer | null;
}

export interface CleanerOptions {
  readonly statements: Statements;
  readonly read: (name: StatementName) => Promise<Row[]>;
  /** Asked for only after `read` has been answered. */
  readonly transaction: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
}

export class Cleaner {
  readonly #statements: Statements;
  readonly #read: CleanerOptions['read'];
  readonly #transaction: CleanerOptions['transaction'];

  constructor({ statements, read, transaction }: CleanerOptions) {
    this.#statements = statements;
    this.#read = read;
    this.#transaction = transaction;
  }

  /**
   * See `Store.purgeDeleted`. Nodes take turns at the row of the project, which is left as long as there is anything else
   * of it: so no other can be made with its id, and nothing be recorded into it.
   */
  async purgeDeleted(limit: number): Promise<Cleanup> {
    const [deleted] = await this.#read('findDeleted');
    if (deleted === undefined) return { removed: 0, done: true };
    return this.#transaction(async (session) => {
      const [locked] = await session.query(this.#statements.lockDeleted, [deleted['id']]);
      // Otherwise another node has just finished it.
      const removed = locked === undefined ? 0 : await this.#purge(session, locked['id'], limit);
      return { removed, done: false };
    });
  }

  /** See `Store.applyRetention`. */
  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    const retentions = (await this.#read('listRetentions')).map(toRetention);
    const project = retentions.find((one) => one.sweptTo !== null || nextRowsFrom(one, nowMs) !== undefined);
    if (project === undefined) return { removed: 0, done: true };
    return this.#transaction(async (session) => {
      const [locked] = await session.query(this.#statements.lockRetention, [project.id]);
      // Otherwise it was just deleted.
      const removed =
        locked === undefined ? 0 : await this.#retain(session, toRetention(locked), nowMs, limit);
      return { removed, done: false };
    });
  }

  async #purge(session: Session, projectId: unknown, limit: number): Promise<number> {
    await session.query(this.#statements.keepToIndex);
    let removed = 0;
    for (const name of REMOVALS) {
      const [row] = await session.query(this.#statements[name], [projectId, limit - removed]);
      removed += Number(row?.['removed']);
      if (removed === limit) return removed;
    }
    await session.query(this.#statements.removeProject, [projectId]);
    return removed;
  }

  /** What is begun is finished first: moved every day, it might never be. Nothing where another node has done it. */
  async #retain(session: Session, retention: Retention, nowMs: number, limit: number): Promise<number> {
    if (retention.sweptTo !== null) return this.#sweep(session, retention, limit);
    const next = nextRowsFrom(retention, nowMs);
    if (next !== undefined) await this.#moveRowsFrom(session, retention, next);
    return 0;
  }

  /** A sweep begins behind the empty id. There is none where no query is of the time that is given up. */
  async #moveRowsFrom(session: Session, { id, rowsFrom }: Retention, next: number): Promise<void> {
    await session.query(this.#statements.stopRecording, [id]);
    const days = [rowsFrom ?? EARLIEST_MS, next].map((timeMs) => bucketAt(timeMs, DAY_LEVEL));
    const counted = await session.query(this.#statements.findDays, [id, ...days]);
    const sweptTo = counted.length === 0 ? null : Buffer.of();
    await session.query(this.#statements.moveRowsFrom, [id, next, sweptTo]);
  }

  async #sweep(session: Session, { id, rowsFrom, sweptTo }: Retention, limit: number): Promise<number> {
    await session.query(this.#statements.keepToIndex);
    const [row] = await session.query(this.#statements.sweep, [id, sweptTo, limit, rowsFrom]);
    await session.query(this.#statements.noteSwept, [id, row?.['last'] ?? null]);
    return Number(row?.['removed']);
  }
}

function toRetention(row: Row): Retention {
  return {
    id: String(row['id']),
    retentionDays: toNumber(row['retentionDays']),
    rowsFrom: toNumber(row['rowsFrom']),
    sweptTo: row['sweptTo'] as Buffer | null,
  };
}
