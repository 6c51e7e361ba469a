/** Counts what an import would record, by month and caller. */
import { isCounted, type RecordedQuery } from '../../domain/queries/receipt.js';
import type { CountStore } from '../../storage/ports/counts.js';
import { pagesOf } from '../reading/pages.js';

export interface MonthCount {
  /** Such as `2026-06`, in UTC. */
  readonly month: string;
  readonly caller: string;
  readonly queries: number;
}

const pageQueries = 10_000;

/** The project's queries by month and caller, in this order. */
export async function countMonths(counts: CountStore, projectId: string): Promise<MonthCount[]> {
  const byMonth = new Map<string, number>();
  const read = (after: RecordedQuery | undefined) => counts.readQueries(projectId, after?.id, pageQueries);
  for await (const page of pagesOf(read))
    for (const { caller, occurredAt } of page.filter(isCounted)) {
      const key = `${new Date(occurredAt).toISOString().slice(0, 7)} ${caller}`;
      byMonth.set(key, (byMonth.get(key) ?? 0) + 1);
    }
  return [...byMonth]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, queries]) => ({ month: key.slice(0, 7), caller: key.slice(8), queries }));
}
