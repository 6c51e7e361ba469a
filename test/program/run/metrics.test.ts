/** Metrics of requests: every request is measured once, and clients cannot create labels. */
import { METHODS } from 'node:http';
import { describe, expect, test } from 'vitest';
import { Metrics } from '../../../src/observability/metrics/metrics.js';
import { get, ordinary, recordSome } from '../../support/http/export.js';
import { QUERIES, type Service, type ServiceOptions, STATS, startService } from '../../support/http/http.js';
import { holdCalls } from '../../support/http/http-store.js';
import { type Exposition, readMetrics, sumOf } from '../../support/http/metrics.js';
import { requireNoKey } from '../../support/secrets.js';

const route = '/v1/analytics/:projectId/assistant/caller-stats';
const REQUESTS = 'caller_stats_http_requests_total';
const DURATION = 'caller_stats_http_request_duration_seconds';

interface Measured extends Service {
  readonly text: () => Promise<string>;
  readonly metrics: () => Promise<Exposition>;
}

/** Its metrics' clock advances by a millisecond with each reading. */
async function startMeasured(options: ServiceOptions = {}): Promise<Measured> {
  let ms = 0;
  const metrics = new Metrics(() => ms++, { version: '1.2.3', database: 'sqlite' });
  const service = await startService({ logLevel: 'info', ...options, metrics });
  metrics.watchStore(service.store, { now: () => service.clock.nowMs });
  return {
    ...service,
    text: () => metrics.show(),
    metrics: async () => readMetrics(await metrics.show()),
  };
}

describe('the labels', () => {
  test('contain no path, project, key, address or unknown method of a request', async () => {
    const service = await startMeasured();
    const { send, routes, keys, text } = service;
    const known = [...routes().keys()];
    const paths = known.flatMap((path) =>
      ['docs', 'SECRET-project'].map((id) => path.replaceAll(/:\w+|\*/g, id)),
    );
    const odd = Array.from({ length: 50 }, (_, at) => `/SECRET/${at}?SECRET=${keys.admin}`);
    for (const path of [...paths, ...odd]) {
      for (const method of ['GET', 'POST', 'PURGE']) await send({ method, path, from: '192.0.2.1' });
    }
    for (const method of METHODS.filter((one) => one !== 'CONNECT'))
      await send({ method, from: '192.0.2.1' });
    await service.sendRaw(`GET /${keys.admin} HTTP/1.1\r\nSECRET\r\n\r\n`, { connectionError: true });

    const shown = await text();
    // All routes were asked for, which is all that the page ever has.
    expect(shown.length).toBeLessThan(100_000);
    expect(shown.match(/.*(SECRET|192\.0\.2|analytics\/docs).*/)?.[0]).toBeUndefined();
    requireNoKey(shown, Object.values(keys), 'the metrics');
    const labels = readMetrics(shown).samples.map((sample) => sample.labels);
    const values = (name: string) => new Set(labels.flatMap((one) => one[name] ?? []));
    expect([...values('route')].filter((one) => !['unmatched', 'other', ...known].includes(one))).toEqual([]);
    expect([...values('method')].toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'other']);
    expect([...values('status')].filter((one) => !/^[2-5]\d\d$/.test(one))).toEqual([]);
  });
});

