/** Which formats there are, and how each is read. */
import { type LogReading, readAccessLog } from './access-log.js';
import type { Reading } from './fields.js';
import { readNdjson } from './ndjson.js';
import type { ImportRecord } from './records.js';
import { readStream } from './stream.js';

/** From the unpacked bytes of one source to its records. */
export type Reader = (chunks: AsyncIterable<Buffer>) => AsyncGenerator<ImportRecord>;

/** The names of `--format`. */
export const FORMATS = ['ndjson', 'csv', 'stream', 'access-log'] as const;

export type Format = (typeof FORMATS)[number];

/** All that the options say of what is in the files. */
export interface Form {
  /** Undefined: as each file's name says. */
  readonly format: Format | undefined;
  readonly reading: Reading;
  /** Of a stream: the types of the events that are queries. */
  readonly eventTypes: ReadonlySet<string>;
  /** Of an access log, and only there. */
  readonly log: LogReading | undefined;
}

/** How a source of this name is read. */
export function readerOf({ format, reading, eventTypes, log }: Form, name: string): Reader {
  if (log !== undefined) return (chunks) => readAccessLog(chunks, log);
  switch (format ?? formatOf(name)) {
    case 'csv':
      return (chunks) => readCsvOf(chunks, reading);
    case 'stream':
      return (chunks) => readStream(chunks, reading, eventTypes);
    default:
      return (chunks) => readNdjson(chunks, reading);
  }
}

async function* readCsvOf(chunks: AsyncIterable<Buffer>, reading: Reading): AsyncGenerator<ImportRecord> {
  // Loaded when there is CSV to read: every other command would wait for its parser in vain.
  const { readCsv } = await import('./csv.js');
  yield* readCsv(chunks, reading);
}

/** What a file's name says of its format; NDJSON where it says nothing. */
function formatOf(name: string): Format {
  return /\.csv(\.(gz|zst))?$/i.test(name) ? 'csv' : 'ndjson';
}
