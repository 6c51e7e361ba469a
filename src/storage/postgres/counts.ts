/** Recording and counting on PostgreSQL. */
import {
  type ArrivingCount,
  type Conflict,
  type CutSpan,
  conflictError,
  distinctCounts,
  type ImportedCount,
} from '../../domain/counting/imported-count.js';
import { CallerStatsError } from '../../domain/errors.js';
import { type ImportRange, importsOf, importsOfCounts } from '../../domain/history/import-range.js';
import type { Query } from '../../domain/queries/query.js';
import {
  type ArrivingQuery,
  type Corrected,
  knownReceipt,
  type Receipt,
  type RecordedQuery,
} from '../../domain/queries/receipt.js';
import type { CountReads, CountStore, RecordedCount, RecordResult } from '../ports/counts.js';
import type { AccessProof } from '../ports/directory.js';
import type { CommitObserver } from '../ports/store-stats.js';
import { type CountRow, type NotedRow, toRecordedCount, toRecordedQuery } from '../sql/received-rows.js';
import { withDatabaseDeadline } from './connection/database.js';
import { rowsFromOf } from './connection/errors.js';
import type { OpenDatabase } from './connection/open-database.js';
import { PostgresCountReads } from './count-reads.js';
import { bytesOf, decodeQueryId } from './query-id.js';
import { type RecordAnswer, type RecordCall, Recorder } from './recorder.js';

/** What `import_counts` and `checkCounts` return; null if there is no such project. */
interface ImportOutcome {
  readonly recorded: number;
  readonly conflicts: readonly (Conflict['present'] & { readonly index: number })[] | null;
}

/** What a function returns: `record` the positions of the duplicates, `record_one` whether its query is new. */
interface AnswerRow {
  readonly answer: readonly number[] | boolean | null;
  readonly isProved?: boolean | null;
}

function toAnswer(answer: AnswerRow['answer']): readonly number[] | null {
  if (typeof answer !== 'boolean') return answer;
  return answer ? [] : [1];
}

export class PostgresCounts extends PostgresCountReads implements CountStore {
  readonly #database: OpenDatabase;
  readonly #recorder: Recorder;

  constructor(database: OpenDatabase, observer: CommitObserver) {
    super((name, values) => database.readProject(name, values));
    this.#database = database;
    this.#recorder = new Recorder((call) => this.#callRecord(call), observer);
  }

  get pending(): Recorder['pending'] {
    return this.#recorder.pending;
  }

  /** Resolves when all accepted queries are recorded. */
  close(): Promise<void> {
    return this.#recorder.close();
  }

  readonly importBatchQueries = undefined;

  async record(
    projectId: string,
    queries: readonly ArrivingQuery[],
    receipt?: Receipt,
    proof?: AccessProof,
  ): Promise<RecordResult> {
    this.#database.requireOpen();
    const result = await withDatabaseDeadline(this.#database.timeoutMs, (signal) =>
      this.#recorder.record(projectId, { queries, receipt, proof, signal }),
    );
    if (result.recorded > 0) await this.#noteImports(projectId, importsOf(queries, receipt));
    return result;
  }

  readTogether<T>(projectId: string, read: (counts: CountReads) => Promise<T>): Promise<T> {
    return this.#database.readTogether(projectId, (statement) => read(new PostgresCountReads(statement)));
  }

  async readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<RecordedQuery[]> {
    const values = [projectId, bytesOf(afterId), limit];
    type Row = Omit<Query, 'id'> & {
      readonly id: Buffer;
      readonly day: number | null;
      readonly sender: string | null;
      readonly isWithdrawn: boolean;
      readonly changes: Corrected['changes'] | null;
      readonly noted: readonly NotedRow[] | null;
    };
    const rows = await this.#database.readProject<Row>('readQueries', values);
    return rows.map(({ id, caller, occurredAt, day, sender, isWithdrawn, changes, noted }) => {
      const receipt = day === null || sender === null ? null : knownReceipt({ day, sender });
      const query = { id: decodeQueryId(id), caller, occurredAt, receipt };
      return toRecordedQuery(query, isWithdrawn, changes ?? [], noted ?? []);
    });
  }

