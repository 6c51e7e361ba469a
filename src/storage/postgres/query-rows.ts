/** The rows of queries for corrections. The row of a withdrawn query has the level `-1 - level`. */
import { dayOf } from '../../domain/queries/receipt.js';
import {
  type CorrectedRow,
  type CounterChange,
  type CountPlace,
  type EffectiveRow,
  type ImportedFilter,
  type ImportedRow,
  type LateChange,
  type Move,
  type PastFilter,
  type PastRow,
  type QueryChanges,
  type QueryFilter,
  type QueryRow,
  type QueryRows,
  toCounterChanges,
} from '../sql/corrections/query-rows.js';
import type { CountRow } from '../sql/received-rows.js';
import type { Session } from '../sql/session.js';
import { bytesOf, decodeQueryId } from './query-id.js';
import type { Statements } from './statements/statements.js';

interface StoredRow {
  readonly id: Buffer;
  readonly occurredAt: number;
  readonly caller: string;
  readonly level: number;
}

interface ChangedCounter {
  readonly level: number;
  readonly bucket: number;
  readonly queries: number;
}

/** Comes after every id. */
const AFTER_ALL = Buffer.alloc(17, 0xff);

export class PostgresQueryRows implements QueryRows {
  protected readonly session: Session;
  protected readonly statements: Statements;

  constructor(session: Session, statements: Statements) {
    this.session = session;
    this.statements = statements;
  }

  async findPast(project: unknown, filter: PastFilter): Promise<PastRow[]> {
    const { after, last, from, to, atMs, spanMs } = filter;
    return this.session.all<PastRow>(this.statements.findPast, [
      ...[project, bytesOf(after), last === undefined ? AFTER_ALL : bytesOf(last), from, to],
      ...[dayOf(atMs), atMs, spanMs],
    ]);
  }

  async findPastCounts(project: unknown, after: CountPlace, limit: number) {
    const values = [project, after.source, after.caller, after.start, limit];
    return this.session.all<CountRow>(this.statements.readImportedCounts, values);
  }

  async findEnd(project: unknown, after: string | undefined, rows: number): Promise<string | undefined> {
    const values = [project, bytesOf(after), rows - 1];
    const [end] = await this.session.all<{ readonly id: Buffer | null }>(this.statements.findEnd, values);
    return end?.id == null ? undefined : decodeQueryId(end.id);
  }

  async find(project: unknown, filter: QueryFilter): Promise<QueryRow[]> {
    const { after, last, from, to, caller, receipts, withoutReceipt, limit } = filter;
    const rows = await this.session.all<StoredRow>(this.statements.findCounted, [
      ...[project, bytesOf(after), last === undefined ? AFTER_ALL : bytesOf(last), from, to, caller],
      ...[withoutReceipt, receipts, limit],
    ]);
    return rows.map(toQueryRow);
  }

  async findByIds(project: unknown, ids: readonly string[]): Promise<QueryRow[]> {
    const rows = await this.session.all<StoredRow>(this.statements.findByIds, [project, ids.map(bytesOf)]);
    return rows.map(toQueryRow);
  }

  async listCorrected(project: unknown, correction: number, after: string | undefined, limit: number) {
    const values = [project, correction, bytesOf(after), limit];
    const rows = await this.session.all<Pick<StoredRow, 'id'>>(this.statements.listCorrected, values);
    return rows.map(({ id }) => decodeQueryId(id));
  }

  async findCorrections(project: unknown, ids: readonly string[]): Promise<CorrectedRow[]> {
    const values = [project, ids.map(bytesOf)];
    type Found = Omit<CorrectedRow, 'id'> & Pick<StoredRow, 'id'>;
    const rows = await this.session.all<Found>(this.statements.findCorrections, values);
    return rows.map((row) => ({ ...row, id: decodeQueryId(row.id) }));
  }

  async findEffective(project: unknown, ids: readonly string[]): Promise<EffectiveRow[]> {
    const values = [project, ids.map(bytesOf)];
    type Found = Omit<EffectiveRow, 'id'> & Pick<StoredRow, 'id'>;
    const rows = await this.session.all<Found>(this.statements.findEffective, values);
    return rows.map((row) => ({ ...row, id: decodeQueryId(row.id) }));
  }

