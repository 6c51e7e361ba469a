import { deflateSync, gzipSync } from 'node:zlib';
import { ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import { ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QuestionSpanProcessor } from '../../../clients/javascript/src/opentelemetry.js';
import { ClockWatch } from '../../../src/app/jobs/clock-watch.js';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { otlpBytesMax, otlpRecordsMax } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import {
  errorOf,
  type KeyName,
  type Service,
  sharedService,
  startMs,
  startService,
} from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';
import {
  ASKED,
  bodyOf,
  JSON_TYPE,
  oddSpans,
  PROTOBUF,
  type Sent,
  type SignalName,
  spanId,
  TYPES,
  type Type,
  traceId,
} from '../../support/http/telemetry.js';
import { message } from '../../support/http/telemetry-reading.js';
import { by, databases, retainAll } from '../../support/storage/store.js';
import { randomCases } from '../../support/volume.js';

const SIGNALS = ['traces', 'logs'] as const;
const EVERY = SIGNALS.flatMap((signal) => TYPES.map((type) => [signal, type] as const));
const startNs = BigInt(startMs) * 1_000_000n;

const query = (number: number, more: Sent = {}): Sent => ({
  traceId: traceId(number),
  timeNs: startNs,
  ...more,
  attributes: { ...ASKED, ...more.attributes },
});

/** Sends spans, log records or a body. Default: with the recording key of `docs`. */
function post(
  { send, keys }: Service,
  signal: SignalName,
  type: Type,
  body: readonly Sent[] | Uint8Array,
  { key = 'recording', headers = {} }: { key?: KeyName; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return send({
    method: 'POST',
    path: `/v1/${signal}`,
    key: keys[key],
    headers: { 'content-type': type, ...headers },
    body: body instanceof Uint8Array ? body : bodyOf(signal, type, body),
  });
}

/** The partial success in a response, decoded by OpenTelemetry's own code; undefined after full success. */
function readPartialSuccess(signal: SignalName, type: Type, { bytes = new Uint8Array(), headers }: Answer) {
  expect(headers['content-type']).toBe(type === PROTOBUF ? PROTOBUF : 'application/json; charset=utf-8');
  if (type === JSON_TYPE)
    return (JSON.parse(Buffer.from(bytes).toString()) as { partialSuccess?: object }).partialSuccess;
  const serializer = signal === 'traces' ? ProtobufTraceSerializer : ProtobufLogsSerializer;
  return serializer.deserializeResponse(bytes).partialSuccess;
}

describe.each(EVERY)('%s as %s', (signal, type) => {
  const shared = sharedService();

  test('returns 400 for an invalid message and records nothing', async () => {
    const service = shared();
    const valid = bodyOf(signal, type, [query(1), query(2)]);
    const answer = await post(service, signal, type, valid.subarray(0, -1));
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(/^The body is not /)]);
    expect(service.calls.map(({ method }) => method)).not.toContain('record');
  });

  test('returns 413 for too many queries, not counting other spans and duplicates', async () => {
    const service = await startService({ limits: { batchQueriesMax: 3 } });
    const four = [1, 2, 3, 4].map((number) => query(number));
    const answer = await post(service, signal, type, four);
    expect([answer.status, errorOf(answer)]).toEqual([
      413,
      'The body has more than 3 queries; send fewer at a time.',
    ]);
    expect((await service.store.maintenance.verify()).queries).toBe(0);
    const others = Array.from({ length: 9 }, (_, n) => ({ traceId: traceId(n), attributes: { a: 1 } }));
    expect((await post(service, signal, type, [...four.slice(1), query(2), ...others])).status).toBe(200);
    expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 3 });
  });

  test('rejects and names invalid queries, records the valid ones and ignores other spans', async () => {
    const service = await startService();
    const { store } = service;
    const sent: Sent[] = [
      query(1, { attributes: { 'caller_stats.caller': 'slack' } }),
      query(2, { attributes: { 'caller_stats.caller': 'Not a name' } }),
      query(3, { timeNs: startNs + BigInt(dayMs) * 1_000_000n + 1_000_000n }),
      query(4, { timeNs: startNs - 5_000_000n + 999_999n, resource: { 'caller_stats.caller': 'web' } }),
      { traceId: traceId(5), attributes: { 'gen_ai.operation.name': 'embeddings' } },
    ];
    const answer = await post(service, signal, type, sent);
    expect(answer.status).toBe(200);
    const partial = readPartialSuccess(signal, type, answer) as Record<string, unknown>;
    const rejected = signal === 'traces' ? 'rejectedSpans' : 'rejectedLogRecords';
    expect(Number(partial[rejected])).toBe(2);
    expect(partial['errorMessage']).toMatch(
      new RegExp(
        `^Not recorded: ${traceId(2)}/b+1: caller: is not .* \\| ${traceId(3)}/b+1: occurredAt: lies more`,
      ),
    );
    expect(await store.counts.count('docs', ALL_TIME)).toEqual({ web: 1, api: 0, other: 1, total: 2 });
    const from = { from: startMs - 5, to: startMs - 4 };
    expect(await store.counts.count('docs', from)).toMatchObject({ web: 1, total: 1 });
    expect(service.log()).toContain('were rejected');
  });

  test('names only a few of many rejected queries, but returns their number', async () => {
    const service = shared();
    const bad = Array.from({ length: 200 }, (_, n) =>
      query(n, { attributes: { 'caller_stats.caller': 'é'.repeat(200) } }),
    );
    const partial = readPartialSuccess(signal, type, await post(service, signal, type, bad));
    expect(JSON.stringify(partial)).toMatch(/"?200"?.* \| and 195 more"/);
    expect(JSON.stringify(partial)).not.toContain('é');
  });

  test('counts duplicates once across requests, compression and keys, and returns an empty message', async () => {
    const service = await startService();
    const all = Array.from({ length: 20 }, (_, n) => query(n % 10));
    const admin = { key: 'admin', headers: { 'caller-stats-project': 'docs' } } as const;
    const answers = [
      await post(service, signal, type, all),
      await post(service, signal, type, all.slice(5), admin),
      await post(service, signal, type, gzipSync(bodyOf(signal, type, all)), {
        headers: { 'content-encoding': 'gzip', 'caller-stats-project': 'docs' },
      }),
      await post(service, signal, type, []),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(readPartialSuccess(signal, type, answer)).toBeUndefined();
      expect(answer.text).toBe(type === PROTOBUF ? '' : '{}');
    }
    expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ other: 10, total: 10 });
    expect(service.calls.filter(({ method }) => method === 'record')).toHaveLength(3);
  });

  test('returns 200 or 400 for any body', async () => {
    const service = shared();
    const valid = bodyOf(signal, type, [query(1, { attributes: { a: ['x', 'é'] } }), query(2)]);
    const seen = new Set<number>();
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc.nat({ max: valid.length }).map((length) => valid.subarray(0, length)),
      fc.tuple(fc.nat({ max: valid.length - 1 }), fc.nat({ max: 255 })).map(([at, value]) => {
        const changed = Uint8Array.from(valid);
        changed[at] = value;
        return changed;
      }),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (body) => {
        seen.add((await post(service, signal, type, body)).status);
      }),
      { numRuns: randomCases(300), examples: [[valid], [Uint8Array.of(0xff)]] },
    );
    expect([...seen].sort()).toEqual([200, 400]);
  });
});

