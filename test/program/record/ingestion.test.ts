/** Ingestion diagnostics: whatever arrives is counted by its source, over all processes, and nothing else is kept. */
import { describe, expect, test } from 'vitest';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { operationCharactersMax } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { Metrics } from '../../../src/observability/metrics/metrics.js';
import { QUERIES, type Service, startMs, startService } from '../../support/http/http.js';
import { readMetrics, sumOf } from '../../support/http/metrics.js';
import {
  bodyOf,
  JSON_TYPE,
  PROTOBUF,
  type Sent,
  type SignalName,
  spanId,
  traceId,
} from '../../support/http/telemetry.js';
import { databases } from '../../support/storage/store.js';

const INGESTION = '/v1/analytics/docs/assistant/ingestion';

interface Report {
  readonly otlpQuery: string;
  readonly sources: readonly {
    readonly kind: string;
    readonly name: string;
    readonly lastSeenAt: string;
    readonly lastHour: Readonly<Record<string, unknown>>;
    readonly lastDay: Readonly<Record<string, unknown>>;
  }[];
}

async function report({ send }: Pick<Service, 'send'>): Promise<Report> {
  const answer = await send({ path: INGESTION });
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text) as Report;
}

const counts = (more: object) => ({
  ...{ requests: 0, refused: 0, arrived: 0, recorded: 0, duplicates: 0, rejected: 0, unmatched: 0 },
  unmatchedValues: [],
  ...more,
});

function post(
  { send, keys }: Service,
  signal: SignalName,
  sent: readonly Sent[] | Uint8Array,
  headers: Record<string, string> = {},
) {
  return send({
    method: 'POST',
    path: `/v1/${signal}`,
    key: keys.recording,
    headers: { 'content-type': PROTOBUF, ...headers },
    body: sent instanceof Uint8Array ? sent : bodyOf(signal, PROTOBUF, sent),
  });
}

const docs = { 'service.name': 'docs' };
const span = (number: number, attributes: Sent['attributes'] = {}, more: Sent = {}): Sent => ({
  traceId: traceId(number),
  spanId: spanId(number),
  timeNs: BigInt(startMs) * 1_000_000n,
  resource: docs,
  ...more,
  attributes,
});
const chat = { 'gen_ai.operation.name': 'chat' };

describe('the operation', () => {
  test('refuses recording keys, parameters and projects of others', async () => {
    const { send, keys } = await startService();
    expect((await send({ path: INGESTION, key: null })).status).toBe(401);
    expect((await send({ path: INGESTION, key: keys.recording })).status).toBe(401);
    expect((await send({ path: INGESTION, key: keys.rivalAdmin })).status).toBe(404);
    expect((await send({ path: `${INGESTION}?x=1` })).status).toBe(400);
    expect((await send({ path: INGESTION, method: 'POST' })).status).toBe(405);
  });

  test('knows no source before anything arrived', async () => {
    const service = await startService();
    expect(await report(service)).toEqual({
      hourFrom: new Date(startMs - 3_600_000).toISOString(),
      dayFrom: new Date(startMs - dayMs).toISOString(),
      otlpQuery: 'default',
      sources: [],
    });
  });
});

test('spans count by service, with the operations of those without a rule and the rule for them', async () => {
  const service = await startService();
  const prompt = 'Tell me everything about spans. '.repeat(10);
  await post(service, 'traces', [
    span(1, chat),
    span(1, chat, { spanId: spanId(9) }),
    span(2, { ...chat, 'caller_stats.caller': 'Not a name' }),
    span(3, { 'http.route': '/api/ask', 'gen_ai.prompt': prompt }),
    span(4, { 'http.route': '/api/ask' }),
    span(5, { 'gen_ai.operation.name': 'embeddings', 'operation.name': prompt }),
    span(6, chat, { resource: {} }),
  ]);
  await post(service, 'traces', [span(1, chat)]);
  const { sources } = await report(service);
  const window = counts({
    ...{ requests: 2, arrived: 7, recorded: 1, duplicates: 2, rejected: 1, unmatched: 3 },
    unmatchedValues: [
      { attribute: 'http.route', value: '/api/ask', count: 2, otlpQuery: 'default;http.route=/api/ask' },
      { attribute: 'gen_ai.operation.name', value: 'embeddings', count: 1, otlpQuery: null },
    ],
  });
  const lastSeenAt = new Date(startMs).toISOString();
  const unknown = counts({ requests: 1, arrived: 1, recorded: 1 });
  expect(sources).toEqual([
    { kind: 'traces', name: '(unknown)', lastSeenAt, lastHour: unknown, lastDay: unknown },
    { kind: 'traces', name: 'docs', lastSeenAt, lastHour: window, lastDay: window },
  ]);
  expect(prompt.length).toBeGreaterThan(operationCharactersMax);
  expect(JSON.stringify(sources)).not.toContain('Tell me');
});

