/** Ingestion diagnostics: whatever arrives is counted by its source, over all processes, and nothing else is kept. */
import { SpanKind } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { findLosses } from '../../../src/app/losses.js';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { describeRefusal, type RefusalReason } from '../../../src/domain/ingestion/refusals.js';
import { operationCharactersMax } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { Metrics } from '../../../src/observability/metrics/metrics.js';
import { signedIn } from '../../support/http/dashboard.js';
import { detailsOf, QUERIES, type Service, startMs, startService } from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';
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
import { by, databases } from '../../support/storage/store.js';

const INGESTION = '/v1/analytics/docs/assistant/ingestion';

interface Report {
  readonly otlpQuery: string;
  readonly expiringKeys: readonly object[];
  readonly sources: readonly {
    readonly kind: string;
    readonly name: string;
    readonly lastSeenAt: string;
    readonly refusals: readonly Readonly<Record<string, unknown>>[];
    readonly lastHour: Readonly<Record<string, unknown>>;
    readonly lastDay: Readonly<Record<string, unknown>>;
  }[];
}

async function report({ send }: Pick<Service, 'send'>): Promise<Report> {
  const answer = await send({ path: INGESTION });
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text) as Report;
}

const refusalOf = (reason: RefusalReason, more: object) => ({
  ...{ reason, ...describeRefusal(reason), key: null, requests: 1, records: 0 },
  lastAt: new Date(startMs).toISOString(),
  ...more,
});

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
      expiringKeys: [],
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
      { attribute: 'http.route', value: '/api/ask', count: 2, otlpQuery: null, effect: null },
      { attribute: 'gen_ai.operation.name', value: 'embeddings', count: 1, otlpQuery: null, effect: null },
    ],
  });
  const lastSeenAt = new Date(startMs).toISOString();
  const unknown = counts({ requests: 1, arrived: 1, recorded: 1 });
  expect(sources).toEqual([
    { kind: 'traces', name: '(unknown)', lastSeenAt, refusals: [], lastHour: unknown, lastDay: unknown },
    {
      ...{ kind: 'traces', name: 'docs', lastSeenAt },
      refusals: [refusalOf('query-caller', { key: expect.any(String), requests: 0, records: 1 })],
      ...{ lastHour: window, lastDay: window },
    },
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
    ['traces', 'docs', counts({ requests: 1, refused: 1 })],
    ['traces', 'recording', counts({ requests: 2, refused: 2 })],
  ]);
  const reasons = sources.map(({ refusals }) => refusals.map(({ reason, requests }) => [reason, requests]));
  expect(reasons.map((one) => one.toSorted())).toEqual([
    [
      ['media-type', 1],
      ['query-caller', 1],
      ['too-large', 1],
    ],
    [['too-large', 1]],
    [
      ['media-type', 1],
      ['no-body', 1],
    ],
  ]);
});

describe('a request with a wrong key', () => {
  const reasonsAt = async (service: Pick<Service, 'send'>, path = INGESTION) => {
    const answer = await service.send({ path });
    const { sources } = JSON.parse(answer.text) as Report;
    return sources.flatMap(({ name, refusals }) => refusals.map(({ reason, key }) => [name, reason, key]));
  };

  test('is counted for the project of the key, with its name and the reason', async () => {
    const service = await startService();
    const { send, keys } = service;
    const reading = await service.addKey('reading', { type: 'reading', projectId: 'docs' });
    const readOnly = await service.addKey('readOnly', { type: 'admin', scopes: ['read'] });
    const record = (key: string, project = 'docs') =>
      send({
        method: 'POST',
        path: `/v1/analytics/${project}/assistant/queries`,
        key,
        headers: { 'content-type': JSON_TYPE },
        body: '{"id":"a","caller":"web"}',
      });
    const answers = await Promise.all([
      ...[keys.expired, keys.revoked, reading, readOnly].map((key) => record(key)),
      record(keys.recordingBlog),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 403, 404]);
    expect(answers[0]?.text).toContain('The API key is expired. It ended at 2026-06-15T12:00:00.000Z. ');
    expect((await reasonsAt(service)).toSorted()).toEqual([
      ['expired', 'key-expired', 'expired'],
      ['readOnly', 'key-scope', 'readOnly'],
      ['reading', 'key-type', 'reading'],
      ['revoked', 'key-revoked', 'revoked'],
    ]);
    const path = INGESTION.replace('docs', 'blog');
    expect(await reasonsAt(service, path)).toEqual([['recordingBlog', 'other-project', 'recordingBlog']]);
    const log = service.log();
    expect(log).toContain('"keyName":"revoked"');
    expect(log).toContain('"reason":"key-revoked"');
  });

  test('that nobody has is counted for the project that it names, as of an unknown key', async () => {
    const service = await startService();
    const { send, keys } = service;
    for (const key of [null, keys.unknown, 'mistyped'])
      await send({ method: 'POST', path: QUERIES, key, headers: { 'content-type': JSON_TYPE }, body: '{}' });
    const { sources } = await report(service);
    expect(sources).toMatchObject([
      {
        ...{ kind: 'queries', name: '(unknown key)' },
        refusals: [refusalOf('key-unknown', { requests: 3 })],
      },
    ]);
  });

  test('is not counted beyond the limit of failures, unless the key is known', async () => {
    const service = await startService({ limits: { failuresPerMinute: 2 } });
    const { send, keys } = service;
    for (const key of [keys.unknown, keys.unknown, keys.unknown, keys.expired])
      await send({ method: 'POST', path: QUERIES, key });
    const { sources } = await report(service);
    const refused = sources.map(({ name, refusals }) => [name, refusals.map(({ requests }) => requests)]);
    expect(refused.toSorted()).toEqual([
      ['(unknown key)', [2]],
      ['expired', [1]],
    ]);
  });
});

