/** The client's address: that of the connection, or the one that a trusted proxy names. */
import { describe, expect, test } from 'vitest';
import { get } from '../../support/http/export.js';
import {
  errorOf,
  type Service,
  STATS,
  sharedService,
  startService,
  type TestRequest,
} from '../../support/http/http.js';
import { holdCalls } from '../../support/http/http-store.js';

let keys = 0;

/** Whether the server takes this for the client's address: a key that only this one may use works. */
async function isAddress(
  { addKey, send }: Service,
  { from, headers }: { readonly from: string; readonly headers: Readonly<Record<string, string>> },
  address: string,
): Promise<boolean> {
  const key = await addKey(`of-${keys++}`, { type: 'admin', allow: [address] });
  const { status } = await send({ key, from, headers });
  expect([200, 403]).toContain(status);
  return status === 200;
}

test('browsers are told to use HTTPS only over HTTPS', async () => {
  const [plain, trusting, isPublic] = await Promise.all([
    startService(),
    startService({ trustProxy: ['10.0.0.0/8'] }),
    startService({ users: { publicUrl: 'https://stats.example.org' } }),
  ]);
  const headers = { 'x-forwarded-proto': 'https' };
  const hstsOf = async ({ send }: Service, more: TestRequest = {}) =>
    (await send(more)).headers['strict-transport-security'];
  expect(await hstsOf(plain)).toBeUndefined();
  expect(await hstsOf(plain, { headers, from: '10.0.0.1' })).toBeUndefined();
  expect(await hstsOf(trusting, { headers, from: '192.0.2.1' })).toBeUndefined();
  expect(await hstsOf(trusting, { from: '10.0.0.1' })).toBeUndefined();
  expect(await hstsOf(trusting, { headers, from: '10.0.0.1' })).toBe('max-age=31536000; includeSubDomains');
  expect(await hstsOf(isPublic)).toBe('max-age=31536000; includeSubDomains');
  expect(await hstsOf(isPublic, { path: '/nothing' })).toBe('max-age=31536000; includeSubDomains');
});

describe('without trusted proxies', () => {
  const service = sharedService();
  test.each(['127.0.0.1', '192.0.2.1', '::1', '10.0.0.1'])(
    'headers do not change the address %s',
    async (from) => {
      for (const name of [
        'x-forwarded-for',
        'X-Real-IP',
        'forwarded',
        'true-client-ip',
        'cf-connecting-ip',
      ]) {
        const value = name === 'forwarded' ? 'for=198.51.100.1' : '198.51.100.1';
        expect(await isAddress(service(), { from, headers: { [name]: value } }, from), name).toBe(true);
      }
    },
  );

  test('headers do not satisfy an allowlist', async () => {
    const { addKey, send } = service();
    const key = await addKey('listed', { type: 'admin', allow: ['198.51.100.1'] });
    const answer = await send({ key, from: '192.0.2.1', headers: { 'x-forwarded-for': '198.51.100.1' } });
    expect(answer.status).toBe(403);
    expect((await send({ key, from: '198.51.100.1' })).status).toBe(200);
  });
});

const trustProxy = ['10.0.0.0/8', '::1', '2001:db8:1::/48'];

