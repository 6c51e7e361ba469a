import { gzipSync } from 'node:zlib';
import { ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { CallerStatsError } from '../../src/domain/errors.js';
import { errorOf, type KeyName, type Service, startMs, startService } from '../support/http.js';
import type { Answer } from '../support/http-checks.js';
import { by, newSchemaIn, retainAll } from '../support/store.js';
import {
  ASKED,
  bodyOf,
  JSON_TYPE,
  PROTOBUF,
  type Sent,
  type SignalName,
  TYPES,
  type Type,
  traceId,
} from '../support/telemetry.js';

const SIGNALS = ['traces', 'logs'] as const;
const EVERY = SIGNALS.flatMap((signal) => TYPES.map((type) => [signal, type] as const));
const startNs = BigInt(startMs) * 1_000_000n;

const asked = (number: number, more: Sent = {}): Sent => ({
  traceId: traceId(number),
  timeNs: startNs,
  ...more,
  attributes: { ...ASKED, ...more.attributes },
});

/** Sends spans or log records, or a body, with the recording key of `docs` unless told. */
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

/** What an answer says in its own encoding, read by OpenTelemetry's own code: undefined for full success. */
function partialSuccess(signal: SignalName, type: Type, { bytes = new Uint8Array(), headers }: Answer) {
  expect(headers['content-type']).toBe(type === PROTOBUF ? PROTOBUF : 'application/json; charset=utf-8');
  if (type === JSON_TYPE)
    return (JSON.parse(Buffer.from(bytes).toString()) as { partialSuccess?: object }).partialSuccess;
  const serializer = signal === 'traces' ? ProtobufTraceSerializer : ProtobufLogsSerializer;
  return serializer.deserializeResponse(bytes).partialSuccess;
}

describe.each(EVERY)('%s as %s', (signal, type) => {
  test('what is no message of OTLP: 400, and nothing is recorded', async () => {
    const service = await startService();
    const valid = bodyOf(signal, type, [asked(1), asked(2)]);
    const answer = await post(service, signal, type, valid.subarray(0, -1));
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(/^The body is not /)]);
    expect((await service.store.verify()).queries).toBe(0);
  });

  test('more queries than are taken at once: 413; spans and repeats are not counted as such', async () => {
    const service = await startService({ limits: { batchQueriesMax: 3 } });
    const four = [1, 2, 3, 4].map((number) => asked(number));
    const answer = await post(service, signal, type, four);
    expect([answer.status, errorOf(answer)]).toEqual([
      413,
      'The body has more than 3 queries; send fewer at a time.',
    ]);
    expect((await service.store.verify()).queries).toBe(0);
    const others = Array.from({ length: 9 }, (_, n) => ({ traceId: traceId(n), attributes: { a: 1 } }));
    expect((await post(service, signal, type, [...four.slice(1), asked(2), ...others])).status).toBe(200);
    expect(await service.store.count('docs', ALL_TIME)).toMatchObject({ total: 3 });
  });

  test('invalid queries are rejected and named, the others are on disk, what is none is accepted', async () => {
    const service = await startService();
    const { store } = service;
    const sent: Sent[] = [
      asked(1, { attributes: { 'caller_stats.caller': 'slack' } }),
      asked(2, { attributes: { 'caller_stats.caller': 'Not a name' } }),
      asked(3, { timeNs: startNs + 86_400_000n * 1_000_000n + 1_000_000n }),
      asked(4, { timeNs: startNs - 5_000_000n + 999_999n, resource: { 'caller_stats.caller': 'web' } }),
      { traceId: traceId(5), attributes: { 'gen_ai.operation.name': 'chat' } },
    ];
    const answer = await post(service, signal, type, sent);
    expect(answer.status).toBe(200);
    const partial = partialSuccess(signal, type, answer) as Record<string, unknown>;
    const rejected = signal === 'traces' ? 'rejectedSpans' : 'rejectedLogRecords';
    expect(Number(partial[rejected])).toBe(2);
    expect(partial['errorMessage']).toMatch(
      new RegExp(
        `^Not recorded: ${traceId(2)}/b+1: caller: is not .* \\| ${traceId(3)}/b+1: occurredAt: lies more`,
      ),
    );
    expect(await store.count('docs', ALL_TIME)).toEqual({ web: 1, api: 0, other: 1, total: 2 });
    const from = { from: startMs - 5, to: startMs - 4 };
    expect(await store.count('docs', from)).toMatchObject({ web: 1, total: 1 });
    expect(service.log()).toContain('were rejected');
  });

  test('more than a few rejected: as many are said, a few are named', async () => {
    const service = await startService();
    const bad = Array.from({ length: 200 }, (_, n) =>
      asked(n, { attributes: { 'caller_stats.caller': 'é'.repeat(200) } }),
    );
    const partial = partialSuccess(signal, type, await post(service, signal, type, bad));
    expect(JSON.stringify(partial)).toMatch(/"?200"?.* \| and 195 more"/);
    expect(JSON.stringify(partial)).not.toContain('é');
  });

  test('repeated, in part, packed, with either key: each counts once, and the answer is the empty message', async () => {
    const service = await startService();
    const all = Array.from({ length: 20 }, (_, n) => asked(n % 10));
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
      expect(partialSuccess(signal, type, answer)).toBeUndefined();
      expect(answer.text).toBe(type === PROTOBUF ? '' : '{}');
    }
    expect(await service.store.count('docs', ALL_TIME)).toMatchObject({ other: 10, total: 10 });
    expect(service.calls.filter(({ method }) => method === 'record')).toHaveLength(3);
  });
});

