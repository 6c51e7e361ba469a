/**
 * What *Sources* proposes to a service of which nothing counts: of each kind of service, what it sends arrives, the first proposal is
 * applied, and the same arrives again. What then counts is what the proposal said, and what a person counts.
 */
import { type Attributes, SpanKind } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { type Service, startMs, startService } from '../../support/http/http.js';
import {
  bodyOf,
  PROTOBUF,
  type Sent,
  type SignalName,
  spanId,
  traceId,
} from '../../support/http/telemetry.js';
import { by } from '../../support/storage/store.js';

interface Proposed {
  readonly value: string;
  readonly otlpQuery: string | null;
  readonly effect: string | null;
}

async function send({ send, keys }: Service, sent: readonly Sent[], signal: SignalName = 'traces') {
  const body = bodyOf(signal, PROTOBUF, sent);
  const headers = { 'content-type': PROTOBUF };
  const answer = await send({ method: 'POST', path: `/v1/${signal}`, key: keys.recording, headers, body });
  expect(answer.status, answer.text).toBe(200);
}

/** What is proposed, of all sources, for the last hour and the last day. */
async function readProposals({ send }: Service): Promise<Proposed[]> {
  const { text } = await send({ path: '/v1/analytics/docs/assistant/ingestion' });
  const { sources } = JSON.parse(text) as {
    readonly sources: readonly Record<
      'lastHour' | 'lastDay',
      { readonly unmatchedValues: readonly Proposed[] }
    >[];
  };
  const values = sources.flatMap(({ lastHour, lastDay }) =>
    [lastHour, lastDay].flatMap((one) => one.unmatchedValues),
  );
  return values.filter(({ otlpQuery, effect }) => otlpQuery !== null || effect !== null);
}

const totalOf = async ({ store }: Service) => (await store.counts.count('docs', ALL_TIME)).total;

/** Spans of different traces, from `first` on. A span of several is below the one before. */
function tracesOf(traces: readonly (readonly Sent[])[], first: number): Sent[] {
  return traces.flatMap((spans, at) =>
    spans.map((span, depth) => ({
      ...{ traceId: traceId(first + at), spanId: spanId(depth + 1) },
      ...{ timeNs: BigInt(startMs) * 1_000_000n, resource: { 'service.name': 'docs' } },
      ...(depth > 0 && { parentSpanId: spanId(depth) }),
      ...span,
    })),
  );
}

const span = (attributes: Attributes, more: Sent = {}): Sent => ({ attributes, ...more });
const server = (attributes: Attributes, name = 'request') =>
  span(attributes, { kind: SpanKind.SERVER, name });
const request = (route: string, method = 'POST', status = 200) =>
  server({ 'http.request.method': method, 'http.route': route, 'http.response.status_code': status });
const older = (route: string, method = 'POST', status = 200) =>
  server({ 'http.method': method, 'http.route': route, 'http.status_code': status });
const path = (one: string, method = 'POST', status = 200) =>
  server({ 'http.request.method': method, 'url.path': one, 'http.response.status_code': status });
const spring = (uri: string, method = 'POST', status = '200') => server({ uri, method, status });
const mcp = (method: string) => [
  path('/mcp'),
  span({ 'mcp.method.name': method }, { kind: SpanKind.SERVER, name: method }),
];

test.each<
  [what: string, traces: readonly (readonly Sent[])[], otlpQuery: string, asked: number, effect?: string]
