/** Each project may have OpenTelemetry settings of its own; for all others those of the server apply. */
import { SpanKind } from '@opentelemetry/api';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { telemetryTextCharactersMax } from '../../../src/domain/limits.js';
import type { ProjectChange } from '../../../src/domain/projects/project.js';
import { type Browser, signedIn } from '../../support/http/dashboard.js';
import { detailsOf, type Service, sharedService, startMs, startService } from '../../support/http/http.js';
import { bodyOf, PROTOBUF, type Sent, spanId, traceId } from '../../support/http/telemetry.js';
import { by, databases, projectOf } from '../../support/storage/store.js';

const org = 'default';

/** Two requests of one trace, each with a model call; and a search, which is not a query. */
const SPANS: readonly Sent[] = [1, 2].flatMap((number): Sent[] => {
  const server = { traceId: traceId(1), spanId: spanId(number), timeNs: BigInt(startMs) * 1_000_000n };
  const inner = { ...server, spanId: spanId(10 + number), parentSpanId: spanId(number) };
  return [
    {
      ...server,
      parentSpanId: spanId(99),
      kind: SpanKind.SERVER,
      hasRemoteParent: true,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/ask',
        'http.request.header.origin': 'https://docs.example.com',
        who: 'slack',
      },
    },
    { ...inner, attributes: { 'gen_ai.operation.name': 'chat', 'message.id': 'm-1' } },
    { ...inner, spanId: spanId(20 + number), attributes: { 'gen_ai.operation.name': 'embeddings' } },
  ];
});
const BODY = bodyOf('traces', PROTOBUF, SPANS);

async function send(service: Pick<Service, 'send' | 'keys'>, project: string): Promise<number> {
  const headers = { 'content-type': PROTOBUF, 'caller-stats-project': project };
  const { keys } = service;
  return (await service.send({ method: 'POST', path: '/v1/traces', key: keys.admin, headers, body: BODY }))
    .status;
}

const countOf = async ({ store }: Service, project: string) => {
  const { web, api, other } = await store.counts.count(project, ALL_TIME);
  return { web, api, other };
};

const shared = sharedService();

test('a text that no version of this server accepts refuses spans for now, and counts nothing', async () => {
  const service = shared();
  await service.store.directory.createProject(projectOf('shop'), by);
  await service.store.directory.changeProject(org, 'docs', { otlpId: 'of a later version' }, by);
  const failing = { method: 'POST', path: '/v1/traces', key: service.keys.recording, failing: true };
  const headers = { 'content-type': PROTOBUF };
  const answer = await service.send({ ...failing, headers, body: BODY });
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  expect(await countOf(service, 'docs')).toEqual({ web: 0, api: 0, other: 0 });
  expect(await send(service, 'shop')).toBe(200);
  expect(await countOf(service, 'shop')).toEqual({ web: 0, api: 0, other: 2 });
  await service.store.directory.changeProject(org, 'docs', { otlpId: null }, by);
  expect(await send(service, 'docs')).toBe(200);
});

test.each<[what: string, own: ProjectChange, counts: object]>([
  ['no text of its own', {}, { web: 0, api: 0, other: 2 }],
  ['rules that match nothing', { otlpQuery: 'http.route=/other' }, { web: 0, api: 0, other: 0 }],
  ['an id', { otlpId: 'trace' }, { web: 0, api: 0, other: 1 }],
  ['an id that is an attribute', { otlpId: 'message.id' }, { web: 0, api: 0, other: 1 }],
  ['spans as queries', { otlpId: 'span', otlpQuery: 'gen_ai.operation.name' }, { web: 0, api: 0, other: 4 }],
  ['a default caller', { otlpDefaultCaller: 'api' }, { web: 0, api: 2, other: 0 }],
  ['site origins', { otlpSiteOrigins: 'https://docs.example.com' }, { web: 2, api: 0, other: 0 }],
  [
    'a caller',
    { otlpCaller: 'who', otlpSiteOrigins: 'https://docs.example.com' },
    { web: 0, api: 0, other: 2 },
  ],
])('a project with %s counts the same bytes by them', async (what, own, counts) => {
  const service = shared();
  const [id, usual] = [what.replaceAll(' ', '-'), `beside-${what.replaceAll(' ', '-')}`];
  await service.store.directory.createProject(projectOf(id, own), by);
  await service.store.directory.createProject(projectOf(usual), by);
  expect([await send(service, id), await send(service, usual)]).toEqual([200, 200]);
  expect(await countOf(service, id)).toEqual(counts);
  expect(await countOf(service, usual)).toEqual({ web: 0, api: 0, other: 2 });
});

