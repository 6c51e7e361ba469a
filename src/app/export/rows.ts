/** Exported queries as text: NDJSON, or CSV (RFC 4180) with a header line. An import reads both. */
import { QUERY_FIELDS, type Query } from '../../domain/queries/query.js';

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

interface Writing {
  /** Comes before the rows. */
  readonly head: string;
  readonly row: (query: Query) => string;
}

export const WRITING: Readonly<Record<ExportFormat, Writing>> = {
  ndjson: {
    head: '',
    row: ({ id, caller, occurredAt }) =>
      `{"id":${JSON.stringify(id)},"caller":"${caller}","occurredAt":"${formatTime(occurredAt)}"}\n`,
  },
  csv: {
    head: `${QUERY_FIELDS.join()}\r\n`,
    row: ({ id, caller, occurredAt }) => `${toCell(id)},${caller},${formatTime(occurredAt)}\r\n`,
  },
};

/** The exact text, unlike in the CSV of reports: an id that a spreadsheet would run as a formula stays the same id. */
function toCell(text: string): string {
  return /[",\r\n;\t]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