test('the rule that is suggested accepts what matched none', async () => {
  const first = await startService();
  await post(first, 'logs', [span(1, {}, { eventName: 'docs.question' })]);
  const [source] = (await report(first)).sources;
  const [value] = (source?.lastHour['unmatchedValues'] ?? []) as { readonly otlpQuery: string }[];
  expect(value?.otlpQuery).toBe('default;event.name=docs.question');
  const service = await startService({ telemetry: { otlpQuery: value?.otlpQuery ?? '' } });
  await post(service, 'logs', [span(1, {}, { eventName: 'docs.question' })]);
  const [accepted] = (await report(service)).sources;
  expect(accepted).toMatchObject({ kind: 'logs', lastHour: { arrived: 1, recorded: 1, unmatched: 0 } });
});

test('requests that are refused count, whatever is wrong with them', async () => {
  const service = await startService({ limits: { batchQueriesMax: 3 } });
  const { send, keys } = service;
  await post(service, 'traces', Uint8Array.of(0xff));
  await post(service, 'traces', [], { 'content-encoding': 'br' });
  await post(
    service,
    'traces',
    [1, 2, 3, 4].map((number) => span(number, chat)),
  );
  // Requests without a valid key are not counted.
  await send({ method: 'POST', path: '/v1/traces', key: keys.expired });
  const query = { id: 'a', caller: 'web' };
  const record = (body: unknown, type = JSON_TYPE) =>
    send({
      method: 'POST',
      path: QUERIES,
      key: keys.recording,
      headers: { 'content-type': type },
      body: JSON.stringify(body),
    });
  await record([query, query, { id: 'b', caller: 'slack' }]);
  await record(query);
  await record([query, { id: 'b' }]);
  await record(query, 'text/plain');
  await record(Array.from({ length: 4 }, () => query));
  const { sources } = await report(service);
  expect(sources.map(({ kind, name, lastHour }) => [kind, name, lastHour])).toEqual([
    [
      'queries',
      'recording',
      counts({ requests: 5, refused: 3, arrived: 6, recorded: 2, duplicates: 2, rejected: 2 }),
    ],
    ['traces', '(unknown)', counts({ requests: 3, refused: 3 })],
  ]);
});

test.each(databases)(
  'on %s, two servers count together, and a stopped one loses nothing',
  async (_kind, newDatabase) => {
    const one = await startService({ database: newDatabase() });
    const other = await startService({ database: one.databaseUrl, keys: one.keys });
    await post(one, 'traces', [span(1, chat)]);
    await post(other, 'traces', [span(1, chat), span(2, chat)]);
    await one.close();
    const [source] = (await report(other)).sources;
    expect(source?.lastDay).toEqual(counts({ requests: 2, arrived: 3, recorded: 2, duplicates: 1 }));
  },
);

test('the last hour and the last day end with now', async () => {
  const service = await startService();
  const { clock } = service;
  for (const minutes of [0, 60, 24 * 60 - 65, 65]) {
    clock.nowMs += minutes * 60_000;
    await service.record({ id: `at ${clock.nowMs}`, caller: 'web' });
  }
  const [source] = (await report(service)).sources;
  expect([source?.lastHour['recorded'], source?.lastDay['recorded']]).toEqual([1, 3]);
  expect(source?.lastSeenAt).toBe(new Date(clock.nowMs).toISOString());
});

test('queries are recorded while the diagnostics cannot be stored, which are stored later', async () => {
  const service = await startService();
  const { store } = service;
  const { add } = store.ingestion;
  const fail = () => Promise.reject(new CallerStatsError('unavailable', 'not now'));
  Object.assign(store.ingestion, { add: fail });
  expect((await service.record({ id: 'a', caller: 'web' })).status).toBe(200);
  expect((await report(service)).sources).toEqual([]);
  expect(service.log()).toContain('could not be counted by source');
  Object.assign(store.ingestion, { add });
  expect((await store.counts.count('docs', { from: 0, to: 2 * startMs })).total).toBe(1);
  expect((await report(service)).sources).toMatchObject([{ lastHour: { requests: 1, recorded: 1 } }]);
});