describe('a request is counted and timed once', () => {
  test('if it is answered or refused by a route', async () => {
    const service = await startMeasured();
    await recordSome(service);
    const headers = ['Host: test', `Authorization: Bearer ${service.keys.admin}`];
    for (let times = 0; times < 3; times++) await service.sendRaw(get(ordinary, headers));
    await service.sendRaw(get(`${STATS}?dateFrom=x`, headers));
    const metrics = await service.metrics();
    expect(sumOf(metrics, REQUESTS, { route, method: 'GET', status: '200' })).toBe(3);
    expect(sumOf(metrics, REQUESTS, { route, method: 'GET', status: '400' })).toBe(1);
    expect(sumOf(metrics, `${DURATION}_count`, { route })).toBe(4);
    expect(sumOf(metrics, `${DURATION}_sum`, { route })).toBeGreaterThanOrEqual(0.003);
  });

  test('if the framework or Node rejects it', async () => {
    const service = await startMeasured();
    await service.send({ path: '/nowhere' });
    await service.send({ path: '/%zz' });
    await service.send({ key: null });
    await service.send({ method: 'DELETE' });
    await service.sendRaw('nonsense\r\n\r\n', { connectionError: true });
    const metrics = await service.metrics();
    expect(sumOf(metrics, REQUESTS, { route: 'unmatched', method: 'GET', status: '404' })).toBe(1);
    expect(sumOf(metrics, REQUESTS, { route, status: '401' })).toBe(1);
    expect(sumOf(metrics, REQUESTS, { route, method: 'DELETE', status: '405' })).toBe(1);
    expect(sumOf(metrics, REQUESTS, { route: 'unmatched', method: 'other', status: '400' })).toBe(2);
    expect(sumOf(metrics, REQUESTS)).toBe(5);
  });

  test('when its response was sent, also if it waited for another one on the connection', async () => {
    const service = await startMeasured();
    await recordSome(service);
    const hold = holdCalls(service, 'findAccess');
    const headers = ['Host: test', `Authorization: Bearer ${service.keys.admin}`];
    const connection = await service.connect();
    connection.write(get(ordinary, headers) + get('/livez', headers));
    await hold.reached();
    await service.sendRaw(get('/livez', headers));
    const counts = async () => {
      const metrics = await service.metrics();
      return [REQUESTS, `${DURATION}_count`].map(
        (name) =>
          sumOf(metrics, name, { route }) +
          sumOf(metrics, name, { route: name === REQUESTS ? '/livez' : 'other' }),
      );
    };
    expect(await counts(), 'the one on the other connection').toEqual([1, 1]);
    hold.release();
    for (const path of [ordinary, '/livez']) await service.read(connection, { method: 'GET', path });
    await expect.poll(counts).toEqual([3, 3]);
    connection.close();
  });

  test('as 499 if the client disconnects', async () => {
    const service = await startMeasured();
    const hold = holdCalls(service, 'findAccess');
    const connection = await service.connect();
    connection.write(get(`${ordinary}&`, ['Host: test', `Authorization: Bearer ${service.keys.admin}`]));
    await hold.reached();
    connection.close();
    await expect.poll(async () => sumOf(await service.metrics(), REQUESTS, { route, status: '499' })).toBe(1);
    hold.release();
  });
});

test('refused recordings are counted by reason, and a key in use that expires soon has its seconds', async () => {
  const service = await startMeasured();
  const { send, keys, clock, calls } = service;
  const refused = async (reason: string) =>
    sumOf(await service.metrics(), 'caller_stats_refused_requests_total', { reason, signal: 'queries' });
  expect(await refused('key-expired')).toBe(0);
  await send({ method: 'POST', path: QUERIES, key: keys.expired });
  expect(await refused('key-expired')).toBe(1);
  const seconds = (key: string) => service.metrics().then((shown) => sumOf(shown, EXPIRY, { key }));
  const EXPIRY = 'caller_stats_key_expiry_seconds';
  const expiresAt = clock.nowMs + 10_000_000;
  const ending = await service.addKey('ending', { type: 'recording', projectId: 'docs', expiresAt });
  expect(await seconds('ending')).toBe(0);
  await send({ method: 'POST', path: QUERIES, key: ending });
  await Promise.all(calls.filter(({ method }) => method === 'touchKey').map(({ result }) => result));
  expect(await seconds('ending')).toBe(10_000);
});

test('queries are counted as recorded or duplicate, for JSON and OTLP', async () => {
  const service = await startMeasured();
  const queries = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ id: `query ${from + at}`, caller: 'web' }));
  await service.record(queries(0, 5));
  await service.record(queries(3, 10));
  await service.record([{ id: 'bad', caller: 'NO' }]);
  const attributes = [{ key: 'gen_ai.operation.name', value: { stringValue: 'invoke_agent' } }];
  const span = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    name: 'a',
    attributes,
  };
  const times = { startTimeUnixNano: '1700000000000000000', endTimeUnixNano: '1700000000000000001' };
  const answer = await service.send({
    method: 'POST',
    path: '/v1/traces',
    key: service.keys.recording,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, ...times }] }] }] }),
  });
  expect(answer.text).toBe('{}');
  const metrics = await service.metrics();
  expect(sumOf(metrics, 'caller_stats_queries_total', { outcome: 'recorded' })).toBe(11);
  expect(sumOf(metrics, 'caller_stats_queries_total', { outcome: 'duplicate' })).toBe(2);
  expect(sumOf(metrics, REQUESTS, { route: QUERIES.replace('docs', ':projectId'), status: '400' })).toBe(1);
});
