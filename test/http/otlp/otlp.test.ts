/** Reads both encodings of OTLP as OpenTelemetry's own encoders write them. */
import { SpanKind } from '@opentelemetry/api';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bodyOf,
  JSON_TYPE,
  PROTOBUF,
  type Sent,
  spanId,
  type Type,
  traceId,
} from '../../support/http/telemetry.js';
import { bytes, message, read } from '../../support/http/telemetry-reading.js';

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const scalar = fc.oneof(text, fc.boolean(), fc.maxSafeInteger());
const attributes = fc.dictionary(
  fc.oneof(
    fc.stringMatching(/^[a-z._]{1,20}$/),
    fc.constant('unwanted.prompt'),
    fc.constant('k'.repeat(256)),
  ),
  fc.oneof(scalar, fc.array(text, { maxLength: 3 }), fc.array(fc.boolean(), { maxLength: 3 })),
  { maxKeys: 4 },
);
const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
const time = fc.bigInt({ min: 0n, max: 2n ** 63n });
const anySent = fc.record(
  {
    traceId: hex(32),
    spanId: hex(16),
    timeNs: time,
    observedNs: time,
    eventName: text,
    attributes,
    resource: attributes,
    parentSpanId: hex(16),
    kind: fc.constantFrom(SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CONSUMER),
    name: fc.oneof(fc.string(), fc.constant('/ws websocket receive')),
    hasRemoteParent: fc.boolean(),
  },
  { requiredKeys: ['traceId', 'spanId'] },
);

test.each(['traces', 'logs'] as const)('%s in JSON and in protobuf give the same records', (signal) => {
  let met = 0;
  fc.assert(
    fc.property(fc.array(anySent, { maxLength: 6 }), (sent) => {
      const [json = [], protobuf = []] = [JSON_TYPE, PROTOBUF].map((type) =>
        read(signal, type as Type, bodyOf(signal, type as Type, sent)),
      );
      expect(protobuf).toEqual(json);
      met += json.length;
    }),
    { numRuns: 500 },
  );
  expect(met).toBeGreaterThan(0);
});