describe('the log', () => {
  const lines = (service: Service) =>
    service
      .log()
      .split('\n')
      .filter((line) => line.includes('match no rule'));

  test('names a source whose records match no rule, once', async () => {
    const service = await startService();
    for (let times = 0; times < 3; times++) {
      await post(service, 'traces', [span(1, { 'http.route': '/api/ask' })]);
      await report(service);
      service.clock.nowMs += 60_000;
    }
    const [line, ...more] = lines(service);
    expect(more).toEqual([]);
    expect(JSON.parse(line ?? '')).toMatchObject({
      projectId: 'docs',
      sources: [{ kind: 'traces', name: 'docs', unmatched: 1, operations: ['http.route=/api/ask'] }],
    });
  });

  test('says nothing of a source of which some records match', async () => {
    const service = await startService();
    await post(service, 'traces', [span(1, chat), span(1, {}, { spanId: spanId(2) })]);
    await report(service);
    await post(service, 'traces', [span(1, {}, { spanId: spanId(3) })]);
    await report(service);
    expect(lines(service)).toEqual([]);
  });
});

test('queries of the command that imports count as an import, whatever its key', async () => {
  const service = await startService();
  await service.record({ id: 'a', caller: 'web' }, { 'user-agent': 'caller-stats import' });
  await service.record({ id: 'a', caller: 'web' }, { 'user-agent': 'curl/8' });
  const { sources } = await report(service);
  expect(sources.map(({ kind, name, lastHour }) => [kind, name, lastHour['recorded']])).toEqual([
    ['import', 'caller-stats import', 1],
    ['queries', 'admin', 0],
  ]);
});

test('imported counts count as an import, unless they are only checked', async () => {
  const service = await startService();
  const { send } = service;
  const count = { source: 'old', caller: 'web', start: '2024-01-01T00:00:00Z', end: '2024-01-02T00:00:00Z' };
  const importAll = (counts: unknown, query = '', headers: Record<string, string> = {}) =>
    send({
      method: 'POST',
      path: `/v1/analytics/docs/assistant/imported-counts${query}`,
      headers: { 'content-type': JSON_TYPE, ...headers },
      body: JSON.stringify(counts),
    });
  const [one, other] = [
    { ...count, count: 1 },
    { ...count, caller: 'api', count: 2 },
  ];
  for (const body of [[one], { ...one, count: 5 }, {}]) await importAll(body, '?dryRun=true');
  expect((await report(service)).sources).toEqual([]);
  await importAll([one, other]);
  await importAll([one]);
  expect((await importAll([{ ...one, count: 5 }, other])).status).toBe(409);
  await importAll({ ...one, count: -1 });
  await importAll([one], '', { 'content-type': 'text/csv' });
  await importAll([other], '', { 'user-agent': 'caller-stats import' });
  const { sources } = await report(service);
  expect(sources.map(({ kind, name, lastHour }) => [kind, name, lastHour])).toEqual([
    [
      'import',
      'admin',
      counts({ requests: 5, refused: 3, arrived: 6, recorded: 2, duplicates: 1, rejected: 3 }),
    ],
    ['import', 'caller-stats import', counts({ requests: 1, arrived: 1, duplicates: 1 })],
  ]);
});

test('the metrics count by signal and outcome', async () => {
  const metrics = new Metrics(() => 0, { version: '1.2.3', database: 'sqlite' });
  const service = await startService({ metrics });
  await post(service, 'traces', [span(1, chat), span(2), span(3)]);
  await service.record({ id: 'a', caller: 'web' });
  await service.record({ id: 'a' });
  const page = readMetrics(await metrics.show());
  const total = (labels: Record<string, string>) => sumOf(page, 'caller_stats_ingested_total', labels);
  expect([
    total({ signal: 'traces', outcome: 'recorded' }),
    total({ signal: 'traces', outcome: 'unmatched' }),
    total({ signal: 'queries', outcome: 'recorded' }),
    total({ signal: 'queries', outcome: 'rejected' }),
    total({ signal: 'queries', outcome: 'refused' }),
    total({ signal: 'logs' }),
  ]).toEqual([1, 2, 1, 1, 1, 0]);
});
