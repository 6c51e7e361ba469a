/** What the main thread asks of the writer thread. All of it can be structurally cloned. */
import type { RecordResult } from '../../ports/counts.js';
import type { DirectoryChanges } from '../../ports/directory.js';
import type { Cleanup } from '../../ports/maintenance.js';
import type { Attempt, AttemptLimit } from '../../ports/throttles.js';
import type { UserStatement, UserStatementResult } from '../../ports/user-tables.js';

/** A batch of queries by column, which costs less to send between threads than an object for each query. */
export interface RecordBatch {
  readonly projectId: string;
  readonly ids: readonly string[];
  readonly callers: readonly string[];
  readonly occurredAt: Float64Array;
}

/** A call of one of the directory's changes. */
export type DirectoryCall = {
  [Method in keyof DirectoryChanges]: {
    readonly method: Method;
    readonly args: Readonly<Parameters<DirectoryChanges[Method]>>;
  };
}[keyof DirectoryChanges];

type DirectoryResult = Awaited<ReturnType<DirectoryChanges[keyof DirectoryChanges]>>;

/** The operations by kind: what each is given, and its result. */
export interface Operations {
  record: { readonly input: RecordBatch; readonly result: RecordResult };
  directory: { readonly input: DirectoryCall; readonly result: DirectoryResult };
  userStatement: { readonly input: UserStatement; readonly result: UserStatementResult };
  takeAttempt: {
    readonly input: { readonly key: string; readonly limit: AttemptLimit; readonly nowMs: number };
    readonly result: Attempt;
  };
  giveBackAttempt: {
    readonly input: { readonly key: string; readonly resetsAt: number };
    readonly result: undefined;
  };
  resetAttempts: { readonly input: { readonly key: string }; readonly result: undefined };
  purgeDeleted: { readonly input: { readonly limit: number }; readonly result: Cleanup };
  applyRetention: {
    readonly input: { readonly nowMs: number; readonly limit: number };
    readonly result: Cleanup;
  };
}

export type OperationKind = keyof Operations;

export type Operation = {
  [Kind in OperationKind]: { readonly kind: Kind } & Operations[Kind]['input'];
}[OperationKind];

export type OperationResult = Operations[OperationKind]['result'];
