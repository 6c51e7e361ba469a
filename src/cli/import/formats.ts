import { readCsv } from './csv.js';
import { type ImportRecord, readNdjson } from './records.js';

/** How each format is read; the names are those of `--format`. */
export const READERS = { ndjson: readNdjson, csv: readCsv } satisfies Record<
  string,
  (chunks: AsyncIterable<Buffer>) => AsyncGenerator<ImportRecord>
>;

export type Format = keyof typeof READERS;

/** What a file's name says of its format; NDJSON where it says nothing. */
export function formatOf(name: string): Format {
  return /\.csv(\.(gz|zst))?$/i.test(name) ? 'csv' : 'ndjson';
}
