/** Queries with their receipts, as statements return them. */
import type { Query } from '../../domain/queries/query.js';
import type { RecordedQuery } from '../../domain/queries/receipt.js';

/** A query with its receipt, as a statement returns it. */
export type ReceivedRow<Id> = Omit<Query, 'id'> & {
  readonly id: Id;
  readonly day: number | null;
  readonly sender: string | null;
};

export function toRecordedQuery<Id>(
  { id, caller, occurredAt, day, sender }: ReceivedRow<Id>,
  decode: (id: Id) => string,
): RecordedQuery {
  const receipt = day === null || sender === null ? null : { day, sender };
  return { id: decode(id), caller, occurredAt, receipt };
}
