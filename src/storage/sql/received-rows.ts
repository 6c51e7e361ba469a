/** What was recorded, as statements return it. */
import type { KnownState } from '../../domain/corrections/state.js';
import type { Query } from '../../domain/queries/query.js';
import { type Corrected, knownReceipt, type RecordedQuery } from '../../domain/queries/receipt.js';
import type { RecordedCount } from '../ports/counts.js';

/** A query with its receipt, as a statement returns it. */
export type ReceivedRow<Id> = Omit<Query, 'id'> & {
  readonly id: Id;
  readonly day: number | null;
  readonly sender: string | null;
  readonly isWithdrawn: boolean | number;
};

export function toRecordedQuery(
  id: string,
  { caller, occurredAt, day, sender, isWithdrawn }: ReceivedRow<unknown>,
  changes: Corrected['changes'] = [],
  noted: readonly NotedRow[] = [],
): RecordedQuery {
  const receipt = day === null || sender === null ? null : knownReceipt({ day, sender });
  const query = { id, caller, occurredAt, receipt };
  const known = toKnown(changes.length === 0 ? noted : noted.filter((one) => one.isCorrected !== null));
  if (changes.length === 0 && known.length === 0 && !isWithdrawn) return query;
  return { ...query, corrected: { isWithdrawn: Boolean(isWithdrawn), changes, known } };
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

/** In their order. */
export function toNumbers(text: string): number[] {
  return text
    .split(',')
    .map(Number)
    .sort((a, b) => a - b);
}
