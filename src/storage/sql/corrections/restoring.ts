/** Takes over the corrections that another database has finished. Each method is one transaction. */
import type { CarriedCorrection } from '../../../domain/corrections/carried.js';
import { CallerStatsError } from '../../../domain/errors.js';
import type { CarriedChanges, CorrectionChanges, CountWithdrawal } from '../../ports/corrections.js';
import { SqlFoundStates } from '../identities/found-states.js';
import type { Dialect, Session } from '../session.js';
import { SqlTables } from '../tables.js';
import type { CorrectionPlanner } from './planner.js';
import { type CorrectedRow, type ImportedRow, type QueryChanges, toMove } from './query-rows.js';

type Restores = Pick<CorrectionChanges, 'restore' | 'restoreChanges' | 'restoreWithdrawals'>;

type FoundCount = Awaited<ReturnType<QueryChanges['findImportedAt']>>[number];

const NOT_WITHDRAWN: Pick<CountWithdrawal, 'withdrawals' | 'withdrawnBy'> = {
  withdrawals: [],
  withdrawnBy: null,
};

export class Restoring extends SqlTables implements Restores {
  readonly #planner: CorrectionPlanner;
  readonly #changes: QueryChanges;
  readonly #found: SqlFoundStates;
  readonly #corrections = this.table('correction');
  readonly #project = this.dialect.projectColumn;

  constructor(session: Session, dialect: Dialect, planner: CorrectionPlanner, changes: QueryChanges) {
    super(session, dialect);
    this.#planner = planner;
    this.#changes = changes;
    this.#found = new SqlFoundStates(session, dialect);
  }

  async restore(projectId: string, carried: CarriedCorrection): Promise<void> {
    const { key } = await this.#planner.findProject(projectId, this.dialect.lock('UPDATE'));
    const { request, createdBy, createdAt, finishedAt } = carried;
    const stored = { request: JSON.stringify(request), ids: carried.idsHash };
    if ((await this.#planner.findSame(key, request.id, stored)) !== undefined) return;
    const last = await this.get<{ readonly number: number; readonly unfinished: number }>(
      `SELECT coalesce(max(number), 0) AS number, count(*) - count(finished_at) AS unfinished
       FROM ${this.#corrections} WHERE ${this.#project} = $1`,
      [key],
    );
    if (Number(last?.unfinished) > 0)
      throw new CallerStatsError('unavailable', 'A correction of the project is being carried out.');
    await this.session.run(
      `INSERT INTO ${this.#corrections} (${this.#project}, number, id, action, to_caller, request, ids, receipts_to,
         created_by, created_at, figures, finished_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11)`,
      [
        ...[key, (last?.number ?? 0) + 1, request.id, request.action],
        ...[request.action === 'rename' ? request.to : null, stored.request, stored.ids],
        ...[createdBy, createdAt, JSON.stringify(carried.figures), finishedAt],
      ],
    );
    if (request.action === 'undo')
      await this.session.run(
        `UPDATE ${this.#corrections} SET undone_by = $3 WHERE ${this.#project} = $1 AND id = $2`,
        [key, request.correction, request.id],
      );
  }

  async restoreChanges(projectId: string, queries: readonly CarriedChanges[]): Promise<void> {
    const { key } = await this.#planner.findProject(projectId, this.dialect.lock('UPDATE'));
    const numbers = await this.#findNumbers(
      key,
      queries.flatMap(({ changes }) => changes.map(({ correction }) => correction)),
    );
    const rows = await this.#changes.findByIds(
      key,
      queries.map(({ id }) => id),
    );
    const there = new Set(rows.map(({ id }) => id));
    const ids = [...there];
    const noted = await this.#changes.findCorrections(key, ids);
    const known = new Set(noted.map(({ id, correction }) => `${correction} ${id}`));
    const missing = new Map<number, CorrectedRow[]>();
    for (const { id, changes } of queries)
      for (const change of changes) {
        const correction = numbers.get(change.correction) ?? 0;
        if (!there.has(id) || known.has(`${correction} ${id}`)) continue;
        const row = { id, correction, caller: change.caller };
        const before = missing.get(correction);
        if (before === undefined) missing.set(correction, [row]);
        else before.push(row);
      }
    for (const noting of missing.values()) await this.#changes.noteCorrected(key, noting);
    const states = await this.#planner.findStates(key, ids);
    const given = new Map(queries.map((query) => [query.id, query]));
    const followed = ids.filter((id) => given.get(id)?.occurredAt !== undefined && !states.has(id));
    const own = await this.#found.load(key, followed);
    const late = queries.flatMap(({ id, known = [] }) =>
      there.has(id) ? known.map((state) => ({ ...state, id })) : [],
    );
    if (late.length > 0) await this.#changes.noteLate(key, late);
    const moves = rows.flatMap((row) => {
      const { known = [], caller = row.caller, isWithdrawn = false, occurredAt } = given.get(row.id) ?? {};
      const isCopy = occurredAt === row.occurredAt && !states.has(row.id) && !own.has(row.id);
      const state = known.length > 0 || isCopy ? { caller, isWithdrawn } : (states.get(row.id) ?? row);
      return toMove(row, { caller: state.caller, isWithdrawn: state.isWithdrawn || isWithdrawn });
    });
    if (moves.length > 0) await this.#changes.move(key, moves);
  }

  async restoreWithdrawals(projectId: string, counts: readonly CountWithdrawal[]): Promise<void> {
    const { key } = await this.#planner.findProject(projectId, this.dialect.lock('UPDATE'));
    const numbers = await this.#findNumbers(
      key,
      counts.flatMap(({ withdrawals }) => withdrawals),
    );
    const bySource = new Map<string, CountWithdrawal[]>();
    for (const count of counts) bySource.set(count.source, [...(bySource.get(count.source) ?? []), count]);
    for (const [source, ofSource] of bySource) {
      const keyOf = ({ caller, start }: Pick<ImportedRow, 'caller' | 'start'>) => `${start} ${caller}`;
      const wanted = new Map(ofSource.map((one) => [keyOf(one), one]));
      for (const row of await this.#changes.findImportedAt(key, source, ofSource))
        await this.#withdraw(key, row, { source, ...(wanted.get(keyOf(row)) ?? NOT_WITHDRAWN) }, numbers);
    }
  }

  async #withdraw(
    key: unknown,
    row: FoundCount,
    { source, withdrawals, withdrawnBy }: Pick<CountWithdrawal, 'source' | 'withdrawals' | 'withdrawnBy'>,
    numbers: ReadonlyMap<string, number>,
  ): Promise<void> {
    const by = withdrawnBy === null ? null : (numbers.get(withdrawnBy) ?? null);
    // Each is noted, and the last one counts.
    const marks =
      withdrawals.length > 0 || row.withdrawnBy !== null
        ? [...withdrawals.map((id) => numbers.get(id)), by]
        : [];
    for (const mark of marks) await this.#changes.markImported(key, source, [row], mark ?? null);
    const sign = Number(by === null) - Number(row.withdrawnBy === null);
    const { caller, start, queries } = row;
    if (sign !== 0)
      await this.#changes.addToCounters(key, [
        { caller, occurredAt: start, level: 0, queries: sign * queries },
      ]);
  }

  async #findNumbers(key: unknown, given: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const numbers = new Map<string, number>();
    for (const id of new Set(given)) {
      const found = await this.#planner.findById(key, id);
      if (found === undefined)
        throw new CallerStatsError('invalid', 'Nothing was changed.', {
          details: [`corrections: there is no correction ${id}`],
        });
      numbers.set(id, found.number);
    }
    return numbers;
  }
}
