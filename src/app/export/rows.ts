/** Exported queries as text: NDJSON, or CSV (RFC 4180) with a header line. An import reads both. */
import { QUERY_FIELDS } from '../../domain/queries/query.js';
import { formatDay, RECEIPT_FIELDS, type RecordedQuery } from '../../domain/queries/receipt.js';
import { BoundedCache } from '../../shared/bounded-cache.js';

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

interface Writing {
  /** Comes before the rows. */
  readonly head: string;
  readonly row: (query: RecordedQuery) => string;
}

export const EXPORTED_COLUMNS = [...QUERY_FIELDS, ...RECEIPT_FIELDS];

export const WRITING: Readonly<Record<ExportFormat, Writing>> = {
  ndjson: {
    head: '',
    row: ({ id, caller, occurredAt, receipt }) =>
      `{"id":${JSON.stringify(id)},"caller":"${caller}","occurredAt":"${formatTime(occurredAt)}",` +
      (receipt === null
        ? '"recordedOn":null,"recordedBy":null}\n'
        : `"recordedOn":"${dateOf(receipt.day)}","recordedBy":${JSON.stringify(receipt.sender)}}\n`),
  },
  csv: {
    head: `${EXPORTED_COLUMNS.join()}\r\n`,
    row: ({ id, caller, occurredAt, receipt }) =>
      `${toCell(id)},${caller},${formatTime(occurredAt)},` +
      (receipt === null ? ',\r\n' : `${dateOf(receipt.day)},${toCell(receipt.sender)}\r\n`),
  },
};

/** Formatting the same days over and over would take as long as the rest of a row. */
const dates = new BoundedCache<number, string>(1_000);

function dateOf(day: number): string {
  return dates.getOrCreate(day, () => formatDay(day));
}

/** The exact text, unlike in the CSV of reports: an id that a spreadsheet would run as a formula stays the same id. */
function toCell(text: string): string {
  return /[",\r\n;\t]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
