/** What was recorded, as statements return it. */
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
  changes: Corrected['changes'] | undefined,
): RecordedQuery {
  const receipt = day === null || sender === null ? null : knownReceipt({ day, sender });
  const query = { id, caller, occurredAt, receipt };
  return changes === undefined && !isWithdrawn
    ? query
    : { ...query, corrected: { isWithdrawn: Boolean(isWithdrawn), changes: changes ?? [] } };
}

export type CountRow = Omit<RecordedCount, 'withdrawnBy'> & { readonly withdrawnBy: number | null };

export function toRecordedCount({ withdrawnBy, ...count }: CountRow): RecordedCount {
  return withdrawnBy === null ? count : { ...count, withdrawnBy };
}