  async importCounts(
    projectId: string,
    counts: readonly ArrivingCount[],
    { dryRun = false, day }: { readonly dryRun?: boolean; readonly day?: number } = {},
  ): Promise<RecordResult> {
    await this.#database.requireReady();
    const distinct = distinctCounts(counts);
    const columns = (['source', 'caller', 'start', 'end', 'count'] as const).map((field) =>
      distinct.map((one) => one[field]),
    );
    const outcome = dryRun
      ? await this.#checkCounts([projectId, ...columns])
      : await this.#callImport([projectId, ...columns, distinct.map((one) => one.day ?? day ?? null)]);
    if (outcome === null) throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
    if (outcome.conflicts === null) {
      const { recorded } = outcome;
      if (!dryRun && recorded > 0) await this.#noteImports(projectId, importsOfCounts(distinct, day));
      return { recorded, duplicates: counts.length - recorded };
    }
    throw conflictError(
      outcome.conflicts.flatMap(({ index, ...present }): Conflict[] => {
        const sent = distinct[index];
        return sent === undefined ? [] : [{ sent, present }];
      }),
    );
  }

  async readImportedCounts(
    projectId: string,
    after: ImportedCount | undefined,
    limit: number,
  ): Promise<RecordedCount[]> {
    const { source = '', caller = '', start = Number.MIN_SAFE_INTEGER } = after ?? {};
    const values = [projectId, source, caller, start, limit];
    return (await this.#database.readProject<CountRow>('readImportedCounts', values)).map(toRecordedCount);
  }

  listImports(projectId: string, limit: number): Promise<readonly ImportRange[]> {
    return this.#database.readProject<ImportRange>('listImports', [projectId, limit]);
  }

  async findCutSpan(projectId: string, edges: readonly number[]): Promise<CutSpan | undefined> {
    type Found = { readonly [Field in keyof CutSpan]: number | null };
    const values = [projectId, edges.slice(0, -1), edges.slice(1)];
    const [row] = await this.#database.readProject<Found>('findCutSpan', values);
    return row === undefined || row.start === null ? undefined : (row as CutSpan);
  }

  async #callRecord(call: RecordCall): Promise<RecordAnswer> {
    try {
      return await this.#answerOf(call);
    } catch (error) {
      const rowsFrom = rowsFromOf(error);
      if (rowsFrom === undefined) throw error;
      return { rowsFrom };
    }
  }

  async #answerOf(call: RecordCall): Promise<RecordAnswer> {
    const { projectId, ids, times, callers, days, senders, receiptOf, only, proofs } = call;
    const several = [projectId, ids, times, callers, days, senders, receiptOf];
    if (proofs === undefined) {
      const one = only && [projectId, ...only];
      const [row] = await this.#database.record<AnswerRow>(one ? 'recordOne' : 'record', one ?? several);
      if (row === undefined) throw new Error('Invariant violated: a function that records returns one row.');
      return toAnswer(row.answer);
    }
    const [proof, ...others] = proofs;
    const isOne = only !== undefined && proof !== undefined && others.length === 0;
    const values = isOne
      ? [projectId, ...only, proof.keyHash, proof.stamp]
      : [...several, proofs.map(({ keyHash }) => keyHash), proofs.map(({ stamp }) => stamp)];
    const name = isOne ? 'recordOneProved' : 'recordProved';
    const [row] = await this.#database.recordProved<AnswerRow>(name, values);
    return row?.isProved === true ? toAnswer(row.answer) : 'outdated';
  }

  /** A separate statement, so that recordings that are not imports stay as fast. */
  async #noteImports(projectId: string, imports: readonly ImportRange[]): Promise<void> {
    for (const { day, sender, first, last } of imports)
      await this.#database.connections.write(
        { text: this.#database.statements.noteImport },
        [projectId, day, sender, first, last],
        { repeatable: true },
      );
  }

  /** Takes no lock, so that recordings do not wait for it. */
  async #checkCounts(values: readonly unknown[]): Promise<ImportOutcome | null> {
    const [outcome] = await this.#database.connections.read<ImportOutcome>(
      { text: this.#database.statements.checkCounts },
      values,
    );
    return outcome ?? null;
  }

  /** Without a name, as `OpenDatabase.record`. */
  async #callImport(values: readonly unknown[]): Promise<ImportOutcome | null> {
    const { rows } = await this.#database.connections.write<{
      readonly outcome: Partial<ImportOutcome> | null;
    }>({ text: this.#database.statements.importCounts }, values, { repeatable: true });
    const { outcome = null } = rows[0] ?? {};
    return outcome && { recorded: 0, conflicts: null, ...outcome };
  }
}
