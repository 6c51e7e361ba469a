/** The import formats. To add one, add its name to `FORMATS` and its reader to `selectReader`. */
import { type LogReading, readAccessLog } from './access-log.js';
import { queryReader, type Reading } from './fields.js';
import { type ImportRecord, readJsonLines } from './records.js';
import { readStream } from './stream.js';

/** Reads the records of a source. */
export type Reader = (chunks: AsyncIterable<Buffer>) => AsyncGenerator<ImportRecord>;

/** The names of `--format`. */
export const FORMATS = ['ndjson', 'csv', 'stream', 'access-log'] as const;

export type Format = (typeof FORMATS)[number];

/** What the options say about the files. */
export interface Form {
  /** Undefined: detected from each file's name. */
  readonly format: Format | undefined;
  readonly reading: Reading;
  /** For `stream`: the types of events that are queries. */
  readonly eventTypes: ReadonlySet<string>;
  /** For `access-log` only. */
  readonly log: LogReading | undefined;
}

/** The reader for a source of this name. */
export function selectReader({ format, reading, eventTypes, log }: Form, name: string): Reader {
  if (log !== undefined) return (chunks) => readAccessLog(chunks, log);
  switch (format ?? detectFormat(name)) {
    case 'csv':
      return (chunks) => loadAndReadCsv(chunks, reading);
    case 'stream':
      return (chunks) => readStream(chunks, reading, eventTypes);
    default:
      return (chunks) => readNdjson(chunks, reading);
  }
}

/** One object per line: a query, or a record that `reading` converts to one. */
export async function* readNdjson(
  chunks: AsyncIterable<Buffer>,
  reading: Reading,
): AsyncGenerator<ImportRecord> {
  const toQuery = queryReader(reading);
  for await (const { line, value } of readJsonLines(chunks)) {
    yield { line, value: value.ok ? toQuery(value.value) : value };
  }
}

async function* loadAndReadCsv(
  chunks: AsyncIterable<Buffer>,
  reading: Reading,
): AsyncGenerator<ImportRecord> {
  // The parser takes long to load.
  const { readCsv } = await import('./csv.js');
  yield* readCsv(chunks, reading);
}

function detectFormat(name: string): Format {
  return /\.csv(\.(gz|zst))?$/i.test(name) ? 'csv' : 'ndjson';
}
