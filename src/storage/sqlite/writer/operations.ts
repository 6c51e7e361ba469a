/** The operations that the main thread sends to the writer thread. All of them can be structurally cloned. */

import type { ArrivingCount } from '../../../domain/counting/imported-count.js';
import type { ImportRange } from '../../../domain/history/import-range.js';
import type { Receipt } from '../../../domain/queries/receipt.js';
import type { CorrectionChanges } from '../../ports/corrections.js';
import type { RecordResult } from '../../ports/counts.js';
import type { DirectoryChanges } from '../../ports/directory.js';
import type { Identities } from '../../ports/identities.js';
import type { IngestionChanges } from '../../ports/ingestion.js';
import type { Cleanup } from '../../ports/maintenance.js';
import type { NotificationChanges } from '../../ports/notifications.js';
import type { Throttles } from '../../ports/throttles.js';
import type { UserStatement, UserStatementResult } from '../../ports/user-tables.js';
import type { ArgsOf } from '../../sql/session.js';

/** Recordings of one project by column, which costs less to send between threads than an object for each query. */
export interface RecordBatch {
  readonly projectId: string;
  /** The number of queries of each recording; left out, it is one. Each has its own outcome. */
  readonly sizes?: readonly number[];
  readonly ids: readonly string[];
  readonly callers: readonly string[];
  /** Packed where it is sent, because packing one for each of many single queries takes longer than all else here. */
  readonly occurredAt: readonly number[] | Float64Array;
  /** How they arrived; see `CollectedReceipts`. */
  readonly receipts?: readonly Receipt[];
  readonly receiptOf?: Int32Array | undefined;
  readonly imports?: readonly ImportRange[];
  /** Nothing is recorded unless this equals the stamp of the writer; see `Writer.stamp`. */
  readonly stamp?: string | undefined;
}

export interface ImportBatch {
  readonly projectId: string;
  readonly counts: readonly ArrivingCount[];
  readonly dryRun: boolean;
  /** The UTC day of those that have none of their own. */
  readonly day: number | undefined;
}

/** The parts of the store that the writer calls by the names of their methods. */
interface CalledParts {
  readonly directory: DirectoryChanges;
  readonly throttles: Throttles;
  readonly identities: Identities;
  readonly ingestion: IngestionChanges;
  readonly corrections: CorrectionChanges;
  readonly notifications: NotificationChanges;
}

/** A call of a method. What it results in depends on the method; see `Run`. */
interface Call<Part> {
  readonly input: { readonly method: keyof Part; readonly args: ArgsOf<Part>[keyof Part] };
  readonly result: never;
}

/** The operations by kind: the input of each, and its result. */
export interface Operations extends Readonly<{ [Part in keyof CalledParts]: Call<CalledParts[Part]> }> {
  readonly record: { readonly input: RecordBatch; readonly result: RecordResult | 'outdated' };
  readonly importCounts: { readonly input: ImportBatch; readonly result: RecordResult };
  readonly userStatement: { readonly input: UserStatement; readonly result: UserStatementResult };
  readonly tryCommit: { readonly input: object; readonly result: null };
  /** Whether the log is empty now. */
  readonly emptyLog: { readonly input: object; readonly result: boolean };
  readonly purgeDeleted: { readonly input: { readonly limit: number }; readonly result: Cleanup };
  readonly applyRetention: {
    readonly input: { readonly nowMs: number; readonly limit: number };
    readonly result: Cleanup;
  };
}

export type Operation = {
  [Kind in keyof Operations]: { readonly kind: Kind } & Operations[Kind]['input'];
}[keyof Operations];
