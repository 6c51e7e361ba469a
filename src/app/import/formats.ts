/**
 * The import formats. To add one, add its name to `FORMATS` and its reader to `selectReader`; for the export of another
 * system in JSON or CSV, an entry in `presets.ts` is enough.
 */
import { createLogParser, type LogReading } from './access-log.js';
import { createConverter, type Reading } from './fields.js';
import { isJsonText, readJson } from './json.js';
import { findPreset, isPresetName, PRESETS, type PresetName } from './presets.js';
import { type ImportRecord, type InChunks, parseLines, readJsonLines } from './records.js';
import { createEventConverter } from './stream.js';

/** Reads the records of a source. */
export type Reader = (chunks: AsyncIterable<Buffer>) => InChunks<ImportRecord>;

const presets = Object.entries(PRESETS).map(([name, { what }]) => [name, what] as const);

/** The names of `--format`, and what they are for. */
export const FORMATS = {
  ndjson: 'one JSON object per line',
  json: 'objects, or an array of them, in any layout',
  csv: 'columns named in the first line; commas, semicolons or tabs',
  stream: 'events of a documentation platform',
  'access-log': 'of nginx, Apache or Caddy',
  ...(Object.fromEntries(presets) as Record<PresetName, string>),
} as const;

export type Format = keyof typeof FORMATS;

/** What the options say about the files. */
export interface Form {
  /** Undefined: detected for each file. */
  readonly format: Format | undefined;
  readonly reading: Reading;
  /** For JSON: the path to the array of the records. */
  readonly records: readonly string[];
  /** For `stream`: the types of events that are queries. */
  readonly eventTypes: ReadonlySet<string>;
  /** For `access-log` only. */
  readonly log: LogReading | undefined;
}

/** The reader for a source of this name. */
export function selectReader({ format, reading, records, eventTypes, log }: Form, name: string): Reader {
  if (log !== undefined) return (chunks) => parseLines(chunks, createLogParser(log));
  switch (isPresetName(format) ? findPreset(format)?.base : (format ?? detectFormat(name, records))) {
    case 'csv':
      return async function* readLazily(chunks) {
        // The parser takes long to load.
        const { readCsv } = await import('./csv.js');
        yield* readCsv(chunks, reading);
      };
    case 'stream':
      return (chunks) => readJsonLines(chunks, createEventConverter(reading, eventTypes));
    case 'ndjson':
      return (chunks) => readJsonLines(chunks, createConverter(reading));
    case 'json':
      return (chunks) => readJson(chunks, records, createConverter(reading));
    case 'access-log':
    case undefined:
      return async function* readDetected(chunks) {
        const { isText, all } = await isJsonText(chunks, /\.json(\.(gz|zst))?$/i.test(name));
        const convert = createConverter(reading);
        yield* isText ? readJson(all, records, convert) : readJsonLines(all, convert);
      };
  }
}

/** Undefined: JSON, which its content tells from NDJSON. */
function detectFormat(name: string, records: readonly string[]): 'csv' | 'json' | undefined {
  if (/\.[ct]sv(\.(gz|zst))?$/i.test(name)) return 'csv';
  return records.length > 0 ? 'json' : undefined;
}
