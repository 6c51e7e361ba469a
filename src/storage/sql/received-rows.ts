/** What was recorded, as statements return it. */
import type { KnownState } from '../../domain/corrections/state.js';
import type { Corrected, RecordedQuery } from '../../domain/queries/receipt.js';
import type { RecordedCount } from '../ports/counts.js';

export function toRecordedQuery(
  query: RecordedQuery,
  isWithdrawn: boolean,
  changes: Corrected['changes'] = [],
  noted: readonly NotedRow[] = [],
): RecordedQuery {
  if (changes.length === 0 && noted.length === 0 && !isWithdrawn) return query;
  const known = toKnown(changes.length === 0 ? noted : noted.filter((one) => one.isCorrected !== null));
  return { ...query, corrected: { isWithdrawn, changes, known } };
}

/** A `KnownState` as statements return it. Those from before corrections were noted as well do not know whether they were. */
export interface NotedRow {
  readonly day: number;
  readonly caller: string;
  readonly isWithdrawn: number;
  readonly isCorrected: number | null;
}

export function toKnown(noted: readonly NotedRow[]): KnownState[] {
  return noted
    .map(({ day, caller, isWithdrawn, isCorrected }) => {
      return { day, caller, isWithdrawn: isWithdrawn === 1, isCorrected: isCorrected === 1 };
    })
    .sort((a, b) => a.day - b.day);
}

/** The numbers are separated by commas. */
export type CountRow = Omit<RecordedCount, 'withdrawnBy' | 'withdrawals'> & {
  readonly withdrawnBy: number | null;
  readonly withdrawals: string | null;
};

export function toRecordedCount({ withdrawnBy, withdrawals, ...count }: CountRow): RecordedCount {
  return {
    ...count,
    ...(withdrawnBy === null ? {} : { withdrawnBy }),
    ...(withdrawals === null ? {} : { withdrawals: toNumbers(withdrawals) }),
  };
}

/** Numbers that are separated by commas, in their order; none of null. */
export function toNumbers(text: string | null): number[] {
  const numbers = text === null ? [] : text.split(',').map(Number);
  return numbers.sort((a, b) => a - b);
}
