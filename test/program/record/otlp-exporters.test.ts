/** An assistant process with the SDK and exporters of OpenTelemetry, and a real server. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { firstRunOf, runCommand, type Server } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { emptyPlace, recordedIn, succeed } from '../../support/cli/cli-place.js';
import { startHttpServer } from '../../support/http-server.js';

const assistant = fileURLToPath(new URL('../../support/cli/otel-assistant.ts', import.meta.url));

/** Runs the assistant with only these variables until it has exported everything. */
async function sendQueries(count: number, env: Readonly<Record<string, string>>) {
  const outcome = await runCommand(process.execPath, ['--import', 'tsx', assistant, String(count)], { env });
  expect(outcome).toMatchObject({ status: 0, stderr: '' });
}

/** A proxy that sends each request twice, and answers the first one of each path with 503 after the server recorded it. */
async function carelessProxy({
  url,
}: Server): Promise<{ url: string; passed: string[]; statuses: Set<number> }> {
  const passed: string[] = [];
  const statuses = new Set<number>();
  const proxyUrl = await startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const path = request.url ?? '';
    const headers = Object.fromEntries(
      ['authorization', 'content-type', 'content-encoding'].flatMap((name) => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const send = () => fetch(`${url}${path}`, { method: 'POST', headers, body });
    statuses.add((await send()).status);
    const answer = await send();
    statuses.add(answer.status);
    const isFirst = !passed.includes(path);
    passed.push(path);
    if (isFirst) response.writeHead(503, { 'retry-after': '1' }).end();
    else {
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    }
  });
  return { url: proxyUrl, passed, statuses };
}

const queries = 40;

test.each([
  ['http/json', undefined],
  ['http/protobuf', 'gzip'],
])('%s: each query counts once although requests are repeated', async (protocol, compression) => {
  const place = await emptyPlace();
  const server = await place.serve();
  const { project, recording, admin } = firstRunOf(server);
  const proxy = await carelessProxy(server);
  await sendQueries(queries, {
    OTEL_EXPORTER_OTLP_ENDPOINT: proxy.url,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${recording}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=docs-slack-bot,caller_stats.caller=slack',
    ...(compression === undefined ? {} : { OTEL_EXPORTER_OTLP_COMPRESSION: compression }),
  });
  expect([...proxy.statuses]).toEqual([200]);
  for (const path of ['/v1/traces', '/v1/logs'])
    expect(proxy.passed.filter((one) => one === path).length, path).toBeGreaterThan(5);
  const { body } = await clientOf(server, project, admin).count();
  expect(body).toEqual({ web: 0, api: 0, other: queries, total: queries });
  await server.stop();
  expect(recordedIn(place)).toBe(queries);
});

test('the caller is detected from the headers of the request that the span describes', async () => {
  const place = await emptyPlace();
  const server = await place.serve();
  const { project, recording, admin } = firstRunOf(server);
  const rules = ['--otlp-query', 'http.route=/api/ask', '--otlp-id', 'span'];
  const origins = ['--otlp-site-origins', 'https://docs.example.com'];
  await succeed(place.run(['project', 'change', project, ...rules, ...origins]));
  await sendQueries(3, {
    OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${recording}`,
  });
  const { body } = await clientOf(server, project, admin).count();
  expect(body).toEqual({ web: 3, api: 0, other: 0, total: 3 });
});
