/** Reads a project's queries for taking them away. */

import type { CarriedQuery } from '../../domain/corrections/carried.js';
import type { QueriesRequest } from '../../domain/counting/report-request.js';
import { senderOfCounts } from '../../domain/history/timeline.js';
import { isSelected, type RecordedQuery } from '../../domain/queries/receipt.js';
import { Turns } from '../../shared/turns.js';
import type { RecordedCount } from '../../storage/ports/counts.js';
import type { Store } from '../../storage/ports/store.js';
import { Carried } from '../carried.js';
import { pagesOf } from '../reading/pages.js';
import { type ExportFormat, WRITING } from './rows.js';

/** Reading and writing a page of this size keeps the event loop busy for a few milliseconds. */
const pageQueries = 1_000;

/** All exports of the process share its turns: together, they take no more of each than one of them. */
const turns = new Turns();

/** Which queries of a project to export, and how. */
export interface ExportRequest extends Pick<QueriesRequest, 'range' | 'caller' | 'receipts'> {
  readonly projectId: string;
  readonly format: ExportFormat;
}

/**
 * The project's queries, in the store's order of ids, as parts of a text. Every query that is recorded when it begins is in it;
 * those that are recorded meanwhile may be. They are what the corrections that are finished when it begins have made of them, whatever
 * is corrected meanwhile. Holds one page at a time, and nothing of the store while its reader waits.
 */
export async function* exportQueries(
  { counts, corrections }: Pick<Store, 'counts' | 'corrections'>,
  { projectId, range, caller, receipts, format }: ExportRequest,
): AsyncGenerator<string, void> {
  const { head, row, correction, count } = WRITING[format];
  const isAsked = (query: Asked): boolean => isWithin(query, { range, caller, receipts });
  let text = head;
  const carried = new Carried();
  for await (const one of carried.read(corrections, projectId)) {
    yield text + correction(one);
    text = '';
  }
  const readCounts = (after: RecordedCount | undefined) =>
    turns.next(() => counts.readImportedCounts(projectId, after, pageQueries));
  // What nobody writes need not be read.
  if (format === 'ndjson')
    for await (const page of pagesOf(readCounts)) {
      const asked = page.filter(({ day = null, ...one }) => {
        const receipt = day === null ? null : { day, sender: senderOfCounts(one.source) };
        return isAsked({ ...one, occurredAt: one.start, receipt });
      });
      text += asked.map((one) => count(carried.describeCount(one))).join('');
      if (text === '') continue;
      yield text;
      text = '';
    }
  const readQueries = (after: RecordedQuery | undefined) =>
    turns.next(() => counts.readQueries(projectId, after?.id, pageQueries));
  for await (const page of pagesOf(readQueries)) {
    for (const one of page) {
      const query = carried.describe(one);
      if (isAsked(query)) text += row(query);
    }
    // Also without a row, so that a reader that is gone ends an export that finds nothing.
    yield text;
    text = '';
  }
  yield text;
}

type Asked = Pick<CarriedQuery, 'occurredAt' | 'caller' | 'receipt'>;

function isWithin(
  query: Asked,
  { range, caller, receipts }: Pick<ExportRequest, 'range' | 'caller' | 'receipts'>,
): boolean {
  return (
    query.occurredAt >= range.from &&
    query.occurredAt < range.to &&
    (caller === undefined || query.caller === caller) &&
    isSelected(query.receipt ?? null, receipts)
  );
}
