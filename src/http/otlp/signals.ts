/**
 * The fields of OTLP requests that the readers use: JSON names and protobuf numbers from opentelemetry-proto 1.x. The
 * readers skip all others, as the specification requires.
 */
import { isUtf8 } from 'node:buffer';
import type { SourceKind } from '../../domain/ingestion/source-counts.js';
import { otlpTextBytesMax } from '../../domain/limits.js';
import type { Attributes, TelemetryRecord } from '../../domain/queries/telemetry-record.js';
import { isStepInProcess, waitsForMessage } from '../../domain/queries/telemetry-rules.js';
import type { Arriving, Reading } from './arriving.js';

/** A kind of telemetry, and the fields of its messages. */
export interface Signal {
  readonly sourceKind: SourceKind;
  readonly path: string;
  readonly operationId: string;
  /** The name of the response message. */
  readonly answer: string;
  /** The plural noun for its records in messages. */
  readonly records: string;
  /** JSON names of the nested lists. Their protobuf numbers are the same for every signal. */
  readonly lists: readonly [resources: string, scopes: string, records: string];
  /** The names that the inner two lists had until 2022. */
  readonly formerLists: readonly string[];
  /** JSON name of the count of rejected records. Its protobuf number is 1 for every signal. */
  readonly rejected: string;
  /** Time fields of a record. The first one that is not 0 counts. */
  readonly times: readonly Field[];
  readonly endTime?: Field;
  readonly traceId: Field;
  readonly spanId: Field;
  /** Only of spans, like the next three. */
  readonly parentSpanId?: Field;
  readonly name?: Field;
  readonly kind?: Field;
  readonly flags?: Field;
  readonly attributes: Field;
  /** Replaces the attribute `event.name`. */
  readonly eventName?: Field;
}

interface Field {
  readonly name: string;
  readonly number: number;
}

export const TRACES: Signal = {
  sourceKind: 'traces',
  path: '/v1/traces',
  operationId: 'exportTraces',
  answer: 'ExportTraceServiceResponse',
  records: 'spans',
  lists: ['resourceSpans', 'scopeSpans', 'spans'],
  formerLists: ['instrumentationLibrarySpans'],
  rejected: 'rejectedSpans',
  // A query counts at the time of the question, not of the answer.
  times: [{ name: 'startTimeUnixNano', number: 7 }],
  endTime: { name: 'endTimeUnixNano', number: 8 },
  traceId: { name: 'traceId', number: 1 },
  spanId: { name: 'spanId', number: 2 },
  parentSpanId: { name: 'parentSpanId', number: 4 },
  name: { name: 'name', number: 5 },
  kind: { name: 'kind', number: 6 },
  flags: { name: 'flags', number: 16 },
  attributes: { name: 'attributes', number: 9 },
};

export const LOGS: Signal = {
  sourceKind: 'logs',
  path: '/v1/logs',
  operationId: 'exportLogs',
  answer: 'ExportLogsServiceResponse',
  records: 'log records',
  lists: ['resourceLogs', 'scopeLogs', 'logRecords'],
  formerLists: ['instrumentationLibraryLogs', 'logs'],
  rejected: 'rejectedLogRecords',
  times: [
    { name: 'timeUnixNano', number: 1 },
    { name: 'observedTimeUnixNano', number: 11 },
  ],
  traceId: { name: 'traceId', number: 9 },
  spanId: { name: 'spanId', number: 10 },
  attributes: { name: 'attributes', number: 6 },
  eventName: { name: 'eventName', number: 12 },
};

const noField: Field = { name: '', number: 0 };

/** Of metrics nothing is read. */
export const METRICS: Signal = {
  sourceKind: 'traces',
  path: '/v1/metrics',
  operationId: 'exportMetrics',
  answer: 'ExportMetricsServiceResponse',
  records: 'metrics',
  lists: ['resourceMetrics', 'scopeMetrics', 'metrics'],
  formerLists: [],
  rejected: 'rejectedDataPoints',
  times: [],
  traceId: noField,
  spanId: noField,
  attributes: noField,
};

/** Receives the records of a request. */
export interface RecordReader {
  /** Whether to decode the value of an attribute. */
  readonly wants: (attribute: string) => boolean;
  /** Called for each record when it is read, which may be long before its resource is. */
  readonly onRead: () => void;
  readonly onRecord: (record: TelemetryRecord) => void;
  /** Called instead for a record that cannot be read. */
  readonly onUnreadable: (problem: string, resource: Attributes) => void;
}

/** The records of one resource. They wait for it, because it may come after them. One that cannot be read costs no other. */
export class ResourceRecords {
  readonly #arriving: Arriving;
  readonly #signal: Signal;
  readonly #reading: RecordReader;
  readonly #waiting: (RawRecord | string)[] = [];
  #resource: Attributes | undefined;
  #problem: string | undefined;

  constructor(arriving: Arriving, signal: Signal, reading: RecordReader) {
    this.#arriving = arriving;
    this.#signal = signal;
    this.#reading = reading;
  }

