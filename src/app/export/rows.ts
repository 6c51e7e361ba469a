/**
 * Exported queries as text: NDJSON, or CSV (RFC 4180) with a header line. An import reads both. NDJSON also has the corrections, the
 * queries that they have withdrawn and imported counts, so that an import knows them. CSV has the queries that count, for those who
 * count its lines.
 */
import {
  type CarriedCorrection,
  type CarriedCount,
  type CarriedQuery,
  showCarriedCorrection,
  showCarriedCount,
  showKnown,
} from '../../domain/corrections/carried.js';
import { QUERY_FIELDS } from '../../domain/queries/query.js';
import { formatDay, RECEIPT_FIELDS, type Receipt } from '../../domain/queries/receipt.js';
import { dayMs } from '../../domain/time/duration.js';
import { BoundedCache } from '../../shared/bounded-cache.js';

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

interface Writing {
  /** Comes before the rows. */
  readonly head: string;
  /** Come before the queries. */
  readonly correction: (carried: CarriedCorrection) => string;
  readonly count: (count: CarriedCount) => string;
  readonly row: (query: CarriedQuery) => string;
}

export const EXPORTED_COLUMNS: readonly string[] = [...QUERY_FIELDS, ...RECEIPT_FIELDS];

/** A number as spreadsheets write those with many digits. What was cut off cannot be known, so many ids become one. */
export const ROUNDED_NUMBER = /^-?\d(?:[.,]\d+)?E\+\d+$/i;

/**
 * A row whose id looks like a rounded number or has lines that look like rows. CSV has it with quotes around both id and caller, and
 * none around the time, as no spreadsheet writes it, so an import knows that the id is exact.
 */
export const EXACT_ROW = /^"[^"]*(?:""[^"]*)*","[^"]+",\d{4}-\d\d-\d\dT[\d:.]{12}Z,/;

export const WRITING: Readonly<Record<ExportFormat, Writing>> = {
  ndjson: {
    head: '',
    correction: (carried) => `${JSON.stringify({ correction: showCarriedCorrection(carried) })}\n`,
    count: (count) => `${JSON.stringify({ importedCount: showCarriedCount(count) })}\n`,
    row: ({ id, caller, occurredAt, receipt, isWithdrawn, changes, known }) =>
      `{"id":${JSON.stringify(id)},"caller":"${caller}","occurredAt":"${formatTime(occurredAt)}",` +
      (receipt
        ? `"recordedOn":"${dateOf(receipt.day)}","recordedBy":${JSON.stringify(receipt.sender)}`
        : '"recordedOn":null,"recordedBy":null') +
      `${isWithdrawn ? ',"withdrawn":true' : ''}${changes === undefined ? '' : describeChanges(changes)}` +
      `${known === undefined ? '' : `,"known":${JSON.stringify(known.map(showKnown))}`}}\n`,
  },
  csv: {
    head: `${EXPORTED_COLUMNS.join()}\r\n`,
    correction: () => '',
    count: () => '',
    row: ({ id, caller, occurredAt, receipt, isWithdrawn }) =>
      isWithdrawn
        ? ''
        : `${idAndCaller(id, caller)},${formatTime(occurredAt)},${receipt ? receiptCells(receipt) : ',\r\n'}`,
  },
};

function describeChanges(changes: NonNullable<CarriedQuery['changes']>): string {
  const corrections = changes.map(({ correction, caller }) => ({ id: correction, caller }));
  return `,"corrections":${JSON.stringify(corrections)}`;
}

/** Formatting the same days over and over would take as long as the rest of a row. */
const dates = new BoundedCache<number, string>(1_000);

function dateOf(day: number): string {
  return dates.getOrCreate(day, () => formatDay(day));
}

/** A page has few different ones. */
const cellsOf = new WeakMap<Receipt, string>();

function receiptCells(receipt: Receipt): string {
  let cells = cellsOf.get(receipt);
  if (cells === undefined) {
    cells = `${dateOf(receipt.day)},${toCell(receipt.sender)}\r\n`;
    cellsOf.set(receipt, cells);
  }
  return cells;
}

/** What most ids are: neither a rounded number nor in need of quotes. Asking this first saves two fifths of the time. */
const PLAIN_ID = /^[\w-]+$/;

function idAndCaller(id: string, caller: string): string {
  if (PLAIN_ID.test(id)) return `${id},${caller}`;
  if (!ROUNDED_NUMBER.test(id) && !/[\r\n]/.test(id)) return `${toCell(id)},${caller}`;
  return `${quoteCell(id)},"${caller}"`;
}

/** The exact text, unlike in the CSV of reports: an id that a spreadsheet would run as a formula stays the same id. */
function toCell(text: string): string {
  return /[",\r\n;\t]|^\s|\s$/.test(text) ? quoteCell(text) : text;
}

function quoteCell(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

const numbersOf = (digits: number): readonly string[] =>
  Array.from({ length: 10 ** digits }, (_, number) => String(number).padStart(digits, '0'));
const [twoDigits, threeDigits] = [numbersOf(2), numbersOf(3)];

/** As `toISOString`, which would take as long as the rest of a row. */
function formatTime(timeMs: number): string {
  const day = Math.floor(timeMs / dayMs);
  const ms = timeMs - day * dayMs;
  const s = Math.floor(ms / 1_000);
  const [hour, minute, second] = [Math.floor(s / 3_600), Math.floor(s / 60) % 60, s % 60];
  return `${dateOf(day)}T${twoDigits[hour]}:${twoDigits[minute]}:${twoDigits[second]}.${threeDigits[ms % 1_000]}Z`;
}
