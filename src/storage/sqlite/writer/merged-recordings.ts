/**
 * Recordings that wait for the same commit become one batch, if they are of one project and receipt. Most have a single query, whose
 * own message between threads and own statements would take most of the time.
 */
import type { Outcome } from '../../commit-queue.js';
import type { Operation, RecordBatch } from './operations.js';

type Recording = Extract<Operation, { readonly kind: 'record' }>;

/** Commits the operations with `commit`, which returns their outcomes and those of each recording of a batch. */
export async function commitMerged<Value>(
  operations: readonly Operation[],
  commit: (merged: readonly Operation[]) => Promise<readonly Outcome<Value>[]>,
): Promise<readonly Outcome<Value>[]> {
  const groups = groupsOf(operations);
  const places = groups.flatMap((group) => group.map(({ place }) => place));
  const outcomes = await commit(groups.map((group) => merge(group.map(({ operation }) => operation))));
  const inOrder: Outcome<Value>[] = [];
  for (const [at, place] of places.entries()) {
    const outcome = outcomes[at];
    if (outcome !== undefined) inOrder[place] = outcome;
  }
  return inOrder;
}

interface Placed {
  readonly operation: Operation;
  readonly place: number;
}

/** A recording may move past other recordings, but past no other operation, which may change what it finds. */
function groupsOf(operations: readonly Operation[]): readonly (readonly Placed[])[] {
  const groups: Placed[][] = [];
  const open = new Map<string, Placed[]>();
  for (const [place, operation] of operations.entries()) {
    if (operation.kind !== 'record') open.clear();
    const name = operation.kind === 'record' ? nameOf(operation) : undefined;
    const group = name === undefined ? undefined : open.get(name);
    if (group !== undefined) group.push({ operation, place });
    else {
      const begun = [{ operation, place }];
      groups.push(begun);
      if (name !== undefined) open.set(name, begun);
    }
  }
  return groups;
}

/** What recordings of one batch have in common. Undefined for those whose queries arrived in several ways, or with an import. */
function nameOf({
  projectId,
  receipts = [],
  receiptOf,
  imports = [],
  stamp,
}: RecordBatch): string | undefined {
  const [receipt, second] = receipts;
  const isPlain = receipt !== undefined && second === undefined && receiptOf === undefined;
  return isPlain && imports.length === 0
    ? `${projectId} ${stamp} ${receipt.day} ${receipt.sender}`
    : undefined;
}

function merge(operations: readonly Operation[]): Operation {
  const [first, second] = operations;
  if (first === undefined) throw new Error('a group has operations');
  if (first.kind !== 'record') return first;
  if (second === undefined) return { ...first, occurredAt: new Float64Array(first.occurredAt) };
  const sizes: number[] = [];
  const ids: string[] = [];
  const callers: string[] = [];
  const occurredAt: number[] = [];
  for (const batch of operations as readonly Recording[]) {
    sizes.push(batch.ids.length);
    // Pushed one by one: there may be more than a call can have arguments.
    for (const id of batch.ids) ids.push(id);
    for (const caller of batch.callers) callers.push(caller);
    for (const timeMs of batch.occurredAt) occurredAt.push(timeMs);
  }
  const { kind, projectId, receipts = [], stamp } = first;
  // The V8 of Node 20 gives each object that begins with another one, as in `{ ...first, sizes }`, a shape of its own.
  return { kind, projectId, receipts, stamp, sizes, ids, callers, occurredAt: new Float64Array(occurredAt) };
}

/** The recordings of a batch, each in a batch of its own. */
export function splitBatch({ sizes, ...batch }: RecordBatch): readonly RecordBatch[] {
  if (sizes === undefined) return [batch];
  let end = 0;
  return sizes.map((size) => {
    const [from, to] = [end, end + size];
    end = to;
    return {
      ...batch,
      ids: batch.ids.slice(from, to),
      callers: batch.callers.slice(from, to),
      occurredAt: batch.occurredAt.slice(from, to),
    };
  });
}
