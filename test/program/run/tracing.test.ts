/** A server sends traces to the receiver that the standard OpenTelemetry variables name. */
import { describe, expect, test } from 'vitest';
import { firstRunOf } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { emptyPlace } from '../../support/cli/cli-place.js';
import { startHttpServer } from '../../support/http-server.js';

interface Export {
  readonly path: string;
  readonly type: string;
  readonly secret: string;
  readonly body: Buffer;
}

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  readonly status: { code?: number };
}

/** Accepts all exports. */
async function receiver(): Promise<{ readonly url: string; readonly exports: Export[] }> {
  const exports: Export[] = [];
  const url = await startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { 'content-type': type = '', 'x-secret': secret } = request.headers;
    exports.push({ path: request.url ?? '', type, secret: String(secret), body });
    response.writeHead(200, { 'content-type': type }).end(type.endsWith('json') ? '{}' : '');
  });
  return { url, exports };
}

/** Makes four requests to a server and stops it, so that all spans have been sent. */
async function traced(env: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
  const server = await (await emptyPlace()).spawnServer([], { env });
  const { project, admin } = firstRunOf(server);
  const path = `/v1/analytics/${project}/assistant/caller-stats`;
  const ask = (to: string) =>
    fetch(`${server.url}${to}`, { headers: { ...headers, authorization: `Bearer ${admin}` } });
  expect((await ask(`${path}?dateFrom=2026-01-01`)).status).toBe(200);
  expect(await clientOf(server, project, admin).record(batchOf(1, 3))).toMatchObject({ status: 200 });
  expect((await ask(`/${admin}`)).status).toBe(404);
  expect((await ask('/livez')).status).toBe(200);
  const outcome = await server.stop();
  expect(outcome.status).toBe(0);
  return { path, admin, stderr: outcome.stderr };
}

const EXPORT = 'GET /v1/analytics/:projectId/assistant/caller-stats';
const RECORD = 'POST /v1/analytics/:projectId/assistant/queries';

describe('with an endpoint', () => {
  test('each request except probes is a span of its trace, with child spans for calls of the store', async () => {
    const { url, exports } = await receiver();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-secret=of the receiver',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    };
    const { path, admin, stderr } = await traced(env, { traceparent });
    expect(stderr).not.toContain('OpenTelemetry');
    expect(new Set(exports.map(({ path: to, type, secret }) => `${to} ${type} ${secret}`))).toEqual(
      new Set(['/v1/traces application/json of the receiver']),
    );
    const text = exports.map(({ body }) => body.toString()).join('');
    expect([text.includes(admin), text.includes('2026-01-01'), text.includes('127.0.0.1')]).toEqual([
      false,
      false,
      false,
    ]);
    const resources = exports.flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans);
    for (const told of ['"caller-stats"', '"test"'])
      expect(JSON.stringify(resources[0].resource)).toContain(told);
    const spans: Span[] = resources.flatMap(({ scopeSpans }) => scopeSpans[0].spans);
    // The tests' client also requests the OpenAPI document.
    const requests = spans.filter(({ kind, name }) => kind === 2 && name !== 'GET /openapi.json');
    expect(requests.map(({ name }) => name).toSorted()).toEqual(['GET', EXPORT, RECORD]);
    const of = (name: string): Span | undefined => requests.find((span) => span.name === name);
    expect(of(EXPORT)).toMatchObject({ traceId: traceparent.slice(3, 35), parentSpanId: 'b7ad6b7169203331' });
    expect(of(EXPORT)?.attributes).toEqual(
      expect.arrayContaining([
        { key: 'url.path', value: { stringValue: path } },
        { key: 'http.response.status_code', value: { intValue: 200 } },
      ]),
    );
    const below = (name: string) =>
      spans.filter(({ parentSpanId }) => parentSpanId === of(name)?.spanId).map((span) => span.name);
    expect(below(EXPORT)).toEqual(expect.arrayContaining(['store.findAccess', 'store.count']));
    expect(below(RECORD)).toEqual(expect.arrayContaining(['store.findAccess', 'store.record']));
    expect(spans.filter(({ kind, parentSpanId }) => kind !== 2 && parentSpanId === undefined)).toEqual([]);
  });

  test('protobuf is the default, and the endpoint for traces is preferred', async () => {
    const { url, exports } = await receiver();
    await traced({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/mine`, OTEL_SERVICE_NAME: 'stats-of-docs' });
    expect(exports.map(({ path, type }) => [path, type])).toContainEqual(['/mine', 'application/x-protobuf']);
    const text = exports.map(({ body }) => body.toString('latin1')).join('');
    for (const part of ['stats-of-docs', EXPORT, 'store.record']) expect(text).toContain(part);
  });

  test('an unreachable receiver causes no error and does not delay the stop', async () => {
    const { stderr } = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
    expect(stderr).not.toMatch(/"level":[56]0/);
  });
});