  async findImported(
    project: unknown,
    { source, withdrawnBy, after, limit }: ImportedFilter,
  ): Promise<ImportedRow[]> {
    const values = [project, source, withdrawnBy, after.caller, after.start, limit];
    return this.session.all(this.statements.findImported, values);
  }

  async findImportedAt(
    project: unknown,
    source: string,
    places: readonly Pick<ImportedRow, 'caller' | 'start'>[],
  ) {
    const columns = [places.map(({ caller }) => caller), places.map(({ start }) => start)];
    const values = [project, source, ...columns];
    type Found = ImportedRow & { readonly withdrawnBy: number | null };
    return this.session.all<Found>(this.statements.findImportedAt, values);
  }
}

/** Moves queries from the counters of one caller to those of another, or to none, within a transaction. */
export class PostgresQueryChanges extends PostgresQueryRows implements QueryChanges {
  async noteCorrected(project: unknown, rows: readonly CorrectedRow[]): Promise<void> {
    const ids = rows.map(({ id }) => bytesOf(id));
    const callers = rows.map(({ caller }) => caller);
    await this.session.run(this.statements.noteCorrected, [project, rows[0]?.correction, ids, callers]);
  }

  async noteLate(project: unknown, changes: readonly LateChange[]): Promise<void> {
    const columns = [
      changes.map(({ id }) => bytesOf(id)),
      ...(['day', 'caller'] as const).map((field) => changes.map((change) => change[field])),
      ...(['isWithdrawn', 'isCorrected'] as const).map((field) => changes.map((one) => (one[field] ? 1 : 0))),
    ];
    await this.session.run(this.statements.noteLate, [project, ...columns]);
  }

  async findLate(project: unknown, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const values = [project, ids.map(bytesOf)];
    const rows = await this.session.all<Pick<StoredRow, 'id'>>(this.statements.findLate, values);
    return new Set(rows.map(({ id }) => decodeQueryId(id)));
  }

  async markImported(
    project: unknown,
    source: string,
    rows: readonly ImportedRow[],
    withdrawnBy: number | null,
  ): Promise<void> {
    for (const [caller, ofCaller] of groupBy(rows, (row) => row.caller)) {
      const starts = ofCaller.map(({ start }) => start);
      const values = [project, source, caller, starts, withdrawnBy];
      await this.session.run(this.statements.markImported, values);
      if (withdrawnBy !== null) await this.session.run(this.statements.noteWithdrawn, values);
    }
  }

  async move(project: unknown, moves: readonly Move[]): Promise<void> {
    const levelOf = ({ row, to }: Move): number => (to.isWithdrawn ? -1 - row.level : row.level);
    for (const [, alike] of groupBy(moves, (move) => `${levelOf(move)} ${move.to.caller}`)) {
      const [first] = alike;
      const ids = alike.map(({ row }) => bytesOf(row.id));
      await this.session.run(this.statements.moveQueries, [project, ids, first.to.caller, levelOf(first)]);
    }
    await this.addToCounters(project, toCounterChanges(moves));
  }

  async addToCounters(project: unknown, changes: readonly CounterChange[]): Promise<void> {
    const columns = (['occurredAt', 'caller', 'level', 'queries'] as const).map((field) =>
      changes.map((change) => change[field]),
    );
    const { changeTypeCounters, changeCallerCounters, removeTypeZeros, removeCallerZeros } = this.statements;
    const types = await this.session.all<ChangedCounter>(changeTypeCounters, [project, ...columns]);
    const callers = await this.session.all<ChangedCounter>(changeCallerCounters, [project, ...columns]);
    await this.#removeZeros(project, removeTypeZeros, types);
    await this.#removeZeros(project, removeCallerZeros, callers);
  }

  async #removeZeros(project: unknown, remove: string, changed: readonly ChangedCounter[]): Promise<void> {
    const zeros = changed.filter(({ queries }) => queries === 0);
    for (const [level, ofLevel] of groupBy(zeros, (counter) => counter.level)) {
      const buckets = ofLevel.map(({ bucket }) => bucket);
      await this.session.run(remove, [project, level, buckets]);
    }
  }
}

function toQueryRow({ id, level, ...row }: StoredRow): QueryRow {
  const isWithdrawn = level < 0;
  return { ...row, id: decodeQueryId(id), isWithdrawn, level: isWithdrawn ? -1 - level : level };
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, [Item, ...Item[]]> {
  const groups = new Map<Key, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
