/** When queries arrived, and by whom. */
import type { KnownState } from '../corrections/state.js';
import { collectProblems, failure, prefixProblems, quote, type Result, success } from '../result.js';
import { parseBound } from '../time/date-time.js';
import { dayMs } from '../time/duration.js';
import { parseQuery, type Query } from './query.js';

/** What is known of the arrival of a query. */
export interface Receipt {
  /** The UTC day, in days since 1970-01-01. */
  readonly day: number;
  /** As `formatSender` writes it. */
  readonly sender: string;
}

/** A query to record. */
export interface ArrivingQuery extends Query {
  /** How it arrived first, as a copy or an export says; null if that says that nobody knows. */
  readonly receipt?: Receipt | null | undefined;
}

/** A query that a store has. Without a receipt, it was recorded before stores kept them. */
export interface RecordedQuery extends Query {
  readonly receipt: Receipt | null;
  /** Of a query that corrections have changed. */
  readonly corrected?: Corrected;
}

export interface Corrected {
  readonly isWithdrawn: boolean;
  /** The numbers of the corrections in their order, each with the caller for which the query counted before. */
  readonly changes: readonly { readonly correction: number; readonly caller: string }[];
  readonly known?: readonly KnownState[];
}

/** Whether a query counts, and was not withdrawn. */
export function isCounted({ corrected }: RecordedQuery): boolean {
  return corrected?.isWithdrawn !== true;
}

/** Who sends what is recorded. */
export type Sender =
  | { readonly kind: 'key'; readonly keyId: string }
  /** A service whose OpenTelemetry data come with a key. */
  | { readonly kind: 'telemetry'; readonly keyId: string; readonly service: string }
  /** The command that imports into a database; its files are paths or `-`. */
  | { readonly kind: 'import'; readonly files: readonly string[] }
  | { readonly kind: 'copy' }
  /** The samples of a first start. */
  | { readonly kind: 'demo' };

/** The sender of queries that were recorded before stores kept receipts, in `recordedBy`. */
const UNKNOWN_SENDER = 'unknown';

const senderCharactersMax = 200;

/** What a sender may be in `recordedBy`: a text without control characters, in the syntax of every language. */
export const SENDER_PATTERN = `^[^\\x00-\\x1f\\x7f-\\x9f]{1,${senderCharactersMax}}$`;

const senderPattern = new RegExp(SENDER_PATTERN, 'u');

/** A sender as one text, such as `key:4f…`, `telemetry:4f…:checkout`, `import:messages.csv` or `copy`. */
export function formatSender(sender: Sender): string {
  switch (sender.kind) {
    case 'key':
      return `key:${sender.keyId}`;
    case 'telemetry':
      return toSender(`telemetry:${sender.keyId}:${sender.service}`);
    case 'import':
      // Without folders, whose names may tell of people.
      return toSender(`import:${sender.files.map((file) => file.replace(/^.*[/\\](?=.)/s, '')).join()}`);
    case 'copy':
    case 'demo':
      return sender.kind;
  }
}

/** Whether this is how the command that imports files has recorded a query. */
export function isImport({ sender }: Receipt): boolean {
  return sender.startsWith('import:');
}

/** A source of imported counts as a sender. */
export function sourceOfCounts(source: string): string {
  return toSender(`counts:${source}`);
}

function toSender(text: string): string {
  return [...text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')].slice(0, senderCharactersMax).join('');
}

/** The receipt of what a sender sends at a time. */
export function receiptOf(sender: Sender, nowMs: number): Receipt {
  return { day: dayOf(nowMs), sender: formatSender(sender) };
}

/** The UTC day of a time. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / dayMs);
}

/**
 * The receipt, in a store, of a query of which nobody knows how it arrived first. It tells a correction whether the query was
 * recorded before it. Those that were recorded before stores kept receipts have none.
 */
const UNKNOWN_RECEIPT: Receipt = { day: 0, sender: '' };

/** What a stored receipt tells. */
export function knownReceipt(receipt: Receipt): Receipt | null {
  return receipt.sender === UNKNOWN_RECEIPT.sender ? null : receipt;
}

/** Collects the distinct receipts of batches of queries. */
export class ReceiptCollector {
  readonly receipts: Receipt[] = [];
  readonly #places = new Map<string, number>();

  /** The function that returns the place of a query's receipt, which is `shared` unless the query says how it arrived first. */
  batch(shared = UNKNOWN_RECEIPT): (query: ArrivingQuery) => number {
    let place: number | undefined;
    return ({ receipt }) => {
      if (receipt !== undefined) return this.#placeOf(receipt ?? UNKNOWN_RECEIPT);
      place ??= this.#placeOf(shared);
      return place;
    };
  }

  #placeOf(receipt: Receipt): number {
    const key = `${receipt.day} ${receipt.sender}`;
    const place = this.#places.get(key) ?? this.receipts.push(receipt) - 1;
    this.#places.set(key, place);
    return place;
  }
}

/** The receipts of queries: the distinct ones, and the place of each query's receipt among them. */
export interface CollectedReceipts {
  readonly receipts: readonly Receipt[];
  /** Undefined if all have the first. */
  readonly receiptOf: Int32Array | undefined;
}

