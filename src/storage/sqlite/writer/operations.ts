/** The operations that the main thread sends to the writer thread. All of them can be structurally cloned. */
import type { ImportedCount } from '../../../domain/counting/imported-count.js';
import type { RecordResult } from '../../ports/counts.js';
import type { DirectoryChanges } from '../../ports/directory.js';
import type { Ingestion } from '../../ports/ingestion.js';
import type { Cleanup } from '../../ports/maintenance.js';
import type { Notifications } from '../../ports/notifications.js';
import type { Questions } from '../../ports/questions.js';
import type { Throttles } from '../../ports/throttles.js';
import type { UserStatement, UserStatementResult } from '../../ports/user-tables.js';

/** A batch of queries by column, which costs less to send between threads than an object for each query. */
export interface RecordBatch {
  readonly projectId: string;
  readonly ids: readonly string[];
  readonly callers: readonly string[];
  readonly occurredAt: Float64Array;
}

export interface ImportBatch {
  readonly projectId: string;
  readonly counts: readonly ImportedCount[];
  readonly dryRun: boolean;
}

/** A call of a method, and what its promise resolves with. */
interface Call<Methods extends { [Name in keyof Methods]: (...args: never) => Promise<unknown> }> {
  readonly input: {
    [Name in keyof Methods]: { readonly method: Name; readonly args: Readonly<Parameters<Methods[Name]>> };
  }[keyof Methods];
  readonly result: Awaited<ReturnType<Methods[keyof Methods]>>;
}

/** The operations by kind: the input of each, and its result. */
export interface Operations {
  record: { readonly input: RecordBatch; readonly result: RecordResult };
  importCounts: { readonly input: ImportBatch; readonly result: RecordResult };
  directory: Call<DirectoryChanges>;
  throttles: Call<Throttles>;
  questions: Call<Questions>;
  ingestion: Call<Ingestion>;
  notifications: Call<Notifications>;
  userStatement: { readonly input: UserStatement; readonly result: UserStatementResult };
  purgeDeleted: { readonly input: { readonly limit: number }; readonly result: Cleanup };
  applyRetention: {
    readonly input: { readonly nowMs: number; readonly limit: number };
    readonly result: Cleanup;
  };
}

export type Operation = {
  [Kind in keyof Operations]: { readonly kind: Kind } & Operations[Kind]['input'];
}[keyof Operations];

export type OperationResult = Operations[keyof Operations]['result'];
