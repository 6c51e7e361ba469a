/** What is known of queries in telemetry until their callers are certain, for every SQL database. Within a transaction. */
import type { QueryState } from '../../../domain/corrections/state.js';
import type { FoundState } from '../../../domain/queries/found-queries.js';
import type { Query } from '../../../domain/queries/query.js';
import { dayMs } from '../../../domain/time/duration.js';
import { keysKeptMs, statesKeptMs } from '../../ports/identities.js';
import { type LateChange, type Move, type QueryChanges, toMove } from '../corrections/query-rows.js';
import { SqlTables } from '../tables.js';

interface StoredState extends FoundState {
  /** Whether it was withdrawn because it turned out to be no query, or another one. */
  readonly isWithdrawn: boolean;
  readonly foundAt: number;
}

type StateRow = Omit<StoredState, 'isNamed' | 'isHinted' | 'isPending' | 'isWithdrawn'> & {
  readonly id: string;
  /** 2 for one that is hinted. */
  readonly isNamed: number;
  readonly isPending: number;
  readonly isWithdrawn: number;
};

const COLUMNS = `caller, is_named AS "isNamed", assumed, occurred_at AS "occurredAt", counts_as AS "countsAs",
  is_pending AS "isPending", is_withdrawn AS "isWithdrawn", found_at AS "foundAt"`;

/** Of states that are needed as long as the project is there. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** Pending queries that are settled at once. */
const pendingMax = 1000;

export class SqlFoundStates extends SqlTables {
  readonly #table = this.table('found_query');
  readonly #project = this.dialect.projectColumn;

  /** Locks the states of these ids, and of those as which they count. */
  async load(project: unknown, ids: readonly string[]): Promise<Map<string, StoredState>> {
    const states = new Map<string, StoredState>();
    let missing = [...new Set(ids)].sort();
    while (missing.length > 0) {
      const rows = await this.session.all<StateRow>(
        `SELECT id, ${COLUMNS} FROM ${this.#table} WHERE ${this.#project} = $1
           AND id IN (${this.dialect.jsonElements('$2')})
         ORDER BY id ${this.dialect.lock('UPDATE')}`,
        [project, JSON.stringify(missing)],
      );
      for (const { id, isNamed, isPending, isWithdrawn, ...row } of rows) {
        const flags = { isPending: isPending === 1, isWithdrawn: isWithdrawn === 1 };
        states.set(id, { ...row, isNamed: isNamed === 1, isHinted: isNamed === 2, ...flags });
      }
      const next = rows.flatMap(({ countsAs }) => countsAs || []).filter((id) => !states.has(id));
      missing = [...new Set(next)].sort();
    }
    return states;
  }

  /** Returns false, and has to be planned again, if another transaction has added one of them meanwhile. */
  async store(
    project: unknown,
    changes: ReadonlyMap<string, FoundState>,
    stored: ReadonlyMap<string, StoredState>,
    nowMs: number,
  ): Promise<boolean> {
    const sorted = [...changes].sort(([one], [other]) => (one < other ? -1 : 1));
    const added = sorted.filter(([id]) => !stored.has(id));
    const rowOf = ([id, state]: readonly [string, FoundState]) => {
      const foundAt = stored.get(id)?.foundAt ?? nowMs;
      return [project, id, ...valuesOf(state), 0, foundAt, foundAt + keptMs(state)];
    };
    const head = `${this.#table} (${this.#project}, id, caller, is_named, assumed, occurred_at, counts_as, is_pending,
         is_withdrawn, found_at, expires_at)`;
    const inserted = await this.insert<{ readonly id: string }>(
      head,
      added.map(rowOf),
      'ON CONFLICT DO NOTHING RETURNING id',
    );
    if (inserted.length < added.length) return false;
    const changed = sorted.filter(([id, state]) => stored.has(id) && stored.get(id) !== state);
    // They are there and locked: this updates many at once.
    await this.insert(
      head,
      changed.map(rowOf),
      `ON CONFLICT (${this.#project}, id) DO UPDATE SET caller = excluded.caller, is_named = excluded.is_named,
         assumed = excluded.assumed, occurred_at = excluded.occurred_at, counts_as = excluded.counts_as,
         is_pending = excluded.is_pending,
         expires_at = CASE WHEN found_query.expires_at = ${NEVER} THEN ${NEVER} ELSE excluded.expires_at END`,
    );
    return true;
  }