/** Collects the receipts of queries, most of which have none of their own: these get `receipt`. */
export function collectReceipts(
  queries: readonly ArrivingQuery[],
  receipt: Receipt = UNKNOWN_RECEIPT,
): CollectedReceipts {
  if (queries.every((query) => query.receipt === undefined))
    return { receipts: [receipt], receiptOf: undefined };
  const collector = new ReceiptCollector();
  const receiptOf = Int32Array.from(queries, collector.batch(receipt));
  return { receipts: collector.receipts, receiptOf };
}

/** Which queries to select by how they arrived. */
export interface ReceiptFilter {
  /** UTC days, the second one excluded. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly sender: string | undefined;
}

/** The parameters of a filter in the HTTP API. */
export const RECEIPT_PARAMETER_NAMES = {
  recordedFrom: 'recordedFrom',
  recordedTo: 'recordedTo',
  recordedBy: 'recordedBy',
} as const;

type ReceiptParameter = keyof typeof RECEIPT_PARAMETER_NAMES;

/** The parameters as the user wrote them, and their names in messages. */
export type ReceiptInput = { readonly [Name in ReceiptParameter]?: string | undefined };
export type ReceiptNames = Readonly<Record<ReceiptParameter, string>>;

/** Parses a filter. Reports every problem, each beginning with the parameter's name. */
export function parseReceiptFilter(input: ReceiptInput, names: ReceiptNames): Result<ReceiptFilter> {
  const from = prefixProblems(names.recordedFrom, parseOptionalDay(input.recordedFrom));
  const to = prefixProblems(names.recordedTo, parseOptionalDay(input.recordedTo));
  const sender = prefixProblems(names.recordedBy, parseSender(input.recordedBy));
  if (!(from.ok && to.ok && sender.ok)) return failure(...collectProblems(from, to, sender));
  if ((from.value ?? Number.NEGATIVE_INFINITY) > (to.value ?? Number.POSITIVE_INFINITY))
    return failure(`${names.recordedFrom}: is later than ${names.recordedTo}`);
  return success({ from: from.value, to: to.value, sender: sender.value });
}

function parseOptionalDay(text: string | undefined): Result<number | undefined> {
  return text === undefined ? success(undefined) : parseDay(text);
}

/** A day on which something may have arrived. */
export function parseDay(text: string): Result<number> {
  const time = parseBound(text);
  if (!time.ok) return time;
  return time.value % dayMs === 0
    ? success(time.value / dayMs)
    : failure(`${quote(text)} is not the start of a UTC day, and the day is all that is known of an arrival`);
}

function parseSender(text: string | undefined): Result<string | undefined> {
  if (text === undefined || senderPattern.test(text)) return success(text);
  return failure(`${quote(text)} is not a sender, such as key:ID, import:FILE or telemetry:SERVICE`);
}

/**
 * Whether queries with this receipt are selected. A key has sent what its OpenTelemetry services sent; `telemetry:` and a name is
 * that service, with any key; `telemetry` and `import` alone are all of them. Of queries without a receipt, only the sender
 * `unknown` selects any: nobody knows the day.
 */
export function isSelected(receipt: Receipt | null, { from, to, sender }: ReceiptFilter): boolean {
  if (receipt === null)
    return from === undefined && to === undefined && [undefined, UNKNOWN_SENDER].includes(sender);
  if (from !== undefined && receipt.day < from) return false;
  if (to !== undefined && receipt.day >= to) return false;
  return sender === undefined || namesOf(receipt.sender).includes(sender);
}

function namesOf(sender: string): readonly string[] {
  const [, kind = sender, rest = ''] = /^(import|telemetry):(.*)$/s.exec(sender) ?? [];
  if (kind !== 'telemetry') return [sender, kind];
  const at = rest.indexOf(':');
  return [sender, kind, `key:${rest.slice(0, at)}`, `telemetry:${rest.slice(at + 1)}`];
}

/** The fields of an exported query that tell how it arrived; null where nobody knows. */
export const RECEIPT_FIELDS = ['recordedOn', 'recordedBy'] as const;

export function formatDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** As `parseQuery`, for an exported query, which may have `RECEIPT_FIELDS` as well. */
export function parseExportedQuery(input: unknown, nowMs: number): Result<ArrivingQuery> {
  if (typeof input !== 'object' || input === null || !RECEIPT_FIELDS.some((field) => field in input))
    return parseQuery(input, nowMs);
  const { recordedOn, recordedBy, ...query } = input as Record<string, unknown>;
  const parsed = parseQuery(query, nowMs);
  const receipt = parseReceipt(recordedOn, recordedBy, nowMs);
  if (!(parsed.ok && receipt.ok)) return failure(...collectProblems(parsed, receipt));
  return success({ ...parsed.value, receipt: receipt.value });
}

function parseReceipt(recordedOn: unknown, recordedBy: unknown, nowMs: number): Result<Receipt | null> {
  const isUnknown = [recordedOn, recordedBy].every((value) => [undefined, null, ''].includes(value as null));
  if (isUnknown) return success(null);
  const day =
    typeof recordedOn === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(recordedOn)
      ? parseDay(recordedOn)
      : undefined;
  const problems: string[] = [];
  if (!day?.ok) problems.push('recordedOn: is not a date such as 2026-01-31');
  else if (day.value * dayMs > nowMs + dayMs) problems.push('recordedOn: lies in the future');
  if (typeof recordedBy !== 'string' || !senderPattern.test(recordedBy))
    problems.push('recordedBy: is not a sender, such as key:ID');
  if (problems.length > 0 || !day?.ok) return failure(...problems);
  return success({ day: day.value, sender: recordedBy as string });
}