describe(`with the trusted proxies ${trustProxy.join()}`, () => {
  const service = sharedService({ trustProxy });
  test.each<[what: string, from: string, forwarded: string, address: string]>([
    ['another connection', '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['another connection that names a proxy', '192.0.2.1', '198.51.100.1, 10.0.0.1', '192.0.2.1'],
    ['a neighboring IPv4 address', '11.0.0.1', '198.51.100.1', '11.0.0.1'],
    ['a neighboring IPv6 address', '2001:db8:2::1', '198.51.100.1', '2001:db8:2::1'],
    ['an IPv4 proxy', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['an IPv6 proxy', '::1', '198.51.100.1', '198.51.100.1'],
    ['a proxy in an IPv6 network', '2001:db8:1:ffff::1', '198.51.100.1', '198.51.100.1'],
    ['a proxy with a mapped address', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['an IPv6 client', '10.0.0.1', '2001:db8:2::7', '2001:db8:2::7'],
    ['a client with a mapped address', '10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['a forged address before the last', '10.0.0.1', '1.2.3.4, 198.51.100.1', '198.51.100.1'],
    ['a forged proxy', '10.0.0.1', '1.2.3.4, 10.0.0.9, 198.51.100.1', '198.51.100.1'],
    ['500 forged addresses', '10.0.0.1', `${'1.2.3.4, '.repeat(500)}198.51.100.1`, '198.51.100.1'],
    ['forged garbage', '10.0.0.1', '<x>, 198.51.100.1', '198.51.100.1'],
    ['a chain of proxies', '10.0.0.1', '198.51.100.1, 10.0.0.3, 2001:db8:1::2', '198.51.100.1'],
    ['an untrusted address in the chain', '10.0.0.1', '1.2.3.4, 198.51.100.1, 10.0.0.3', '198.51.100.1'],
    ['spaces', '10.0.0.1', ' 1.2.3.4,198.51.100.1 ,  10.0.0.3 ', '198.51.100.1'],
    ['empty entries', '10.0.0.1', ',, 198.51.100.1,, 10.0.0.3,', '198.51.100.1'],
    ['an empty header', '10.0.0.1', '', '10.0.0.1'],
    ['a proxy alone', '10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ['no address', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['no address behind a second proxy', '10.0.0.1', '1.2.3.4, unknown, 10.0.0.3', '10.0.0.3'],
    ['a port', '10.0.0.1', '198.51.100.1:4711', '10.0.0.1'],
    ['brackets', '10.0.0.1', '[2001:db8:2::7]', '10.0.0.1'],
    ['a network', '10.0.0.1', '10.0.0.0/8', '10.0.0.1'],
    ['a long text', '10.0.0.1', 'x'.repeat(9000), '10.0.0.1'],
  ])('%s: finds the address of the client', async (_what, from, forwarded, address) => {
    expect(await isAddress(service(), { from, headers: { 'x-forwarded-for': forwarded } }, address)).toBe(
      true,
    );
  });

  test('other headers are ignored', async () => {
    for (const [name, value] of Object.entries({ 'x-real-ip': '1.2.3.4', forwarded: 'for=1.2.3.4' })) {
      const asked = { from: '10.0.0.1', headers: { [name]: value } };
      expect(await isAddress(service(), asked, '10.0.0.1'), name).toBe(true);
    }
  });

  test("allowlists apply to the client's address", async () => {
    const { addKey, send } = service();
    const key = await addKey('listed', { type: 'admin', allow: ['198.51.100.0/24', '2001:db8:2::/48'] });
    const statusFor = async (from: string, forwarded: string) =>
      (await send({ key, from, headers: { 'x-forwarded-for': forwarded } })).status;
    expect(await statusFor('10.0.0.1', '198.51.100.9')).toBe(200);
    expect(await statusFor('10.0.0.1', '2001:db8:2::9')).toBe(200);
    expect(await statusFor('10.0.0.1', '::ffff:198.51.100.9')).toBe(200);
    expect(await statusFor('10.0.0.1', '198.51.100.9, 203.0.113.1')).toBe(403);
    expect(await statusFor('10.0.0.1', '203.0.113.1')).toBe(403);
    expect(await statusFor('10.0.0.1', '198.51.100.9:80')).toBe(403);
    expect(await statusFor('203.0.113.1', '198.51.100.9')).toBe(403);
  });
});

describe("the rate limit of failures applies to the client's address", () => {
  test('even if the client forges the header', async () => {
    const { send } = await startService({ trustProxy, limits: { failuresPerMinute: 2 } });
    const statusFor = async (forwarded: string, from = '10.0.0.1') =>
      (await send({ key: null, from, headers: { 'x-forwarded-for': forwarded } })).status;
    expect(await statusFor('198.51.100.1')).toBe(401);
    expect(await statusFor('1.1.1.1, 198.51.100.1', '10.0.0.2')).toBe(401);
    expect(await statusFor('2.2.2.2, 198.51.100.1')).toBe(429);
    expect(await statusFor('::ffff:198.51.100.1')).toBe(429);
    expect(await statusFor('3.3.3.3', '198.51.100.1'), 'connected without a proxy').toBe(429);
    expect(await statusFor('198.51.100.2'), 'another client behind the same proxy').toBe(401);
    expect(await statusFor('x1')).toBe(401);
    expect(await statusFor('x2')).toBe(401);
    expect(await statusFor('x3'), 'all invalid addresses count as one').toBe(429);
    const good = await send({ from: '10.0.0.1', headers: { 'x-forwarded-for': '198.51.100.1' } });
    expect(good.status).toBe(200);
  });

  test('an error for a wrong address does not contain addresses', async () => {
    const { addKey, send } = await startService({ trustProxy });
    const key = await addKey('listed', { type: 'admin', allow: ['192.0.2.1'] });
    const answer = await send({ key, from: '10.0.0.1', headers: { 'x-forwarded-for': '192.0.2.2' } });
    expect([answer.status, errorOf(answer)]).toEqual([403, 'The API key may not be used from this address.']);
  });
});

test('a client that disconnects while its key is looked up still has its address', async () => {
  const service = await startService();
  const key = await service.addKey('listed', { type: 'admin', allow: ['127.0.0.1'] });
  const hold = holdCalls(service, 'findAccess');
  const connection = await service.connect();
  connection.write(get(STATS, ['Host: test', `Authorization: Bearer ${key}`]));
  await hold.reached();
  connection.close();
  await expect.poll(() => service.connections()).toBe(0);
  hold.release();
  await expect.poll(() => service.calls.map(({ method }) => method)).toContain('count');
  expect(service.log()).not.toContain('request failed');
});