test.each(databases)(
  'on %s, a query that arrives as spans and log records in both encodings counts once',
  async (_kind, newDatabase) => {
    const service = await startService({ database: newDatabase() });
    for (const [signal, type] of EVERY) {
      const answer = await post(service, signal, type, [query(1), query(2)]);
      expect([answer.status, readPartialSuccess(signal, type, answer)]).toEqual([200, undefined]);
    }
    expect((await service.store.maintenance.verify()).queries).toBe(2);
    expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 2 });
  },
);

describe('queries that share a trace', () => {
  const server = (number: number): Sent => ({
    spanId: spanId(100 + number),
    parentSpanId: spanId(1),
    hasRemoteParent: true,
    kind: SpanKind.SERVER,
    timeNs: startNs,
  });
  const model = (number: number, attributes = {}): Sent =>
    query(1, {
      spanId: spanId(200 + number),
      parentSpanId: spanId(100 + number),
      traceId: traceId(1),
      attributes: { 'gen_ai.operation.name': 'chat', ...attributes },
    });

  test('are told apart by the spans of the server, which arrive later', async () => {
    const service = await startService();
    const total = async () => (await service.store.counts.count('docs', ALL_TIME)).total;
    for (const number of [1, 2, 3]) await post(service, 'traces', PROTOBUF, [model(number)]);
    expect(await total()).toBe(1);
    await post(service, 'traces', JSON_TYPE, [server(1), server(2)]);
    expect(await total()).toBe(2);
    await post(service, 'traces', PROTOBUF, [server(3), server(3)]);
    expect(await total()).toBe(3);
    for (const number of [1, 2, 3]) await post(service, 'traces', JSON_TYPE, [server(number), model(number)]);
    expect(await total()).toBe(3);
  });

  test('are one if they have the same id, as a message that is sent twice', async () => {
    const service = await startService();
    const message = { 'ai.telemetry.metadata.messageId': 'msg-1' };
    await post(service, 'traces', PROTOBUF, [server(1), model(1, message)]);
    await post(service, 'traces', PROTOBUF, [{ ...model(2, message), traceId: traceId(2) }]);
    expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 1 });
    const [recorded] = service.calls.filter(({ method }) => method === 'record');
    expect(recorded?.parameters[1]).toMatchObject([{ id: 'msg-1' }]);
  });

  test('have the id and the caller that the span of the server names', async () => {
    const service = await startService();
    const attributes = { 'caller_stats.id': 'msg-1', 'caller_stats.caller': 'slack' };
    await post(service, 'traces', PROTOBUF, [model(1), { ...server(1), attributes }]);
    const [recorded] = service.calls.filter(({ method }) => method === 'record');
    expect(recorded?.parameters.slice(0, 2)).toEqual([
      'docs',
      [{ id: 'msg-1', caller: 'slack', occurredAt: startMs }],
    ]);
  });

  test('are one by --otlp-id trace', async () => {
    const service = await startService({ telemetry: { otlpId: 'trace' } });
    await post(service, 'traces', PROTOBUF, [model(1), server(1), model(2), server(2)]);
    expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 1 });
  });

  test('are not recorded by a request that is refused, nor by a later one', async () => {
    const service = await startService({ limits: { batchQueriesMax: 1 } });
    const two = [model(1, { 'caller_stats.id': 'a' }), model(2, { 'caller_stats.id': 'b' })];
    expect((await post(service, 'traces', PROTOBUF, two)).status).toBe(413);
    expect((await post(service, 'traces', PROTOBUF, [server(1)])).status).toBe(200);
    expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 0 });
  });
});