describe('a key that may record and expires within 30 days', () => {
  const inDays = (days: number) => startMs + days * dayMs;

  test('is not shown to those who may read only one project, if it opens others', async () => {
    const service = await startService();
    const { send } = service;
    const expiresAt = inDays(3);
    const wide = await service.addKey('Wide', { type: 'admin', expiresAt });
    const own = await service.addKey('Own', { type: 'recording', projectId: 'docs', expiresAt });
    for (const [key, path] of [
      [wide, QUERIES.replace('docs', 'blog')],
      [own, QUERIES],
    ] as const)
      await send({
        ...{ method: 'POST', path, key, headers: { 'content-type': JSON_TYPE } },
        body: '{"id":"a","caller":"web"}',
      });
    await Promise.all(
      service.calls.filter(({ method }) => method === 'touchKey').map(({ result }) => result),
    );
    const named = ({ text }: Answer) =>
      (JSON.parse(text) as Report).expiringKeys.map((one) => (one as { name: string }).name);
    const reading = await service.addKey('Reading', { type: 'reading', projectId: 'docs' });
    expect(named(await send({ path: INGESTION }))).toEqual(['Own', 'Wide']);
    expect(named(await send({ path: INGESTION, key: reading }))).toEqual(['Own']);
    const path = '/api/organizations/default/projects/docs/ingestion';
    for (const [role, names] of [
      ['viewer', ['Own', 'Wide']],
      ['reader', ['Own']],
    ] as const) {
      const member = await signedIn(service, `${role}@example.org`, role);
      expect(named(await member.send({ path }))).toEqual(names);
    }
  });

  test('is named when it is used, in the report and in the answer to what it sends', async () => {
    const service = await startService();
    const { store, clock, send, calls } = service;
    const recording = { type: 'recording', projectId: 'docs' } as const;
    const soon = await service.addKey('Soon', { ...recording, expiresAt: inDays(30) });
    const record = (key: string) =>
      send({
        ...{ method: 'POST', path: QUERIES, key, headers: { 'content-type': JSON_TYPE } },
        body: '{"id":"a","caller":"web"}',
      });
    const HEADER = 'caller-stats-key-expires';
    const others = [
      await service.addKey('Later', { ...recording, expiresAt: inDays(30) + 1 }),
      await service.addKey('Never', recording),
      await service.addKey('Reads', { type: 'admin', scopes: ['read'], expiresAt: inDays(1) }),
    ];
    expect((await report(service)).expiringKeys).toEqual([]);
    for (const one of others) expect((await record(one)).headers[HEADER]).toBeUndefined();
    const answer = await record(soon);
    expect(answer.status).toBe(200);
    expect(answer.headers[HEADER]).toBe(new Date(inDays(30)).toISOString());
    await Promise.all(calls.filter(({ method }) => method === 'touchKey').map(({ result }) => result));
    expect((await report(service)).expiringKeys).toEqual([
      {
        ...{ id: 'Soon', name: 'Soon', expiresAt: new Date(inDays(30)).toISOString() },
        lastUsedAt: new Date(startMs).toISOString(),
      },
    ]);
    expect((await findLosses(store, { id: 'docs', organizationId: 'default' }, startMs))[0]).toEqual({
      message: expect.stringContaining('The key "Soon" (Soon) is in use and expires at'),
      remedy: expect.any(String),
    });
    clock.nowMs = inDays(30) + 1;
    expect((await record(soon)).status).toBe(401);
    expect((await report(service)).expiringKeys).toEqual([]);
    expect(await findLosses(store, { id: 'docs', organizationId: 'default' }, clock.nowMs)).toEqual([
      {
        message: expect.stringContaining('"Soon" (key Soon) had 1 request refused in the last seven days.'),
        remedy: expect.any(String),
      },
    ]);
  });
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

test('queries of a time before 2000 count, and are named as doubtful', async () => {
  const service = await startService();
  await service.record([
    { id: 'a', caller: 'web', occurredAt: '1970-01-20T19:12:00Z' },
    { id: 'b', caller: 'web', occurredAt: '0001-01-01T00:00:00Z' },
    { id: 'c', caller: 'web', occurredAt: '2000-01-01T00:00:00Z' },
  ]);
  const [source] = (await report(service)).sources;
  expect(source?.lastHour).toEqual(counts({ requests: 1, arrived: 3, recorded: 3 }));
  expect(source?.refusals).toEqual([
    refusalOf('time-doubtful', { key: expect.any(String), requests: 0, records: 2 }),
  ]);
  expect(source?.refusals[0]?.['message']).toMatch(/^Recorded, but doubtful because /);
});

test('questions of requests without headers, and several of one page, count and are named as doubtful', async () => {
  const service = await startService();
  const entry = (number: number, id: number, attributes: Sent['attributes'], parent?: number) =>
    span(
      number,
      { 'http.request.method': 'POST', ...attributes },
      {
        ...{ spanId: spanId(id), kind: SpanKind.SERVER },
        ...(parent !== undefined && { parentSpanId: spanId(parent) }),
      },
    );
  const asked = (number: number, id: number, parent: number) =>
    span(number, chat, { spanId: spanId(id), parentSpanId: spanId(parent) });
  await post(service, 'traces', [entry(1, 1, {}), asked(1, 2, 1)]);
  await post(service, 'traces', [
    ...[
      entry(2, 1, { 'http.request.method': 'GET', 'user_agent.original': 'curl/8' }),
      entry(2, 2, {}, 1),
      asked(2, 3, 2),
    ],
    ...[entry(2, 4, {}, 1), asked(2, 5, 4)],
  ]);
  const refusals = (await report(service)).sources.flatMap((source) => source.refusals);
  expect(refusals).toEqual([
    refusalOf('many-in-trace', { key: expect.any(String), requests: 0, records: 1 }),
    refusalOf('no-header', { key: expect.any(String), requests: 0, records: 1 }),
  ]);
});

test('times before the earliest one of the project are refused from every sender, and named', async () => {
  const service = await startService();
  const setTo = (earliestAt: number | null) =>
    service.store.directory.changeProject('default', 'docs', { earliestAt }, by);
  await setTo(Date.parse('2020-01-01'));
  const old = { id: 'a', caller: 'web', occurredAt: '2019-12-31T23:59:59.999Z' };
  const refused = await service.record([old, { ...old, id: 'b', occurredAt: '2020-01-01T00:00:00Z' }]);
  expect([refused.status, detailsOf(refused)]).toEqual([
    400,
    [
      'queries[0]: occurredAt: lies before 2020-01-01T00:00:00.000Z, the earliest time that the settings of the project allow',
    ],
  ]);
  const at = (number: number, time: string) =>
    span(number, chat, { timeNs: BigInt(Date.parse(time)) * 1_000_000n });
  await post(service, 'traces', [at(1, '2019-06-01'), at(2, '2020-06-01')]);
  const reasonsOf = async () =>
    (await report(service)).sources.flatMap(({ refusals }) => refusals.map((one) => one['reason']));
  expect(await reasonsOf()).toEqual(['time-past', 'time-past']);
  // An earlier setting allows real history, without a flag.
  await setTo(Date.parse('1969-01-01'));
  expect((await service.record({ ...old, occurredAt: '1969-07-20T20:17:00Z' })).status).toBe(200);
  await post(service, 'traces', [at(3, '1970-01-02')]);
  expect(await reasonsOf()).toEqual(['time-past', 'time-past']);
  expect((await service.store.counts.count('docs', ALL_TIME)).total).toBe(3);
});

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
