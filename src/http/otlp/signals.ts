/**
 * The fields that are read of an OTLP request, after the definitions of opentelemetry-proto 1.x: the names of JSON and the
 * numbers of protobuf. All others are passed over, as the specification wants it.
 */
import type { TelemetryRecord } from '../../domain/queries/telemetry.js';

/** A kind of telemetry, and where what is read of it stands. */
export interface Signal {
  readonly path: string;
  /** What the operation is called, and the message that answers it. */
  readonly operationId: string;
  readonly answer: string;
  /** What people call its records. */
  readonly records: string;
  /** JSON's names of the lists that lead to a record. In protobuf their fields are the same for every signal. */
  readonly lists: readonly [resources: string, scopes: string, records: string];
  /** JSON's name of the field that counts what is rejected; in protobuf it is 1 for every signal. */
  readonly rejected: string;
  /** Times as fields of a record, the first that is not 0 holds. */
  readonly times: readonly Field[];
  readonly traceId: Field;
  readonly spanId: Field;
  readonly attributes: Field;
  /** The field that is as good as the attribute `event.name`. */
  readonly eventName?: Field;
}

export interface Field {
  readonly name: string;
  readonly number: number;
}

export const TRACES: Signal = {
  path: '/v1/traces',
  operationId: 'exportTraces',
  answer: 'ExportTraceServiceResponse',
  records: 'spans',
  lists: ['resourceSpans', 'scopeSpans', 'spans'],
  rejected: 'rejectedSpans',
  // A query counts when it was asked, not when it was answered.
  times: [{ name: 'startTimeUnixNano', number: 7 }],
  traceId: { name: 'traceId', number: 1 },
  spanId: { name: 'spanId', number: 2 },
  attributes: { name: 'attributes', number: 9 },
};

export const LOGS: Signal = {
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

/** What a reader does with what it reads. */
export interface RecordReader {
  /** Whether an attribute of this name is wanted; the values of others are not even decoded. */
  readonly wants: (attribute: string) => boolean;
  readonly onRecord: (record: TelemetryRecord) => void;
}

/** Bytes of an attribute's name: far more than any of the conventions has. Longer ones are not looked at. */
export const attributeNameBytesMax = 255;

/** What an event's name is called where it is an attribute, as it was before log records had a field for it. */
const EVENT_NAME = 'event.name';

/** The record that both encodings give, of its fields as they were sent. */
export function toRecord({
  traceId,
  spanId,
  eventName,
  timesNs,
  attributes,
  resource,
}: {
  readonly traceId: string;
  readonly spanId: string;
  readonly eventName: string;
  /** In the order of the signal's; some may be missing. */
  readonly timesNs: readonly (bigint | undefined)[];
  readonly attributes: Map<string, string>;
  readonly resource: TelemetryRecord['resource'];
}): TelemetryRecord {
  if (eventName !== '') attributes.set(EVENT_NAME, eventName);
  return { traceId, spanId, timeNs: timesNs.find((timeNs) => timeNs) ?? 0n, attributes, resource };
}