test('a question gets its caller although the clock was years ahead meanwhile', async () => {
  const monotonicMs = () => 0;
  const service = await startService({
    clockWatch: (clock) => {
      const watch = new ClockWatch({ clock, monotonicMs, log: { warn: () => {} } });
      watch.begin(undefined);
      return watch;
    },
  });
  await post(service, 'traces', PROTOBUF, [query(1)]);
  service.clock.nowMs += 3650 * dayMs;
  await post(service, 'traces', PROTOBUF, [query(2)]);
  service.clock.nowMs = startMs;
  await post(service, 'traces', PROTOBUF, [query(1, { attributes: { 'caller_stats.caller': 'web' } })]);
  expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 2, web: 1 });
});

test('only id, caller and time are recorded, and the day, key and service they came with', async () => {
  const service = await startService();
  await post(service, 'traces', PROTOBUF, [query(1, { attributes: { 'gen_ai.prompt': 'My secret' } })]);
  const [recorded] = service.calls.filter(({ method }) => method === 'record');
  const id = traceId(1).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  expect(recorded?.parameters).toEqual([
    'docs',
    [{ id, caller: 'unknown', occurredAt: startMs }],
    { day: Math.floor(startMs / dayMs), sender: expect.stringMatching(/^telemetry:[\w-]+:/) as unknown },
    // Its key was looked up: there is nothing left to prove.
    undefined,
  ]);
  expect(service.log()).not.toContain('My secret');
});

