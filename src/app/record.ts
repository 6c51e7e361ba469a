/** The one way into a store for all that is counted. A test keeps every other way closed. */
import type { ImportedCount } from '../domain/counting/imported-count.js';
import type { Query } from '../domain/queries/query.js';
import type { CountStore } from '../storage/ports/counts.js';
import type { RecordResult, Store } from '../storage/ports/store.js';

/** Who sends what is recorded. Stores do not keep it. */
export type Sender =
  | { readonly kind: 'key'; readonly keyId: string }
  /** A service whose OpenTelemetry data come with a key. */
  | { readonly kind: 'telemetry'; readonly keyId: string; readonly service: string }
  /** The command that imports into a database; its files are paths, `-` or a URL. */
  | { readonly kind: 'import'; readonly files: readonly string[] }
  | { readonly kind: 'copy' }
  /** The samples of a first start. */
  | { readonly kind: 'demo' };

export interface RecordTarget {
  readonly store: Pick<Store, 'counts'>;
  /** Called for the metrics after queries were recorded. */
  readonly onRecorded?: (result: RecordResult) => void;
}

/** Records queries as `CountStore.record` does. */
export async function recordQueries(
  { store, onRecorded }: RecordTarget,
  _sender: Sender,
  projectId: string,
  queries: readonly Query[],
): Promise<RecordResult> {
  const result = await store.counts.record(projectId, queries);
  onRecorded?.(result);
  return result;
}

/** Records imported counts as `CountStore.importCounts` does. */
export function recordCounts(
  { store }: RecordTarget,
  _sender: Sender,
  projectId: string,
  counts: readonly ImportedCount[],
  options?: Parameters<CountStore['importCounts']>[2],
): Promise<RecordResult> {
  return store.counts.importCounts(projectId, counts, options);
}
