/** The import formats. To add one, add its name to `FORMATS` and its reader to `selectReader`. */
import { createLogParser, type LogReading } from './access-log.js';
import { createConverter, type Reading } from './fields.js';
import { type ImportRecord, parseLines, readJsonLines } from './records.js';
import { createEventConverter } from './stream.js';

/** Reads the records of a source. */
export type Reader = (chunks: AsyncIterable<Buffer>) => AsyncGenerator<ImportRecord>;

/** The names of `--format`, and what they are for. */
export const FORMATS = {
  ndjson: 'one object per line',
  csv: 'columns named in the first line',
  stream: 'events of a documentation platform',
  'access-log': 'of nginx or Apache',
} as const;

export type Format = keyof typeof FORMATS;

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
  if (log !== undefined) return (chunks) => parseLines(chunks, createLogParser(log));
  switch (format ?? detectFormat(name)) {
    case 'csv':
      return async function* readLazily(chunks) {
        // The parser takes long to load.
        const { readCsv } = await import('./csv.js');
        yield* readCsv(chunks, reading);
      };
    case 'stream':
      return (chunks) => readJsonLines(chunks, createEventConverter(reading, eventTypes));
    default:
      return (chunks) => readJsonLines(chunks, createConverter(reading));
  }
}

function detectFormat(name: string): Format {
  return /\.csv(\.(gz|zst))?$/i.test(name) ? 'csv' : 'ndjson';
}