  /** `read` fills the attributes of the resource. */
  *begin(resource: Attributes, read: () => void): Reading {
    const problem = tryTo(() => {
      read();
    });
    this.#problem = typeof problem === 'string' ? `belongs to a resource that ${problem}` : undefined;
    this.#resource = resource;
    for (const one of this.#waiting.splice(0)) {
      this.#arriving.waiting -= textBytes(one);
      this.#pass(one, resource);
      yield* this.#arriving.step();
    }
  }

  add(read: () => RawRecord): void {
    this.#reading.onRead();
    const record = tryTo(read);
    if (this.#resource !== undefined) this.#pass(record, this.#resource);
    else {
      this.#waiting.push(record);
      this.#arriving.waiting += textBytes(record);
    }
  }

  reject(problem: string): void {
    this.add(() => {
      throw new RangeError(problem);
    });
  }

  /** To be called after the last record. */
  *end(): Reading {
    if (this.#resource === undefined) yield* this.begin(new Map(), () => {});
  }

  #pass(record: RawRecord | string, resource: Attributes): void {
    const problem = typeof record === 'string' ? record : this.#problem;
    if (problem !== undefined) this.#reading.onUnreadable(problem, resource);
    else if (typeof record !== 'string') this.#reading.onRecord(toRecord(record, resource, this.#signal));
  }
}

/** Returns the problem of a record that cannot be read. Protobuf's library throws plain errors. */
function tryTo<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError || (error instanceof Error && error.constructor === Error))
      return error.message;
    throw error;
  }
}

/**
 * Half a surrogate pair, at the end of a text that is invalid or too long, or instead of a value that is not text. Neither an id
 * nor a caller can have it, so what is cut or replaced never becomes one.
 */
export const UNREADABLE = '\ud800';

/** Decodes UTF-8. Of invalid bytes, only the attribute is unreadable: visitors can send them, in their user agent. */
export function textOf(bytes: Uint8Array): string {
  const kept = bytes.subarray(0, otlpTextBytesMax);
  const text = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength).toString('utf8');
  return kept.length === bytes.length && isUtf8(kept) ? text : text + UNREADABLE;
}

/** A text that was decoded already. */
export function cutText(text: string): string {
  return cut(text, otlpTextBytesMax);
}

/** An id as sent, in hexadecimal digits. */
export function idText(text: string): string {
  return cut(text, idCharactersMax).toLowerCase();
}

/** The beginning of a span's name. */
export function nameText(text: string): string {
  return cut(text, nameCharactersMax);
}

/** Cuts a copy, because a part of a text keeps all of it in memory. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return Buffer.from(text.slice(0, charactersMax), 'utf16le').toString('utf16le') + UNREADABLE;
}

export function joinTexts(texts: readonly string[]): string {
  return cutText(texts.join(', '));
}

/** A number that is not whole, or was sent as one that need not be. `NaN` is what programs write for a number that they do not have. */
export function decimalText(number: number): string {
  if (Number.isNaN(number)) return 'NaN';
  if (!Number.isFinite(number)) return UNREADABLE;
  return Number.isInteger(number) ? String(BigInt(number)) : String(number);
}

/** The readers skip attributes with longer names. Names in the semantic conventions are much shorter. */
export const attributeNameBytesMax = 255;

/** Twice those of a trace's id: the beginning of a longer one only names its record in messages. */
export const idCharactersMax = 64;

/** The beginning of a span's name says how it began. */
const nameCharactersMax = 255;

/** The attribute that named an event before log records had a field for it. */
const EVENT_NAME = 'event.name';

/** `SpanKind` of OTLP: a server's work on a request, and a consumer's on a message. */
const server = 2;
const consumer = 5;

/** `SpanFlags` of OTLP: the sender knows whether the parent is a span of another process, and it is. */
const parentIsRemote = 0x300;

/** The fields of a record as either encoding has them. */
export interface RawRecord
  extends Omit<TelemetryRecord, 'timeNs' | 'isEntry' | 'isConsumer' | 'isLog' | 'resource'> {
  readonly kind: number;
  readonly flags: number;
  readonly eventName: string;
  /** In the order of the signal's `times`; some may be missing. */
  readonly timesNs: readonly (bigint | undefined)[];
  readonly attributes: Map<string, string>;
}

/** The memory of the texts of a record, at most; of one that cannot be read, of its problem. */
function textBytes(record: RawRecord | string): number {
  if (typeof record === 'string') return 2 * record.length;
  const { traceId, spanId, parentSpanId, name: own, eventName, attributes } = record;
  let length = traceId.length + spanId.length + parentSpanId.length + own.length + eventName.length;
  for (const [name, text] of attributes) length += name.length + text.length;
  return 2 * length;
}

function toRecord(
  { traceId, spanId, parentSpanId, name, attributes, eventName, timesNs, endNs, kind, flags }: RawRecord,
  resource: Attributes,
  signal: Signal,
): TelemetryRecord {
  if (eventName !== '') attributes.set(EVENT_NAME, eventName);
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    attributes,
    resource,
    isLog: signal.kind === undefined,
    isEntry:
      kind === server ||
      (kind === consumer && !isStepInProcess(name)) ||
      (flags & parentIsRemote) === parentIsRemote,
    isConsumer: kind === consumer,
    timeNs: timesNs.find((timeNs) => timeNs) ?? 0n,
    endNs: waitsForMessage(name) ? endNs : undefined,
  };
}
