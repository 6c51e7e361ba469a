/**
 * Batches that wait for the same commit become one per project, which takes one message between threads and few statements.
 * Most recordings are single queries, whose own statements and messages would take most of the time.
 */
import type { Operation, RecordBatch } from './operations.js';

type RecordOperation = Extract<Operation, { readonly kind: 'record' }>;

export interface MergedOperations {
  readonly operations: readonly Operation[];
  /** For each outcome of `operations`, the index of the operation that it belongs to. */
  readonly places: readonly number[];
}

/** Recordings change places with other recordings only: any other operation may change what they find. */
export function mergeBatches(operations: readonly Operation[]): MergedOperations {
  const merged: Operation[] = [];
  const places: number[] = [];
  const byProject = new Map<string, { readonly batches: RecordOperation[]; readonly places: number[] }>();
  const endRun = () => {
    for (const { batches, places: ofProject } of byProject.values()) {
      merged.push(merge(batches));
      places.push(...ofProject);
    }
    byProject.clear();
  };
  for (const [place, operation] of operations.entries()) {
    if (operation.kind !== 'record') {
      endRun();
      merged.push(operation);
      places.push(place);
      continue;
    }
    const found = byProject.get(operation.projectId);
    if (found === undefined) byProject.set(operation.projectId, { batches: [operation], places: [place] });
    else {
      found.batches.push(operation);
      found.places.push(place);
    }
  }
  endRun();
  return { operations: merged, places };
}

function merge(batches: readonly RecordOperation[]): RecordOperation {
  const [first, second] = batches;
  if (first === undefined) throw new Error('a project without batches has none to merge');
  if (second === undefined) return first;
  const sizes = batches.map(({ ids }) => ids.length);
  const occurredAt = new Float64Array(sizes.reduce((sum, size) => sum + size, 0));
  let end = 0;
  for (const batch of batches) {
    occurredAt.set(batch.occurredAt, end);
    end += batch.ids.length;
  }
  return {
    ...first,
    ids: batches.flatMap(({ ids }) => ids),
    callers: batches.flatMap(({ callers }) => callers),
    occurredAt,
    sizes,
  };
}

/** The index of the batch of each query. */
export function batchesOf({ ids, sizes = [ids.length] }: RecordBatch): Uint32Array {
  const batches = new Uint32Array(ids.length);
  let at = 0;
  for (const [batch, size] of sizes.entries()) {
    batches.fill(batch, at, at + size);
    at += size;
  }
  return batches;
}
