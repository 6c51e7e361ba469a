/** Spans and log records for tests, encoded by OpenTelemetry's own code. */
import { type Attributes, type HrTime, SpanKind } from '@opentelemetry/api';
import {
  JsonLogsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** A span or log record to send; what is left out is usual. */
export interface Sent {
  readonly traceId?: string;
  readonly spanId?: string;
  /** Nanoseconds since 1970; of a log record, 0 leaves the observed time alone. */
  readonly timeNs?: bigint;
  readonly observedNs?: bigint;
  readonly eventName?: string;
  readonly attributes?: Attributes;
  readonly resource?: Attributes;
  /** Of a span; the others default to a local one without a parent. */
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly kind?: SpanKind;
  readonly hasRemoteParent?: boolean;
}

export const JSON_TYPE = 'application/json';
export const PROTOBUF = 'application/x-protobuf';
export const TYPES = [JSON_TYPE, PROTOBUF] as const;
export type Type = (typeof TYPES)[number];
export type SignalName = 'traces' | 'logs';

export const traceId = (number: number) => number.toString(16).padStart(32, 'a');
export const spanId = (number: number) => number.toString(16).padStart(16, 'b');
/** The query's id that a trace's is by default. */
export const uuidOf = (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** What an agent's run is marked with. */
export const ASKED = { 'gen_ai.operation.name': 'invoke_agent' };

/** The body that an official exporter would send of these. */
export function bodyOf(signal: SignalName, type: Type, sent: readonly Sent[]): Uint8Array {
  const serialized =
    signal === 'traces'
      ? (type === PROTOBUF ? ProtobufTraceSerializer : JsonTraceSerializer).serializeRequest(sent.map(spanOf))
      : (type === PROTOBUF ? ProtobufLogsSerializer : JsonLogsSerializer).serializeRequest(sent.map(logOf));
  if (serialized === undefined) throw new Error('it cannot be encoded');
  return serialized;
}

/**
 * Ten spans in JSON: one with invalid UTF-8 and all with a number over 2^53, which are read; the third, fourth and fifth have a
 * time or a parent that cannot be.
 */
export function oddSpans(startNs: bigint): Uint8Array {
  const spans = Array.from({ length: 10 }, (_, at) => ({
    traceId: traceId(at),
    spanId: spanId(1),
    startTimeUnixNano: String(startNs),
    attributes: [
      { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
      { key: 'user_agent.original', value: { stringValue: at === 1 ? '@' : 'Slackbot' } },
      { key: 'ai.telemetry.metadata.size', value: { intValue: 2 ** 60 } },
    ],
    ...(at === 2 && { startTimeUnixNano: -1 }),
    ...(at === 3 && { parentSpanId: 7 }),
    ...(at === 4 && { startTimeUnixNano: 'soon' }),
  }));
  const text = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  return Buffer.from(text).fill(0xff, text.indexOf('@'), text.indexOf('@') + 1);
}

const instrumentationScope = { name: 'test', version: '1' };

function spanOf({ attributes = {}, resource = {}, timeNs = 0n, ...rest }: Sent): ReadableSpan {
  const { parentSpanId, hasRemoteParent = false } = rest;
  const { name = 'invoke_agent docs', kind = SpanKind.INTERNAL } = rest;
  return {
    name,
    kind,
    spanContext: () => contextOf(rest),
    ...(parentSpanId !== undefined && {
      parentSpanContext: { ...contextOf({ ...rest, spanId: parentSpanId }), isRemote: hasRemoteParent },
    }),
    startTime: hrTimeOf(timeNs),
    endTime: hrTimeOf(timeNs + 1_500_000_000n),
    duration: [1, 500_000_000],
    status: { code: 0 },
    attributes,
    links: [{ context: contextOf({}), attributes: { 'caller_stats.caller': 'linked' } }],
    events: [{ name: 'gen_ai.choice', time: hrTimeOf(timeNs), attributes: { ...ASKED, answer: '42' } }],
    ended: true,
    resource: resourceFromAttributes(resource),
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function logOf({
  attributes = {},
  resource = {},
  timeNs = 0n,
  observedNs = 0n,
  ...rest
}: Sent): ReadableLogRecord {
  return {
    hrTime: hrTimeOf(timeNs),
    hrTimeObserved: hrTimeOf(observedNs),
    ...(rest.traceId === '' ? {} : { spanContext: contextOf(rest) }),
    ...(rest.eventName === undefined ? {} : { eventName: rest.eventName }),
    body: { question: 'What is a span?', nested: [{ deeper: [1, 2.5, true] }] },
    attributes,
    resource: resourceFromAttributes(resource),
    instrumentationScope,
    droppedAttributesCount: 0,
  };
}

function contextOf(ids: Pick<Sent, 'traceId' | 'spanId'>) {
  return { traceId: ids.traceId ?? traceId(1), spanId: ids.spanId ?? spanId(1), traceFlags: 1 };
}

function hrTimeOf(timeNs: bigint): HrTime {
  return [Number(timeNs / 1_000_000_000n), Number(timeNs % 1_000_000_000n)];
}
