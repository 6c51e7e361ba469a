/** Sign-ins under a flood of passwords: strangers are refused, and nobody else waits. */
import { describe, expect, test, vi } from 'vitest';
import {
  knownSignInsMax,
  networkSignInsMax,
  refusedSignInsMax,
  strangerSignInsMax,
  userSignInsMax,
} from '../../../src/domain/limits.js';
import { Browser, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { errorOf, type Service, startService } from '../../support/http/http.js';

const ada = 'ada@example.org';
const addressOf = (number: number) => `198.51.100.${number % 250}`;

/** Keeps the next calls that count attempts from finishing, until the returned function is called. */
function holdAttempts({ store }: Service, many: number): () => void {
  const take = store.throttles.take.bind(store.throttles);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held = 0;
  vi.spyOn(store.throttles, 'take').mockImplementation(async (...args) => {
    if (held++ < many) await released;
    return take(...args);
  });
  return release;
}

function guess(service: Service, number: number) {
  return new Browser(service, addressOf(number)).signIn(`nobody${number}@example.org`, 'wrong password');
}

describe('while as many strangers sign in as are served at once', () => {
  test('others get 503 without a change of the database, and one line in the log', async () => {
    const service = await startService();
    const release = holdAttempts(service, strangerSignInsMax);
    const served = Array.from({ length: strangerSignInsMax }, (_, at) => guess(service, at));
    await vi.waitFor(() => expect(service.store.throttles.take).toHaveBeenCalledTimes(strangerSignInsMax));
    // More than wait for their answer.
    const refused = await Promise.all(
      Array.from({ length: refusedSignInsMax + 10 }, (_, at) => guess(service, 100 + at)),
    );
    for (const answer of refused) expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(errorOf(refused[0] as never)).toBe('Too many people are signing in at once; try again.');
    expect(service.store.throttles.take).toHaveBeenCalledTimes(strangerSignInsMax);
    const lines = service.log().split('\n');
    expect(lines.filter((line) => line.includes('sign-ins are refused'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('request failed'))).toEqual([]);
    release();
    expect((await Promise.all(served)).map(({ status }) => status)).toEqual(
      Array(strangerSignInsMax).fill(401),
    );
    expect((await guess(service, 50)).status).toBe(401);
  });

  test('known browsers sign in, and people with a session change their password', async () => {
    const service = await startService();
    const known = await signedIn(service, ada, 'owner');
    const [withoutDevice, signedOut] = [
      new Browser(service, addressOf(1)),
      new Browser(service, addressOf(2)),
    ];
    for (const [name, value] of known.cookies)
      (name.endsWith('device') ? signedOut : withoutDevice).setCookie(name, value);
    const release = holdAttempts(service, strangerSignInsMax);
    const served = Array.from({ length: strangerSignInsMax }, (_, at) => guess(service, at));
    await vi.waitFor(() => expect(service.store.throttles.take).toHaveBeenCalledTimes(strangerSignInsMax));
    expect((await new Browser(service, addressOf(9)).signIn(ada)).status).toBe(503);
    expect((await signedOut.signIn(ada)).status).toBe(200);
    const body = { password: PASSWORD, newPassword: 'another long passphrase' };
    expect((await withoutDevice.send({ path: '/api/account/password', body })).status).toBe(204);
    release();
    await Promise.all(served);
  });
});

test.each([
  ['an address of IPv4', () => '198.51.100.7'],
  ['a /48 of IPv6', (at: number) => `2001:db8:7:${at}::1`],
])('%s takes only a part of the places, so that others sign in', async (_what, from) => {
  const service = await startService();
  await signedIn(service, ada, 'owner');
  const release = holdAttempts(service, networkSignInsMax);
  const signIn = (at: number) => new Browser(service, from(at)).signIn(`n${at}@example.org`, 'wrong');
  const served = Array.from({ length: networkSignInsMax }, (_, at) => signIn(at));
  await vi.waitFor(() => expect(service.store.throttles.take).toHaveBeenCalledTimes(networkSignInsMax));
  expect((await signIn(networkSignInsMax)).status).toBe(503);
  expect((await new Browser(service, addressOf(9)).signIn(ada)).status).toBe(200);
  release();
  await Promise.all(served);
});

test('requests that do not arrive keep nobody from signing in', async () => {
  const service = await startService();
  await signedIn(service, ada, 'owner');
  const head = [
    'POST /api/sign-in HTTP/1.1',
    'Host: localhost',
    'Origin: http://localhost',
    'Content-Length: 100',
  ];
  for (let at = 0; at < 2 * knownSignInsMax; at++) {
    const connection = await service.connect();
    connection.write(`${head.join('\r\n')}\r\nContent-Type: application/json\r\n\r\n{`);
  }
  // The server has read the last of them: another one on a new connection is answered.
  expect((await guess(service, 1)).status).toBe(401);
  expect((await new Browser(service, addressOf(2)).signIn(ada)).status).toBe(200);
});

test('known browsers are bounded, too, and one user cannot take all their places', async () => {
  const service = await startService();
  const people: Browser[] = [];
  for (let at = 0; at < knownSignInsMax / userSignInsMax; at++)
    people.push(await signedIn(service, `person${at}@example.org`, 'viewer'));
  const late = await signedIn(service, ada, 'owner');
  const release = holdAttempts(service, knownSignInsMax);
  const served: ReturnType<Browser['signIn']>[] = [];
  for (const [at, person] of people.entries()) {
    const signIn = () => person.copy().signIn(`person${at}@example.org`);
    served.push(...Array.from({ length: userSignInsMax }, signIn));
    await vi.waitFor(() => expect(service.store.throttles.take).toHaveBeenCalledTimes(served.length));
    expect((await signIn()).status).toBe(503);
    expect(service.store.throttles.take).toHaveBeenCalledTimes(served.length);
  }
  expect((await late.copy().signIn(ada)).status).toBe(503);
  release();
  const statuses = (await Promise.all(served)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect((await late.signIn(ada)).status).toBe(200);
});