>([
  [
    'FastAPI',
    [
      ...[
        [request('/ask')],
        [request('/ask/{id}/follow')],
        [request('/chat')],
        [request('/openapi.json', 'GET')],
      ],
      ...[[request('/ask', 'OPTIONS')], [request('/ask', 'POST', 400)], [request('/ask', 'GET', 405)]],
      ...[[request('/ask', 'POST', 422)], [request('/chat', 'POST', 429)], [request('/healthz', 'GET')]],
      ...[[request('/ask', 'POST', 307)], [request('/chat/{id}/stream', 'GET')], [request('/login')]],
    ],
    ...(['http.route=/ask,/chat', 2] as const),
    'would have counted 2 of the last 8 requests; 3 were refused, 1 was GET, 1 was OPTIONS, 1 was sent on to another address',
  ],
  [
    'Flask, older names',
    [[older('/ask')], [older('/ask', 'OPTIONS')], [older('/static/<path:filename>', 'GET')]],
    'http.route=/ask',
    1,
  ],
  ['Django', [[older('ask/')], [older('admin/login/')], [older('ask/', 'GET')]], 'http.route=ask/', 1],
  [
    'Express, with spans of its handlers',
    [
      [request('/api/chat'), span({ 'http.route': '/api/chat', 'express.type': 'request_handler' })],
      [request('/api/chat', 'OPTIONS'), span({ 'http.route': '/api/chat', 'express.type': 'middleware' })],
    ],
    ...(['http.route=/api/chat', 1] as const),
  ],
  [
    'Next.js',
    [
      [
        server({
          'next.span_type': 'BaseServer.handleRequest',
          'http.method': 'POST',
          'http.route': '/api/chat/route',
        }),
      ],
      [
        server({
          'next.span_type': 'BaseServer.handleRequest',
          'http.method': 'GET',
          'http.route': '/docs/[slug]',
        }),
      ],
    ],
    ...(['http.route=/api/chat/route', 1] as const),
  ],
  [
    'a chat whose name can be changed',
    [[request('/api/chat')], [request('/api/chat', 'PATCH')], [request('/api/chat', 'DELETE')]],
    ...(['http.route=/api/chat & http.request.method=POST', 1] as const),
    'would have counted 1 of the last 3 requests; 1 was DELETE, 1 was PATCH',
  ],
  [
    'Spring Boot',
    [[spring('/ask')], [spring('/actuator/health', 'GET')], [spring('UNKNOWN')], [spring('/**')]],
    'http.route=/ask',
    1,
  ],
  [
    'Rails',
    [[request('/ask(.:format)')], [request('/up(.:format)', 'GET')], [request('/cable', 'GET', 101)]],
    'http.route=/ask(.:format)',
    1,
  ],
  [
    'Go without routes',
    [[path('/ask')], [path('/ask', 'GET')], [path('/favicon.ico', 'GET')], [path('/xmlrpc.php')]],
    'url.path=/ask',
    1,
  ],
  [
    'services in several languages',
    [
      ...['/talk', '/api/completion', '/v1/answer', '/support', '/assistant', '/frage', '/api/pregunta'],
      ...['/pergunta', '/domanda', '/質問'],
    ].flatMap((one) => [[request(one)], [request(one, 'OPTIONS', 204)]]),
    'http.route=/api/completion,/api/pregunta,/assistant,/domanda,/frage,/pergunta,/support,/talk,/v1/answer,/質問',
    10,
    'would have counted 10 of the last 20 requests; 10 were OPTIONS',
  ],
  ['Go with patterns', [[request('POST /ask')], [request('GET /{$}', 'GET')]], 'http.route=POST /ask', 1],
  [
    'a function behind a gateway',
    [[server({ 'faas.trigger': 'http', 'http.route': '/ask', 'http.method': 'POST' })]],
    'http.route=/ask',
    1,
  ],
  [
    'an MCP server',
    [
      mcp('initialize'),
      mcp('notifications/initialized'),
      mcp('tools/list'),
      mcp('tools/call'),
      [path('/mcp', 'GET')],
    ],
    ...(['default;mcp.method.name=tools/call', 1] as const),
  ],
])('of %s, what it says counts', async (_what, traces, otlpQuery, asked, effect) => {
  const service = await startService();
  await send(service, tracesOf(traces, 1));
  expect(await totalOf(service)).toBe(0);
  const proposals = await readProposals(service);
  expect(new Set(proposals.map((one) => one.otlpQuery))).toEqual(new Set([otlpQuery]));
  if (effect !== undefined) expect(proposals[0]?.effect).toBe(effect);
  await service.store.directory.changeProject('default', 'docs', { otlpQuery }, by);
  await send(service, tracesOf(traces, 1001));
  await send(service, tracesOf(traces, 1001).toReversed());
  expect(await totalOf(service)).toBe(asked);
  expect(await readProposals(service)).toEqual([]);
});

