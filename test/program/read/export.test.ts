/** Exports on raw connections: in order, up to date, and with a key that is valid when they are answered. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { dayMs } from '../../../src/domain/time/duration.js';
import { openStore } from '../../../src/storage/open.js';
import { whenOver } from '../../support/cleanup.js';
import { get, ordinary, ordinaryCounts, startWithSome } from '../../support/http/export.js';
import { errorOf, type Service, STATS, startMs } from '../../support/http/http.js';

const by = { name: 'a test', address: null, at: startMs };

const headersFor = (key: string): string[] => ['Host: test', `Authorization: Bearer ${key}`];

const ask = (service: Service, path = ordinary, key = service.keys.admin) =>
  service.sendRaw(get(path, headersFor(key)));

test('an export whose key has expired or was disabled or revoked elsewhere is refused at once', async () => {
  const service = await startWithSome();
  const other = await openStore(service.databaseUrl);
  whenOver(() => other.close());
  const expiring = await service.addKey('expiring', { type: 'admin', expiresAt: startMs + 1000 });
  const paused = await service.addKey('paused', { type: 'admin' });
  const revoked = await service.addKey('leaked', { type: 'admin' });
  const statuses = async () => {
    const answers: number[] = [];
    for (const key of [expiring, paused, revoked]) answers.push((await ask(service, ordinary, key)).status);
    return answers;
  };
  expect(await statuses()).toEqual([200, 200, 200]);
  service.clock.nowMs += 1000;
  await other.directory.changeKey('default', 'paused', 'disable', by);
  await other.directory.changeKey('default', 'leaked', 'revoke', by);
  expect(await statuses()).toEqual([401, 401, 401]);
  await other.directory.changeKey('default', 'paused', 'enable', by);
  expect(await statuses()).toEqual([401, 200, 401]);
});

test('an export that arrives while the server is stopping is refused', async () => {
  const service = await startWithSome();
  const connection = await service.connect();
  const request = get(ordinary, headersFor(service.keys.admin));
  // The second request has begun, so the connection is not idle. Its end arrives while the app is closing.
  connection.write(request + request.slice(0, -2));
  await service.read(connection, { method: 'GET', path: ordinary });
  const closed = service.close();
  while (service.listening()) await setImmediate();
  connection.write('\r\n');
  const { status, headers } = await service.read(connection, { method: 'GET', path: ordinary });
  expect([status, headers['connection']]).toEqual([503, 'close']);
  await closed;
});

test('an export that invalid bytes follow on its connection is answered before they are refused', async () => {
  const service = await startWithSome();
  const connection = await service.connect();
  const request = get(ordinary, headersFor(service.keys.admin));
  connection.write(`${request}${request}nonsense\r\n\r\n`);
  for (let exports = 0; exports < 2; exports++) {
    const { text } = await service.read(connection, { method: 'GET', path: ordinary });
    expect(JSON.parse(text)).toEqual(ordinaryCounts);
  }
  const refusal = await service.read(connection, { method: 'GET', path: '/', connectionError: true });
  expect([refusal.status, errorOf(refusal), refusal.headers['connection']]).toEqual([
    400,
    'The request is not valid HTTP/1.1.',
    'close',
  ]);
  await connection.ended();
});

test('exports are answered in order with other requests on the connection', async () => {
  const service = await startWithSome();
  const paths = Array.from({ length: 60 }, (_, at) =>
    at % 3 === 2
      ? '/livez'
      : `${STATS}?dateTo=1970-01-01T00:00:${String(at % 60).padStart(2, '0')}Z${at % 3 === 1 ? '&' : ''}`,
  );
  const connection = await service.connect();
  connection.write(paths.map((path) => get(path, headersFor(service.keys.admin))).join(''));
  for (const path of paths) {
    const { text } = await service.read(connection, { method: 'GET', path });
    expect(text).toBe((await service.send({ path })).text);
  }
  connection.close();
});

test("exports store their key's last use at most once a minute", async () => {
  const service = await startWithSome();
  const usedAt = async () =>
    (await service.store.directory.listKeys('default')).find(({ id }) => id === 'admin')?.lastUsedAt;
  await ask(service);
  await expect.poll(usedAt).toBe(startMs);
  service.clock.nowMs += 59_999;
  await ask(service);
  service.clock.nowMs += 1;
  await ask(service);
  await expect.poll(usedAt).toBe(startMs + 60_000);
  expect(service.calls.filter(({ method }) => method === 'touchKey')).toHaveLength(2);
});

test('an export of a period counts up to the time of each request', async () => {
  const service = await startWithSome();
  const total = async () => {
    const { text } = await ask(service, `${STATS}?period=today`);
    return (JSON.parse(text) as { total: number }).total;
  };
  await service.store.counts.record('docs', [{ id: 'now', caller: 'web', occurredAt: service.clock.nowMs }]);
  expect(await total()).toBe(1);
  service.clock.nowMs += dayMs;
  expect(await total()).toBe(0);
  service.clock.nowMs -= dayMs;
  expect(await total()).toBe(1);
});

test('exports count queries that another connection to the database has just recorded', async () => {
  const service = await startWithSome();
  const other = await openStore(service.databaseUrl);
  whenOver(() => other.close());
  for (let recorded = 1; recorded <= 30; recorded++) {
    await other.counts.record('docs', [{ id: `more ${recorded}`, caller: 'web', occurredAt: -1 }]);
    // Often enough for whole days to be cached.
    for (let times = 0; times < 20; times++) {
      const { text } = await ask(service, `${STATS}?dateFrom=1969-12-30&dateTo=1970-01-01`);
      expect(JSON.parse(text)).toEqual({ web: recorded, api: 0, other: 0, total: recorded });
    }
  }
});
