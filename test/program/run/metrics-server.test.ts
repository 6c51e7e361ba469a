/** The HTTP server of `/metrics`. */
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Metrics } from '../../../src/observability/metrics/metrics.js';
import { buildMetricsApp } from '../../../src/observability/metrics/server.js';
import { openStore } from '../../../src/storage/open.js';
import { RawConnection } from '../../support/http/http-raw.js';
import { readMetrics, sumOf } from '../../support/http/metrics.js';
import { temporaryFolder } from '../../support/temporary.js';

async function startMetrics() {
  const metrics = new Metrics(() => 0, { version: '1.2.3', database: 'sqlite' });
  const store = await openStore(`sqlite:${await temporaryFolder()}/store.db`, { commits: metrics });
  const logged: string[] = [];
  let clock = 0;
  const app = await buildMetricsApp(
    metrics,
    pino({ level: 'warn' }, { write: (line) => void logged.push(line) }),
  );
  metrics.watchStore(store, { now: () => clock++ * 10_000 });
  onTestFinished(async () => {
    await app.close();
    await store.close();
  });
  return { app, store, logged };
}

const headers = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

describe('/metrics', () => {
  test.each([
    ['POST', '/metrics', 405, 'This path takes no POST; it takes GET, HEAD.'],
    ['PURGE', '/metrics', 405, 'This path takes no PURGE; it takes GET, HEAD.'],
    ['GET', '/', 404, 'There is no such route; here is only /metrics.'],
    [
      'GET',
      '/v1/analytics/docs/assistant/caller-stats',
      404,
      'There is no such route; here is only /metrics.',
    ],
    [
      'GET',
      '/%zz',
      400,
      'The URL is malformed: a % in it begins no character of UTF-8; write % itself as %25.',
    ],
  ])('%s %s returns %i with a JSON error', async (method, url, status, error) => {
    const { app } = await startMetrics();
    const answer = await app.inject({ method: method as 'GET', url });
    expect([answer.statusCode, answer.json()]).toEqual([status, { error }]);
    expect(answer.headers).toMatchObject(headers);
    if (status === 405) expect(answer.headers['allow']).toBe('GET, HEAD');
  });

  test.each([
    ['invalid HTTP', 'nonsense\r\n\r\n', 'The request is not valid HTTP/1.1.'],
    ['a request without a Host', 'GET /metrics HTTP/1.1\r\n\r\n', 'The request has no Host header.'],
  ])('%s returns 400 with a JSON error', async (_what, bytes, error) => {
    const { app } = await startMetrics();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const address = app.server.address();
    const connection = await RawConnection.open(typeof address === 'object' ? (address?.port ?? 0) : 0);
    connection.write(bytes);
    const answer = await connection.read('GET');
    connection.close();
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, { error }]);
  });

  test('GET returns the Prometheus text format, HEAD the same headers', async () => {
    const { app } = await startMetrics();
    const answer = await app.inject('/metrics');
    expect(answer.headers).toMatchObject({
      ...headers,
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    });
    expect(sumOf(readMetrics(answer.payload), 'caller_stats_build_info', { version: '1.2.3' })).toBe(1);
    const head = await app.inject({ method: 'HEAD', url: '/metrics' });
    expect([head.statusCode, head.headers['content-type']]).toEqual([200, answer.headers['content-type']]);
  });

  test('GET reports that the database is unavailable', async () => {
    const { app, store, logged } = await startMetrics();
    const look = async () => readMetrics((await app.inject('/metrics')).payload);
    const before = await look();
    expect(sumOf(before, 'caller_stats_database_up')).toBe(1);
    expect(sumOf(before, 'caller_stats_recording_up')).toBe(1);
    expect(sumOf(before, 'caller_stats_database_size_bytes')).toBeGreaterThan(0);
    await store.close();
    const after = await look();
    expect(sumOf(after, 'caller_stats_database_up')).toBe(0);
    expect(sumOf(after, 'caller_stats_recording_up')).toBe(0);
    expect(after.samples.map(({ name }) => name)).not.toContain('caller_stats_database_size_bytes');
    expect(logged).toEqual([]);
  });
});