test.each<[what: string, traces: readonly (readonly Sent[])[]]>([
  [
    'probes',
    ['/health', '/healthz', '/readiness', '/up', '/ping', '/_ah/warmup'].map((one) => [request(one)]),
  ],
  [
    'a gateway of models',
    ['/v1/chat/completions', '/v1/responses', '/model/{id}/invoke'].map((one) => [request(one)]),
  ],
  [
    'requests that did not ask',
    [[request('/ask', 'OPTIONS', 204)], [request('/ask', 'POST', 429)], [request('/ask', 'GET')]],
  ],
  [
    'a stream that is resumed',
    [[request('/api/chat/[id]/stream', 'GET', 200)], [request('/api/chat/{id}/resume')]],
  ],
  [
    'routes of anything',
    ['/**', '/{proxy+}', '/[[...slug]]', '/{path:path}', '/'].map((one) => [request(one)]),
  ],
  ['a route that is no longer', [[request('/ask', 'POST', 308)]]],
  [
    'webhooks, accounts, GraphQL',
    ['/webhook', '/login', '/graphql', '/slack/events'].map((one) => [request(one)]),
  ],
  [
    'a client of a server of questions',
    [[span({ 'http.target': '/ask', 'http.method': 'POST' }, { kind: SpanKind.CLIENT })]],
  ],
  ['a client of an MCP server', [[span({ 'mcp.method.name': 'tools/call' }, { kind: SpanKind.CLIENT })]]],
  [
    'a worker',
    [
      [span({ 'messaging.system': 'kafka', 'messaging.operation': 'process' }, { kind: SpanKind.CONSUMER })],
      [span({ 'celery.task_name': 'answer', 'messaging.message.id': 'm1' }, { kind: SpanKind.CONSUMER })],
    ],
  ],
  [
    'spans of frameworks only',
    [
      ...['CHAIN', 'RETRIEVER', 'TOOL', 'EMBEDDING'].map((one) => [span({ 'openinference.span.kind': one })]),
      ...['workflow', 'task', 'tool', 'unknown'].map((one) => [span({ 'traceloop.span.kind': one })]),
      ...['flow', 'util', 'tool'].map((one) => [span({ 'genkit:metadata:subtype': one })]),
      ...['execute_tool', 'embeddings', 'create_agent', 'tool.v2'].map((one) => [
        span({ 'gen_ai.operation.name': one }),
      ]),
    ],
  ],
  [
    'spans with a route and without a server',
    [[span({ 'http.route': '/ask' }, { name: 'handler' })], [request('/ask')]],
  ],
  [
    'a client that names the route',
    [[span({ 'http.route': '/ask', 'http.request.method': 'POST' }, { kind: SpanKind.CLIENT })]],
  ],
  ['a script without names', [[span({}), span({})]]],
  [
    'calls between services',
    [[server({ 'rpc.system': 'grpc', 'rpc.service': 'docs.Assistant', 'rpc.method': 'Ask' })]],
  ],
])('nothing is proposed to %s', async (_what, traces) => {
  const service = await startService();
  await send(service, tracesOf(traces, 1));
  expect(await readProposals(service)).toEqual([]);
});

test('events of questions are proposed, and others are not', async () => {
  const service = await startService();
  const events = (first: number) =>
    tracesOf([[{}], [{}], [{}]], first).map((one, at) => {
      return { ...one, eventName: ['docs.question', 'question.feedback', 'db.query'][at] ?? '' };
    });
  await send(service, events(1), 'logs');
  const [first] = await readProposals(service);
  expect(first).toMatchObject({ value: 'docs.question', otlpQuery: 'default;event.name=docs.question' });
  await service.store.directory.changeProject('default', 'docs', { otlpQuery: first?.otlpQuery ?? '' }, by);
  await send(service, events(11), 'logs');
  expect(await totalOf(service)).toBe(1);
});

test('nothing is proposed where questions count already, of another service, by a key, or earlier', async () => {
  const ask = tracesOf([[request('/ask')]], 1);
  const others: [what: string, record: (service: Service) => Promise<unknown>][] = [
    [
      'a gateway with spans of models',
      (service) => {
        const chat = span({ 'gen_ai.operation.name': 'chat' }, { resource: { 'service.name': 'gateway' } });
        return send(service, tracesOf([[chat]], 100));
      },
    ],
    [
      'a recorder',
      async ({ send, keys }) => {
        const body = JSON.stringify({ id: 'q-1', caller: 'web' });
        const path = '/v1/analytics/docs/assistant/queries';
        const headers = { 'content-type': 'application/json' };
        const answer = await send({ method: 'POST', path, key: keys.recording, headers, body });
        expect(answer.status, answer.text).toBeLessThan(300);
      },
    ],
  ];
  for (const [what, record] of others) {
    const service = await startService();
    await record(service);
    service.clock.nowMs += 2 * 3_600_000;
    await send(service, ask);
    expect(await totalOf(service), what).toBe(1);
    expect(await readProposals(service), what).toEqual([]);
  }
});