test.each(databases)(
  'on %s, a change applies to the next request of every server',
  async (_kind, newDatabase) => {
    const one = await startService({ database: newDatabase() });
    const other = await startService({ database: one.databaseUrl, keys: one.keys });
    const path = '/v1/analytics/docs/assistant/ingestion';
    const rulesOf = async (service: Service) =>
      (JSON.parse((await service.send({ path })).text) as { otlpQuery: string }).otlpQuery;
    await one.store.directory.changeProject(org, 'docs', { otlpQuery: 'none.such' }, by);
    for (const service of [one, other]) {
      expect(await send(service, 'docs')).toBe(200);
      expect(await rulesOf(service)).toBe('none.such');
    }
    expect(await countOf(one, 'docs')).toEqual({ web: 0, api: 0, other: 0 });
    await one.store.directory.changeProject(org, 'docs', { otlpQuery: null, otlpId: 'trace' }, by);
    expect(await send(other, 'docs')).toBe(200);
    expect(await rulesOf(other)).toBe('default');
    expect(await countOf(one, 'docs')).toEqual({ web: 0, api: 0, other: 1 });
  },
);

test('diagnostics suggest what the rules of the project leave out', async () => {
  const service = shared();
  await service.store.directory.createProject(
    projectOf('narrow', { otlpQuery: 'gen_ai.operation.name=other' }),
    by,
  );
  await send(service, 'narrow');
  const { text } = await service.send({ path: '/v1/analytics/narrow/assistant/ingestion' });
  const [source] = (JSON.parse(text) as { sources: { lastHour: { unmatchedValues: object[] } }[] }).sources;
  expect(source?.lastHour.unmatchedValues).toContainEqual({
    attribute: 'http.route',
    value: '/ask',
    count: 2,
    otlpQuery: 'gen_ai.operation.name=other;http.route=/ask',
    effect: 'would have counted 2 of the last 2 requests',
  });
});

describe('the dashboard', () => {
  const service = sharedService();
  const path = `/api/organizations/${org}/projects`;
  let editor: Browser;

  beforeAll(async () => {
    editor = await signedIn(service(), 'ada@example.org', 'editor');
  });
  const change = (body: object) => editor.send({ method: 'PATCH', path: `${path}/docs`, body });

  test('is refused invalid texts, each named by its field, and changes nothing', async () => {
    const invalid = {
      otlpQuery: 'a=',
      otlpId: '',
      otlpCaller: 1,
      otlpDefaultCaller: 'Slack',
      otlpSiteOrigins: 'docs.example.com',
    };
    const answer = await change({ ...invalid, name: 'New' });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer).map((message) => message.split(':')[0])).toEqual(Object.keys(invalid));
    for (const otlpQuery of [`a=${'b'.repeat(telemetryTextCharactersMax)}`, 'a=\0', 'a=\ud800'])
      expect((await change({ otlpQuery })).status).toBe(400);
    expect(detailsOf(await change({ otlpRules: 'a' }))).toEqual([expect.stringContaining('not a field')]);
    expect(await service().store.directory.findProject(org, 'docs')).toMatchObject({
      otlpQuery: null,
      name: 'docs',
    });
  });

  test('is refused to viewers', async () => {
    const viewer = await signedIn(service(), 'eve@example.org', 'viewer');
    const refused = await viewer.send({ method: 'PATCH', path: `${path}/docs`, body: { otlpId: 'trace' } });
    expect(refused.status).toBe(403);
  });

  test('shows the project’s texts, and changes those that are given', async () => {
    const list = async () => JSON.parse((await editor.send({ path, method: 'GET' })).text) as object;
    expect(await list()).toMatchObject({
      projects: [{ id: 'blog' }, { id: 'docs', otlpQuery: null }],
    });
    expect(JSON.parse((await change({ otlpQuery: 'a;default', otlpId: 'span' })).text)).toMatchObject({
      ...{ otlpQuery: 'a;default', otlpId: 'span', otlpCaller: null },
      ...{ otlpDefaultCaller: null, otlpSiteOrigins: null },
    });
    await change({ otlpQuery: null, otlpSiteOrigins: 'none' });
    expect(await list()).toMatchObject({
      projects: [
        { id: 'blog', otlpId: null },
        { id: 'docs', otlpQuery: null, otlpId: 'span', otlpSiteOrigins: 'none' },
      ],
    });
  });
});