  /** Those whose rows retention has not removed. */
  async listPending(projectId: string, project: unknown, expiryMs: number): Promise<Query[]> {
    return this.session.all<Query>(
      `SELECT id, caller, occurred_at AS "occurredAt" FROM ${this.#table}
       WHERE ${this.#project} = $1 AND is_pending = 1 AND expires_at > $2 AND occurred_at >= coalesce((
         SELECT rows_from FROM ${this.table('project')} WHERE id = $3), occurred_at)
       ORDER BY id LIMIT ${pendingMax}`,
      [project, expiryMs, projectId],
    );
  }

  /**
   * See `Identities.settle`. What changes on a later day than that of its arrival, or after a correction, is noted for those who
   * ask what counted then.
   */
  async settle(
    project: unknown,
    ids: readonly string[],
    nowMs: number,
    changes: QueryChanges,
  ): Promise<void> {
    const states = await this.load(project, ids);
    const moves: Move[] = [];
    const untold: string[] = [];
    for (const row of await changes.findByIds(project, ids)) {
      const state = states.get(row.id);
      if (!state?.isPending) continue;
      moves.push(...toMove(row, settledState(row, state)));
      if (isHidden(row, state)) untold.push(row.id);
    }
    const moved = moves.map(({ row }) => row.id);
    const corrected = new Set((await changes.findEffective(project, moved)).map(({ id }) => id));
    const day = Math.floor(nowMs / dayMs);
    const late = moves.flatMap(({ row: { id, caller, isWithdrawn } }): LateChange[] => {
      const isCorrected = corrected.has(id);
      const isOfToday = Math.floor((states.get(id)?.foundAt ?? 0) / dayMs) >= day;
      return isOfToday && !isCorrected ? [] : [{ id, day, caller, isWithdrawn, isCorrected }];
    });
    const turned = moves.flatMap(({ row, to }) => (row.isWithdrawn === to.isWithdrawn ? [] : [row.id]));
    if (late.length > 0) await changes.noteLate(project, late);
    if (moves.length > 0) await changes.move(project, moves);
    const pending = ids.filter((id) => states.get(id)?.isPending === true);
    const told = pending.filter((id) => !untold.includes(id));
    await this.#set(project, pending, 'is_pending = 0');
    await this.#set(project, told, 'assumed = CASE is_named WHEN 1 THEN NULL ELSE caller END');
    await this.#set(project, turned, 'is_withdrawn = 1 - is_withdrawn');
    await this.#set(project, untold, `expires_at = ${NEVER}`);
  }

  /**
   * Makes those of the queries pending of which telemetry told more while a correction hid it, which is undone now. Returns their
   * ids.
   */
  async reopen(project: unknown, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.session.all<{ readonly id: string }>(
      `UPDATE ${this.#table} SET is_pending = 1
       WHERE ${this.#project} = $1 AND id IN (${this.dialect.jsonElements('$2')}) AND expires_at = ${NEVER} RETURNING id`,
      [project, JSON.stringify(ids)],
    );
    return new Set(rows.map(({ id }) => id));
  }

  async #set(project: unknown, ids: readonly string[], change: string): Promise<void> {
    if (ids.length === 0) return;
    await this.session.run(
      `UPDATE ${this.#table} SET ${change} WHERE ${this.#project} = $1 AND id IN (${this.dialect.jsonElements('$2')})`,
      [project, JSON.stringify(ids)],
    );
  }
}

/** Whether a correction hides what telemetry told. */
function isHidden(row: QueryState, { caller, assumed, countsAs, isWithdrawn }: StoredState): boolean {
  const isLate = assumed !== null && caller !== assumed;
  const isRenamed = isLate && row.caller !== assumed && row.caller !== caller;
  return row.isWithdrawn === isWithdrawn ? isRenamed : countsAs !== null || isLate;
}

/** What a correction has changed stays as it is. */
function settledState(row: QueryState, { caller, assumed, countsAs, isWithdrawn }: StoredState): QueryState {
  if (row.isWithdrawn !== isWithdrawn) return row;
  const isLate = row.caller === assumed;
  return { caller: isLate ? caller : row.caller, isWithdrawn: countsAs !== null };
}

/** What a query turned out to be is needed as long as its keys. */
function keptMs({ countsAs }: FoundState): number {
  return countsAs === null ? statesKeptMs : keysKeptMs;
}

function valuesOf({ caller, assumed, occurredAt, countsAs, isPending, ...state }: FoundState): unknown[] {
  const isNamed = state.isNamed ? 1 : state.isHinted ? 2 : 0;
  return [caller, isNamed, assumed, occurredAt, countsAs, isPending ? 1 : 0];
}
