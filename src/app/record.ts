/** The one way into a store for all that is counted. A test keeps every other way closed. */
import type { ArrivingCount } from '../domain/counting/imported-count.js';
import { type ArrivingQuery, dayOf, receiptOf, type Sender } from '../domain/queries/receipt.js';
import type { Clock } from '../domain/time/clock.js';
import { recordings } from '../shared/fair-share.js';
import type { CountStore } from '../storage/ports/counts.js';
import type { AccessProof } from '../storage/ports/directory.js';
import type { RecordResult, Store } from '../storage/ports/store.js';

export interface RecordTarget {
  readonly store: Pick<Store, 'counts'>;
  readonly clock: Clock;
  /** Called for the metrics after queries were recorded. */
  readonly onRecorded?: (result: RecordResult) => void;
}

/** Records queries as `CountStore.record` does, and that this sender sent them now. */
export async function recordQueries(
  { store, clock, onRecorded }: RecordTarget,
  sender: Sender,
  projectId: string,
  queries: readonly ArrivingQuery[],
  proof?: AccessProof,
): Promise<RecordResult> {
  const receipt = receiptOf(sender, clock.now());
  const result = await recordings.during(() => store.counts.record(projectId, queries, receipt, proof));
  onRecorded?.(result);
  return result;
}

/** Imports counts as `CountStore.importCounts` does, on the day of now. They are told apart by their own source. */
export function recordCounts(
  { store, clock }: Pick<RecordTarget, 'store' | 'clock'>,
  projectId: string,
  counts: readonly ArrivingCount[],
  options?: Pick<NonNullable<Parameters<CountStore['importCounts']>[2]>, 'dryRun'>,
): Promise<RecordResult> {
  return recordings.during(() =>
    store.counts.importCounts(projectId, counts, { ...options, day: dayOf(clock.now()) }),
  );
}