describe('records are read from', () => {
  const one: Sent = {
    traceId: traceId(5),
    spanId: spanId(6),
    timeNs: 1_700_000_000_123_456_789n,
    attributes: {
      text: 'a',
      number: -5,
      yes: true,
      list: ['x', 'y'],
      double: 1.5,
      unwanted: 'prompt',
      ['k'.repeat(255)]: 'longest',
      ['k'.repeat(256)]: 'too long',
    },
    resource: { 'service.name': 'docs' },
  };
  const expected = {
    traceId: traceId(5),
    spanId: spanId(6),
    parentSpanId: '',
    name: 'invoke_agent docs',
    isConsumer: false,
    isEntry: false,
    isLog: false,
    timeNs: 1_700_000_000_123_456_789n,
    attributes: new Map([
      ['text', 'a'],
      ['number', '-5'],
      ['yes', 'true'],
      ['list', 'x, y'],
      ['double', '1.5'],
      ['k'.repeat(255), 'longest'],
    ]),
    resource: new Map([['service.name', 'docs']]),
  };
  test.each([JSON_TYPE, PROTOBUF] as const)('%s', (type) => {
    expect(read('traces', type, bodyOf('traces', type, [one]))).toEqual([expected]);
    const observed = { ...one, timeNs: 0n, observedNs: 7n, eventName: 'asked' };
    expect(read('logs', type, bodyOf('logs', type, [one, observed]))).toEqual([
      { ...expected, name: '', isLog: true },
      {
        ...expected,
        name: '',
        isLog: true,
        timeNs: 7n,
        attributes: new Map([...expected.attributes, ['event.name', 'asked']]),
      },
    ]);
    expect(read('traces', type, type === PROTOBUF ? bytes() : Buffer.from('{}'))).toEqual([]);
  });

  test.each([JSON_TYPE, PROTOBUF] as const)('%s, of a wait for a message with its end', (type) => {
    const waiting = { ...one, name: '/ws websocket receive' };
    const [record] = read('traces', type, bodyOf('traces', type, [waiting]));
    expect(record?.endNs).toBe(1_700_000_001_623_456_789n);
  });

  const inProcess = { kind: SpanKind.CONSUMER, name: 'autogen process planner' };
  test.each([
    ['a local span', {}, false],
    ["a server's span", { kind: SpanKind.SERVER }, true],
    ['a span with a parent in another process', { hasRemoteParent: true }, true],
    ["a consumer's span", { kind: SpanKind.CONSUMER }, true],
    ["a consumer's span of AutoGen's runtime in one process", inProcess, false],
    ["a consumer's span of Semantic Kernel's", { ...inProcess, name: 'agent_runtime process a' }, false],
    ["a consumer's span of AutoGen's runtime of many", { ...inProcess, hasRemoteParent: true }, true],
  ])('%s, which begins the work of a server or not', (_what, more, isEntry) => {
    const sent = { ...one, parentSpanId: spanId(9), ...more };
    const { name = expected.name, kind } = { kind: undefined, name: undefined, ...more };
    const isConsumer = kind === SpanKind.CONSUMER;
    for (const type of [JSON_TYPE, PROTOBUF] as const) {
      const records = read('traces', type, bodyOf('traces', type, [sent]));
      expect(records).toEqual([{ ...expected, parentSpanId: spanId(9), name, isEntry, isConsumer }]);
    }
  });

  test('a long name is cut, and one that is not a text names nothing', () => {
    const long = { ...one, name: 'n'.repeat(100_000) };
    for (const type of [JSON_TYPE, PROTOBUF] as const) {
      const [record] = read('traces', type, bodyOf('traces', type, [long]));
      expect(record?.name).toMatch(/^n{255}.$/u);
    }
    const odd = { traceId: traceId(5), name: 7, attributes: [{ key: 'a', value: { intValue: 7 } }] };
    const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [odd] }] }] });
    expect(read('traces', JSON_TYPE, Buffer.from(body))).toMatchObject([{ name: '' }]);
  });

  test('JSON with names in snake_case, those of enum values, and those of before 2022', () => {
    const span = {
      trace_id: traceId(5),
      span_id: spanId(6),
      parent_span_id: spanId(7),
      start_time_unix_nano: '1.5e18',
      kind: 'SPAN_KIND_CONSUMER',
      attributes: [
        { key: 'a', value: { array_value: { values: [{ string_value: 'x' }, { int_value: 1 }] } } },
      ],
    };
    for (const scopes of ['scope_spans', 'instrumentationLibrarySpans', 'instrumentation_library_spans']) {
      const body = Buffer.from(JSON.stringify({ resource_spans: [{ [scopes]: [{ spans: [span] }] }] }));
      expect(read('traces', JSON_TYPE, body)).toMatchObject([
        {
          ...{ traceId: traceId(5), spanId: spanId(6), parentSpanId: spanId(7), isEntry: true },
          ...{ timeNs: 15n * 10n ** 17n, attributes: new Map([['a', 'x, 1']]) },
        },
      ]);
    }
    const record = { trace_id: traceId(5), time_unix_nano: 7, event_name: 'asked' };
    const logs = [
      { scope_logs: [{ log_records: [record] }] },
      { instrumentationLibraryLogs: [{ logs: [record] }] },
    ];
    const body = Buffer.from(JSON.stringify({ resource_logs: logs }));
    const read7 = { traceId: traceId(5), timeNs: 7n, attributes: new Map([['event.name', 'asked']]) };
    expect(read('logs', JSON_TYPE, body)).toMatchObject([read7, read7]);
  });

  test('JSON with upper-case ids, numbers, nulls and unknown fields', () => {
    const span = {
      traceId: 'ABC',
      spanId: null,
      startTimeUnixNano: 5,
      flags: {},
      kind: 'SPAN_KIND_SERVER',
      trace_id: 1,
      attributes: [{ key: 'a', value: { intValue: 7 } }, { key: 'b' }, { key: 'c', value: {} }, {}],
    };
    const body = { more: 1, resourceSpans: [{ resource: null, scopeSpans: [{ spans: [span] }] }] };
    expect(read('traces', JSON_TYPE, Buffer.from(JSON.stringify(body)))).toEqual([
      {
        traceId: 'abc',
        spanId: '',
        parentSpanId: '',
        name: '',
        isConsumer: false,
        isEntry: true,
        isLog: false,
        timeNs: 5n,
        attributes: new Map([['a', '7']]),
        resource: new Map(),
      },
    ]);
  });

  test('protobuf with unknown fields, and a resource after its spans', () => {
    const key = message([2, message([1, Buffer.from('v')])], [1, Buffer.from('a')], [77, bytes(1)]);
    const scope = message([2, message([9, key], [78, bytes(2)])]);
    const old = message([1000, message()], [1000, scope]);
    expect(read('traces', PROTOBUF, message([1, old]))).toHaveLength(1);
    const body = message([99, bytes(3)], [1, message([2, scope], [1, message([1, key])])]);
    const both = new Map([['a', 'v']]);
    expect(read('traces', PROTOBUF, body)).toEqual([
      {
        traceId: '',
        spanId: '',
        parentSpanId: '',
        name: '',
        isConsumer: false,
        isEntry: false,
        isLog: false,
        timeNs: 0n,
        attributes: both,
        resource: both,
      },
    ]);
  });
});
