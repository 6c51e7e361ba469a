/** The log and its secrecy. `startService` also checks the whole log at the end of each test. */
import { describe, expect, test } from 'vitest';
import { QUERIES, STATS, sharedService, startService } from '../support/http/http.js';
import { requireNoKey } from '../support/secrets.js';

describe('the log does not contain a key that is sent', () => {
  const service = sharedService();
  test.each<[string, (key: string) => string]>([
    ['as a parameter', (key) => `${STATS}?api_key=${key}`],
    ['as the name of a parameter', (key) => `${STATS}?${key}`],
    ['percent-encoded', (key) => `${STATS}?key=${key.replaceAll('_', '%5F')}`],
    ['percent-encoded in small letters', (key) => `${STATS}?key=${key.replaceAll('_', '%5f')}`],
    ['as the project', (key) => STATS.replace('docs', key)],
    ['as the path', (key) => `/${key}`],
    ['twice', (key) => `/${key}/${key}?key=${key}&key=${key}`],
    ['without its last characters', (key) => `/${key.slice(0, -10)}`],
    ['with extra characters', (key) => `/${key}more`],
    ['as a parameter of a leak report', (key) => `/v1/leaked-keys?key=${key}`],
  ])('%s', async (_what, pathOf) => {
    const { send, keys, log } = service();
    for (const secret of Object.values(keys)) {
      const before = log().length;
      for (const key of [keys.admin, null]) await send({ path: pathOf(secret), key });
      await send({ method: 'POST', path: pathOf(secret), key: null });
      const logged = log().slice(before);
      expect(logged, 'the requests are logged').toContain('incoming request');
      requireNoKey(logged, Object.values(keys), 'the log');
    }
  });

  test.each(['user-agent', 'referer', 'cookie', 'x-api-key', 'x-forwarded-for', 'accept-version'])(
    'in the header %s',
    async (name) => {
      const { send, keys, log } = service();
      await send({ headers: { [name]: keys.admin } });
      await send({ method: 'POST', path: QUERIES, headers: { [name]: keys.recording } });
      requireNoKey(log(), Object.values(keys), 'the log');
    },
  );

  test('the log has the method, URL and status of each request at debug level', async () => {
    const { send, log } = service();
    await send({ path: `${STATS}?dateFrom=2026-01-01&admin=1` });
    const line =
      log()
        .split('\n')
        .findLast((one) => one.includes('incoming request')) ?? '';
    const { reqId, req } = JSON.parse(line);
    expect(req).toEqual({ method: 'GET', url: `${STATS}?dateFrom=2026-01-01&admin=1` });
    expect(reqId).toMatch(/^req-\w+-\w+$/);
    const lines = log()
      .split('\n')
      .filter((one) => one.includes(`"reqId":"${reqId}"`))
      .map((one) => JSON.parse(one));
    expect(lines).toMatchObject([
      { level: 20, msg: 'incoming request' },
      { level: 20, msg: 'request completed', res: { statusCode: 400 }, responseTime: expect.any(Number) },
    ]);
  });
});

test('the log contains neither the address of a client nor the Host header', async () => {
  const service = await startService();
  await service.send({ from: '203.0.113.9', headers: { host: 'reader.example' } });
  await service.send({
    from: '203.0.113.9',
    headers: { host: 'reader.example' },
    key: 'none',
    path: '/none',
  });
  expect(service.log()).toContain('incoming request');
  expect(service.log()).not.toMatch(/203\.0\.113\.9|reader\.example/);
});

describe('the check of the log', () => {
  const service = sharedService();
  test.each<[string, (key: string) => string]>([
    ['a key', (key) => `x ${key} x`],
    ['a key that does not exist', () => `"cs_admin_${'0'.repeat(49)}"`],
    ['a key without its visible start', (key) => key.slice(14)],
    ['the first half of the hidden part', (key) => key.slice(13, 33)],
  ])('finds %s', (_what, textOf) => {
    const { keys } = service();
    expect(() => requireNoKey(textOf(keys.admin), [keys.admin], 'the log')).toThrow('in the log');
  });

  test('allows the visible parts of a key', () => {
    const { keys } = service();
    const shown = `${keys.admin.slice(0, 13)}…${keys.admin.slice(-4)}`;
    expect(() => requireNoKey(shown, [keys.admin], 'the log')).not.toThrow();
  });
});
