/** Which exports bypass the framework. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../src/domain/time/duration.js';
import { openStore } from '../../src/storage/open.js';
import { whenOver } from '../support/cleanup.js';
import { get, ordinary, ordinaryCounts, startWithSome } from '../support/http/direct-export.js';
import { errorOf, type Service, STATS, startMs } from '../support/http/http.js';

const by = { name: 'a test', address: null, at: startMs };

const headersFor = (key: string): string[] => ['Host: test', `Authorization: Bearer ${key}`];

/** The framework's calls of the store. */
const asked = ({ calls }: Service): string[] =>
  calls.map(({ method }) => method).filter((method) => method !== 'touchKey');

describe('an ordinary export', () => {
  test('bypasses the framework', async () => {
    const service = await startWithSome();
    const answer = await service.sendRaw(get(ordinary, headersFor(service.keys.admin)));
    expect(JSON.parse(answer.text)).toEqual(ordinaryCounts);
    expect(asked(service)).toEqual([]);
    // The framework's calls are noted.
    await service.send({ path: ordinary });
    expect(asked(service)).toEqual(['findAccess', 'count']);
  });

  test("stores its key's last use at most once a minute", async () => {
    const service = await startWithSome();
    const usedAt = async () =>
      (await service.store.listKeys('default')).find(({ id }) => id === 'admin')?.lastUsedAt;
    const ask = () => service.sendRaw(get(ordinary, headersFor(service.keys.admin)));
    await ask();
    await expect.poll(usedAt).toBe(startMs);
    service.clock.nowMs += 59_999;
    await ask();
    service.clock.nowMs += 1;
    await ask();
    await expect.poll(usedAt).toBe(startMs + 60_000);
    expect(service.calls.filter(({ method }) => method === 'touchKey')).toHaveLength(2);
  });

  test('with a period counts up to the time of each request', async () => {
    const service = await startWithSome();
    const path = `${STATS}?period=today`;
    const total = async () => {
      const { text } = await service.sendRaw(get(path, headersFor(service.keys.admin)));
      return (JSON.parse(text) as { total: number }).total;
    };
    await service.store.record('docs', [{ id: 'now', caller: 'web', occurredAt: service.clock.nowMs }]);
    service.calls.length = 0;
    expect(await total()).toBe(1);
    service.clock.nowMs += dayMs;
    expect(await total()).toBe(0);
    service.clock.nowMs -= dayMs;
    expect(await total()).toBe(1);
    expect(asked(service)).toEqual([]);
  });

  test('is answered in order with other requests on the connection', async () => {
    const service = await startWithSome();
    const headers = headersFor(service.keys.admin);
    const paths = Array.from({ length: 60 }, (_, at) =>
      at % 3 === 2
        ? '/livez'
        : `${STATS}?dateTo=1970-01-01T00:00:${String(at % 60).padStart(2, '0')}Z${at % 3 === 1 ? '&' : ''}`,
    );
    const connection = await service.connect();
    connection.write(paths.map((path) => get(path, headers)).join(''));
    for (const path of paths) {
      const { text } = await service.read(connection, { method: 'GET', path });
      expect(text).toBe((await service.send({ path })).text);
    }
    connection.close();
  });

  test('counts queries that another connection to the database has just recorded', async () => {
    const service = await startWithSome();
    const other = await openStore(service.databaseUrl);
    whenOver(() => other.close());
    for (let recorded = 1; recorded <= 30; recorded++) {
      await other.record('docs', [{ id: `more ${recorded}`, caller: 'web', occurredAt: -1 }]);
      // Often enough for whole days to be cached.
      for (let times = 0; times < 20; times++) {
        const path = `${STATS}?dateFrom=1969-12-30&dateTo=1970-01-01`;
        const { text } = await service.sendRaw(get(path, headersFor(service.keys.admin)));
        expect(JSON.parse(text)).toEqual({ web: recorded, api: 0, other: 0, total: recorded });
      }
    }
    expect(asked(service)).toEqual([]);
  });
});

describe('the framework handles an export', () => {
  const expectStatus = async (service: Service, status: number, key = service.keys.admin) => {
    const answer = await service.sendRaw(get(ordinary, headersFor(key)));
    expect([answer.status, answer.text]).toEqual([
      status,
      (await service.send({ path: ordinary, key })).text,
    ]);
    return answer;
  };

  test('whose key is expired, disabled or revoked', async () => {
    const service = await startWithSome();
    const other = await openStore(service.databaseUrl);
    whenOver(() => other.close());
    const expiring = await service.addKey('expiring', { type: 'admin', expiresAt: startMs + 1000 });
    const paused = await service.addKey('paused', { type: 'admin' });
    const revoked = await service.addKey('leaked', { type: 'admin' });
    for (const key of [expiring, paused, revoked]) await expectStatus(service, 200, key);
    service.clock.nowMs += 1000;
    await other.changeKey('default', 'paused', 'disable', by);
    await other.changeKey('default', 'leaked', 'revoke', by);
    for (const key of [expiring, paused, revoked]) await expectStatus(service, 401, key);
    await other.changeKey('default', 'paused', 'enable', by);
    await expectStatus(service, 200, paused);
    expect(asked(service).filter((method) => method === 'count')).toHaveLength(4);
  });

  test('of a deleted project', async () => {
    const service = await startWithSome();
    await expectStatus(service, 200);
    await service.store.deleteProject('default', 'docs', by);
    await expectStatus(service, 404);
  });

  test('if requests are limited', async () => {
    const service = await startWithSome({ limits: { requestsPerMinute: 3 } });
    for (const left of [2, 1, 0]) {
      const { headers } = await service.sendRaw(get(ordinary, headersFor(service.keys.admin)));
      expect(headers['ratelimit']).toMatch(`r=${left};`);
    }
    expect((await service.sendRaw(get(ordinary, headersFor(service.keys.admin)))).status).toBe(429);
  });

  test('while the server is overloaded', async () => {
    const service = await startWithSome();
    service.eventLoop.delayMs = 1e6;
    expect(errorOf(await expectStatus(service, 503))).toMatch('too busy');
    service.eventLoop.delayMs = 0;
    await expectStatus(service, 200);
  });

  test('while the store is unavailable', async () => {
    const service = await startWithSome();
    await service.store.close();
    await expectStatus(service, 503);
  });

  test('while the server is stopping', async () => {
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
});
