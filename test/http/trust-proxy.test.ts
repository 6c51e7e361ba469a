/** Which address a request is taken to come from: the connection's, unless a proxy that is believed says otherwise. */
import { describe, expect, test } from 'vitest';
import { errorOf, type Service, sharedService, startService } from '../support/http.js';

const REPORT = {
  method: 'POST',
  path: '/v1/leaked-keys',
  key: null,
  headers: { 'content-type': 'application/json' },
};

let reports = 0;

/** The address that the audit log has of a request, which is the one that everything goes by. */
async function addressSeen(
  { addKey, send, store }: Service,
  from: string,
  headers: Readonly<Record<string, string>>,
): Promise<string | null | undefined> {
  const id = `reported-${reports++}`;
  const leaked = await addKey(id, { type: 'admin' });
  const answer = await send({
    ...REPORT,
    headers: { ...REPORT.headers, ...headers },
    body: JSON.stringify({ key: leaked }),
    from,
  });
  expect(answer.status).toBe(200);
  const [entry] = await store.readAudit('default', { limit: 1 });
  expect(entry).toMatchObject({ action: 'key.revoke', targetId: id });
  return entry?.address;
}

describe('where no proxy is named, nobody is believed', () => {
  const service = sharedService();
  test.each(['127.0.0.1', '192.0.2.1', '::1', '10.0.0.1'])('who connects from %s', async (from) => {
    for (const name of ['x-forwarded-for', 'X-Real-IP', 'forwarded', 'true-client-ip', 'cf-connecting-ip']) {
      const value = name === 'forwarded' ? 'for=198.51.100.1' : '198.51.100.1';
      expect(await addressSeen(service(), from, { [name]: value }), name).toBe(from);
    }
  });

  test('an allowlist is not met by saying so', async () => {
    const { addKey, send } = service();
    const key = await addKey('listed', { type: 'admin', allow: ['198.51.100.1'] });
    const answer = await send({ key, from: '192.0.2.1', headers: { 'x-forwarded-for': '198.51.100.1' } });
    expect(answer.status).toBe(403);
    expect((await send({ key, from: '198.51.100.1' })).status).toBe(200);
  });
});

const trustProxy = ['10.0.0.0/8', '::1', '2001:db8:1::/48'];

describe(`where ${trustProxy.join()} are believed`, () => {
  const service = sharedService({ trustProxy });
  test.each<[what: string, from: string, forwarded: string, address: string]>([
    ['nobody else is', '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['nobody else is, who names a proxy', '192.0.2.1', '198.51.100.1, 10.0.0.1', '192.0.2.1'],
    ['a neighbour of theirs is not', '11.0.0.1', '198.51.100.1', '11.0.0.1'],
    ['an IPv6 neighbour is not', '2001:db8:2::1', '198.51.100.1', '2001:db8:2::1'],
    ['what they say is taken', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['one that connects over IPv6 is', '::1', '198.51.100.1', '198.51.100.1'],
    ['one in an IPv6 network is', '2001:db8:1:ffff::1', '198.51.100.1', '198.51.100.1'],
    ['one that connects by a mapped address is', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a client may be IPv6', '10.0.0.1', '2001:db8:2::7', '2001:db8:2::7'],
    ['a mapped client is IPv4', '10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    [
      'what stands before the last is the client’s own word',
      '10.0.0.1',
      '1.2.3.4, 198.51.100.1',
      '198.51.100.1',
    ],
    ['so are proxies before it', '10.0.0.1', '1.2.3.4, 10.0.0.9, 198.51.100.1', '198.51.100.1'],
    ['so is a crowd', '10.0.0.1', `${'1.2.3.4, '.repeat(500)}198.51.100.1`, '198.51.100.1'],
    ['so is garbage', '10.0.0.1', '<x>, 198.51.100.1', '198.51.100.1'],
    ['a chain of them is followed', '10.0.0.1', '198.51.100.1, 10.0.0.3, 2001:db8:1::2', '198.51.100.1'],
    ['but not past another', '10.0.0.1', '1.2.3.4, 198.51.100.1, 10.0.0.3', '198.51.100.1'],
    ['spaces do not matter', '10.0.0.1', ' 1.2.3.4,198.51.100.1 ,  10.0.0.3 ', '198.51.100.1'],
    ['empty entries do not matter', '10.0.0.1', ',, 198.51.100.1,, 10.0.0.3,', '198.51.100.1'],
    ['one that names none is the client', '10.0.0.1', '', '10.0.0.1'],
    ['one that names itself alone is', '10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ['one that names no address stands for it', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['the same behind another', '10.0.0.1', '1.2.3.4, unknown, 10.0.0.3', '10.0.0.3'],
    ['a port is no address', '10.0.0.1', '198.51.100.1:4711', '10.0.0.1'],
    ['brackets are no address', '10.0.0.1', '[2001:db8:2::7]', '10.0.0.1'],
    ['a network is no address', '10.0.0.1', '10.0.0.0/8', '10.0.0.1'],
    ['a long story is no address', '10.0.0.1', 'x'.repeat(9000), '10.0.0.1'],
  ])('%s', async (_what, from, forwarded, address) => {
    expect(await addressSeen(service(), from, { 'x-forwarded-for': forwarded })).toBe(address);
  });

  test('they are believed in no other header', async () => {
    for (const [name, value] of Object.entries({ 'x-real-ip': '1.2.3.4', forwarded: 'for=1.2.3.4' })) {
      expect(await addressSeen(service(), '10.0.0.1', { [name]: value }), name).toBe('10.0.0.1');
    }
  });

  test('allowlists go by that address, IPv4 and IPv6', async () => {
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

describe('the limit of failures goes by that address', () => {
  test('and a client does not get around it by what it says', async () => {
    const { send } = await startService({ trustProxy, limits: { failuresPerMinute: 2 } });
    const statusFor = async (forwarded: string, from = '10.0.0.1') =>
      (await send({ key: null, from, headers: { 'x-forwarded-for': forwarded } })).status;
    expect(await statusFor('198.51.100.1')).toBe(401);
    expect(await statusFor('1.1.1.1, 198.51.100.1', '10.0.0.2')).toBe(401);
    expect(await statusFor('2.2.2.2, 198.51.100.1')).toBe(429);
    expect(await statusFor('::ffff:198.51.100.1')).toBe(429);
    expect(await statusFor('3.3.3.3', '198.51.100.1'), 'connected without a proxy').toBe(429);
    expect(await statusFor('198.51.100.2'), 'another behind the same proxy').toBe(401);
    expect(await statusFor('x1')).toBe(401);
    expect(await statusFor('x2')).toBe(401);
    expect(await statusFor('x3'), 'what is no address is one address').toBe(429);
    const good = await send({ from: '10.0.0.1', headers: { 'x-forwarded-for': '198.51.100.1' } });
    expect(good.status).toBe(200);
  });

  test('a refused address says no more than that', async () => {
    const { addKey, send } = await startService({ trustProxy });
    const key = await addKey('listed', { type: 'admin', allow: ['192.0.2.1'] });
    const answer = await send({ key, from: '10.0.0.1', headers: { 'x-forwarded-for': '192.0.2.2' } });
    expect([answer.status, errorOf(answer)]).toEqual([403, 'The API key may not be used from this address.']);
  });
});