const databases = [
  ['SQLite', undefined],
  ...inject('postgresServers').map(({ version, url }) => [`PostgreSQL ${version}`, url] as const),
] as const;

test.each(databases)(
  "%s: a question that comes as spans and as log records, in both encodings, is one query of the key's own project",
  async (_kind, url) => {
    const service = await startService(url === undefined ? {} : { database: newSchemaIn(url) });
    for (const [signal, type] of EVERY) {
      const answer = await post(service, signal, type, [asked(1), asked(2)]);
      expect([answer.status, partialSuccess(signal, type, answer)]).toEqual([200, undefined]);
    }
    expect((await service.store.verify()).queries).toBe(2);
    expect(await service.store.count('docs', ALL_TIME)).toMatchObject({ total: 2 });
  },
);

test('nothing but id, caller and time is kept', async () => {
  const service = await startService();
  await post(service, 'traces', PROTOBUF, [asked(1, { attributes: { 'gen_ai.prompt': 'My secret' } })]);
  const [recorded] = service.calls.filter(({ method }) => method === 'record');
  const id = traceId(1).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  expect(recorded?.parameters).toEqual(['docs', [{ id, caller: 'unknown', occurredAt: startMs }]]);
  expect(service.log()).not.toContain('My secret');
});

describe('retention', () => {
  const day = 86_400_000n * 1_000_000n;

  test('a query from before the rows that are kept is rejected alone', async () => {
    const service = await startService();
    await service.store.changeProject('default', 'docs', { retentionDays: 10 }, by);
    await retainAll(service.store, startMs);
    const answer = await post(service, 'traces', JSON_TYPE, [
      asked(1),
      asked(2, { timeNs: startNs - 11n * day }),
    ]);
    expect(partialSuccess('traces', JSON_TYPE, answer)).toEqual({
      rejectedSpans: '1',
      errorMessage: expect.stringContaining('occurredAt: lies before 2026-06-05T00:00:00.000Z') as string,
    });
    expect(await service.store.count('docs', ALL_TIME)).toMatchObject({ total: 1 });
  });

  test('where it moves on meanwhile, the exporter is told to come back', async () => {
    const service = await startService();
    service.watched.before = async (method) => {
      if (method === 'record') throw new CallerStatsError('invalid', 'Older than the rows.');
    };
    const answer = await post(service, 'traces', JSON_TYPE, [asked(1)]);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  });
});

test('a store that is away is 503, which exporters repeat', async () => {
  const service = await startService();
  service.watched.before = async (method) => {
    if (method === 'record') throw new CallerStatsError('unavailable', 'The store is busy.');
  };
  expect((await post(service, 'logs', PROTOBUF, [asked(1)])).status).toBe(503);
});

test.each(TYPES)('metrics as %s are taken and dropped', async (type) => {
  const { send, keys, calls } = await startService();
  const body = type === PROTOBUF ? Buffer.from([0x0a, 0]) : '{"resourceMetrics":[]}';
  const headers = { 'content-type': type };
  const answer = await send({ method: 'POST', path: '/v1/metrics', key: keys.recording, headers, body });
  expect([answer.status, answer.text]).toEqual([200, type === PROTOBUF ? '' : '{}']);
  expect(calls.map(({ method }) => method).filter((method) => method === 'record')).toEqual([]);
});

test.each(EVERY)('%s as %s: whatever comes is 200 or 400', async (signal, type) => {
  const service = await startService();
  const valid = bodyOf(signal, type, [asked(1, { attributes: { a: ['x', 'é'] } }), asked(2)]);
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
    { numRuns: 300 },
  );
  expect([...seen].sort()).toEqual([200, 400]);
});

test('spans that are rejected again and again are in the log once in ten seconds', async () => {
  const service = await startService();
  const invalid = [asked(1, { attributes: { 'caller_stats.caller': 'É' } })];
  const lines = () => service.log().split('were rejected').length - 1;
  for (let times = 0; times < 5; times++)
    expect((await post(service, 'traces', JSON_TYPE, invalid)).status).toBe(200);
  expect(lines()).toBe(1);
  service.clock.nowMs += 10_000;
  await post(service, 'traces', JSON_TYPE, invalid);
  expect(lines()).toBe(2);
  expect(service.log()).toContain('"unwritten":4');
});
