/**
 * The fields of OTLP requests that the readers use: JSON names and protobuf numbers from opentelemetry-proto 1.x. The
 * readers skip all others, as the specification requires.
 */
import type { SourceKind } from '../../domain/ingestion/source-counts.js';
import type { TelemetryRecord } from '../../domain/queries/telemetry.js';

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
  /** JSON name of the count of rejected records. Its protobuf number is 1 for every signal. */
  readonly rejected: string;
  /** Time fields of a record. The first one that is not 0 counts. */
  readonly times: readonly Field[];
  readonly traceId: Field;
  readonly spanId: Field;
  /** Only of spans, like `kind` and `flags`. */
  readonly parentSpanId?: Field;
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
  rejected: 'rejectedSpans',
  // A query counts at the time of the question, not of the answer.
  times: [{ name: 'startTimeUnixNano', number: 7 }],
  traceId: { name: 'traceId', number: 1 },
  spanId: { name: 'spanId', number: 2 },
  parentSpanId: { name: 'parentSpanId', number: 4 },
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

/** Receives the records of a request. */
export interface RecordReader {
  /** Whether to decode the value of an attribute. */
  readonly wants: (attribute: string) => boolean;
  readonly onRecord: (record: TelemetryRecord) => void;
}

/** The readers skip attributes with longer names. Names in the semantic conventions are much shorter. */
export const attributeNameBytesMax = 255;

/** The attribute that named an event before log records had a field for it. */
const EVENT_NAME = 'event.name';

/** `SpanKind` of OTLP: a server's work on a request, and a consumer's on a message. */
const entryKinds: readonly number[] = [2, 5];

/** `SpanFlags` of OTLP: the sender knows whether the parent is a span of another process, and it is. */
const parentIsRemote = 0x300;

/** The fields of a record as either encoding has them. */
export interface RawRecord extends Omit<TelemetryRecord, 'timeNs' | 'isEntry' | 'isLog'> {
  readonly kind: number;
  readonly flags: number;
  readonly eventName: string;
  /** In the order of the signal's `times`; some may be missing. */
  readonly timesNs: readonly (bigint | undefined)[];
  readonly attributes: Map<string, string>;
}

export function toRecord(
  { eventName, timesNs, kind, flags, ...record }: RawRecord,
  signal: Signal,
): TelemetryRecord {
  if (eventName !== '') record.attributes.set(EVENT_NAME, eventName);
  return {
    ...record,
    isLog: signal.kind === undefined,
    isEntry: entryKinds.includes(kind) || (flags & parentIsRemote) === parentIsRemote,
    timeNs: timesNs.find((timeNs) => timeNs) ?? 0n,
  };
}