describe('retention', () => {
  const day = BigInt(dayMs) * 1_000_000n;

  test('rejects only the queries from before the retention period', async () => {
    const service = await startService();
    await service.store.directory.changeProject('default', 'docs', { retentionDays: 10 }, by);
    await retainAll(service.store, startMs);
    const answer = await post(service, 'traces', JSON_TYPE, [
      query(1),
      query(2, { timeNs: startNs - 11n * day }),
    ]);
    expect(readPartialSuccess('traces', JSON_TYPE, answer)).toEqual({
      rejectedSpans: '1',
      errorMessage: expect.stringContaining('occurredAt: lies before 2026-06-05T00:00:00.000Z') as string,
    });
    expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 1 });
  });
});

test.each([
  ['the store is unavailable', 'unavailable'],
  ['the retention period changes during the request', 'invalid'],
] as const)('returns 503, so that exporters repeat the request, if %s', async (_what, code) => {
  const service = await startService();
  service.watched.before = async (method) => {
    if (method === 'record') throw new CallerStatsError(code, 'Not now.');
  };
  const answer = await post(service, 'logs', PROTOBUF, [query(1)]);
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
});

describe.each(TYPES)('large bodies as %s are counted', (type) => {
  const shared = sharedService();
  const prompt = 'x'.repeat(60_000);

  test.each<[what: string, number: number, spans: (at: number) => Sent[]]>([
    [
      '90 queries with documents in each of their prompts',
      90,
      (at) =>
        [0, 1].map((step) =>
          query(at, { spanId: spanId(step + 1), attributes: { 'ai.prompt': `${prompt}${prompt}` } }),
        ),
    ],
    ['batches of 8,192 small spans', 8_192, (at) => [query(at)]],
    [
      '20 queries of ten steps',
      20,
      (at) =>
        Array.from({ length: 10 }, (_, step) =>
          query(at, { spanId: spanId(step + 1), attributes: { 'ai.prompt': prompt } }),
        ),
    ],
  ])('%s', async (what, number, spans) => {
    const service = shared();
    const first = what.length * 100_000;
    const sent = Array.from({ length: number }, (_, at) => spans(first + at)).flat();
    const before = await service.store.counts.count('docs', ALL_TIME);
    const body = deflateSync(bodyOf('traces', type, sent));
    const answer = await post(service, 'traces', type, body, { headers: { 'content-encoding': 'deflate' } });
    expect([answer.status, readPartialSuccess('traces', type, answer)]).toEqual([200, undefined]);
    const { total } = await service.store.counts.count('docs', ALL_TIME);
    expect(total - before.total).toBe(number);
  });

  test('but not with more than 64 MB, and the answer says what helps', async () => {
    const service = shared();
    const body = gzipSync(Buffer.alloc(otlpBytesMax + 1, type === JSON_TYPE ? ' ' : Buffer.of(0x78, 0)));
    const answer = await post(service, 'traces', type, body, { headers: { 'content-encoding': 'gzip' } });
    expect([answer.status, errorOf(answer)]).toEqual([
      413,
      expect.stringMatching(/send fewer (spans )?at a time/),
    ]);
  });

  test('nor with more than 100,000 spans, wherever their resource is', async () => {
    const spans = Buffer.alloc(2 * (otlpRecordsMax + 1), Buffer.of(0x12, 0));
    const body =
      type === JSON_TYPE
        ? Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(otlpRecordsMax)}{}]}]}]}`)
        : message([1, message([2, spans])]);
    const answer = await post(shared(), 'traces', type, body);
    expect([answer.status, errorOf(answer)]).toEqual([
      413,
      `The body has more than ${otlpRecordsMax} spans; send fewer at a time.`,
    ]);
  });
});

test('one odd span costs no other, and numeric ids are read', async () => {
  const service = await startService();
  const answer = await post(service, 'traces', JSON_TYPE, oddSpans(startNs));
  expect(readPartialSuccess('traces', JSON_TYPE, answer)).toEqual({
    rejectedSpans: '3',
    errorMessage: expect.stringMatching(
      /^Not recorded: record 3 of the request: startTimeUnixNano is .* \| record 4 of the request: parentSpanId is/,
    ) as string,
  });
  expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ other: 7, total: 7 });

  const named = [7, 7.5, 7].map((id, at) => query(20 + at, { attributes: { 'caller_stats.id': id } }));
  for (const type of TYPES) await post(service, 'traces', type, named);
  expect(await service.store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 9 });
});

test.each(TYPES)('metrics as %s are accepted and dropped', async (type) => {
  const { send, keys, calls } = await startService();
  const body = type === PROTOBUF ? Buffer.from([0x0a, 0]) : '{"resourceMetrics":[]}';
  const headers = { 'content-type': type };
  const answer = await send({ method: 'POST', path: '/v1/metrics', key: keys.recording, headers, body });
  expect([answer.status, answer.text]).toEqual([200, type === PROTOBUF ? '' : '{}']);
  expect(calls.map(({ method }) => method).filter((method) => method === 'record')).toEqual([]);
});

test('rejected spans are logged at most once in ten seconds', async () => {
  const service = await startService();
  const invalid = [query(1, { attributes: { 'caller_stats.caller': 'É' } })];
  const lines = () => service.log().split('were rejected').length - 1;
  for (let times = 0; times < 5; times++)
    expect((await post(service, 'traces', JSON_TYPE, invalid)).status).toBe(200);
  expect(lines()).toBe(1);
  service.clock.nowMs += 10_000;
  await post(service, 'traces', JSON_TYPE, invalid);
  expect(lines()).toBe(2);
  expect(service.log()).toContain('"unwritten":4');
});

test('spans with the span processor of the client that arrive alone, those below first, count with their id and caller', async () => {
  const service = await startService({
    nowMs: Date.now(),
    telemetry: { otlpSiteOrigins: 'https://docs.example.com' },
  });
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new QuestionSpanProcessor(), new SimpleSpanProcessor(exporter)];
  const tracer = new BasicTracerProvider({ spanProcessors }).getTracer('test');
  const below = (span: Span) => trace.setSpan(ROOT_CONTEXT, span);
  const request = { 'http.request.header.origin': ['https://docs.example.com'] };
  // The second message is sent again: its two answers are one question.
  for (const id of ['m1', 'm2', 'm2']) {
    const server = tracer.startSpan('POST /ask', {
      kind: SpanKind.SERVER,
      attributes: { ...request, 'caller_stats.id': id },
    });
    const title = tracer.startSpan('title', { attributes: { 'caller_stats.ignore': true } }, below(server));
    for (const parent of [server, title])
      tracer.startSpan('chat', { attributes: ASKED }, below(parent)).end();
    title.end();
    server.end();
  }
  for (const span of exporter.getFinishedSpans()) {
    const body = ProtobufTraceSerializer.serializeRequest([span]) ?? new Uint8Array();
    const answer = await post(service, 'traces', PROTOBUF, body);
    expect(answer.status).toBe(200);
  }
  const { text } = await service.send();
  expect(JSON.parse(text)).toEqual({ web: 2, api: 0, other: 0, total: 2 });
});
