/** Limits of failed sign-ins. They do not lock out a user at a browser that the user has signed in with. */
import { describe, expect, test, vi } from 'vitest';
import { CallerStatsError } from '../../../src/domain/errors.js';
import {
  addressFailuresMax,
  guessesMax,
  guessWindowSeconds,
  takenIdsMax,
  takenIdsWindowSeconds,
  wideNetworkFactor,
} from '../../../src/domain/limits.js';
import { Browser, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { errorOf, type Service, startService } from '../../support/http/http.js';
import { by, projectOf } from '../../support/storage/entities.js';
import { usersOf } from '../../support/users/visitor.js';

const [ada, bob] = ['ada@example.org', 'bob@example.org'] as const;
const addressOf = (number: number) => `198.51.100.${number}`;

/** Signs in with wrong passwords, each from a new address unless `from` is given; returns the statuses. */
async function guessPasswords(
  service: Service,
  email: string,
  times: number,
  from?: string,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 1; at <= times; at++) {
    const { status } = await new Browser(service, from ?? addressOf(at)).signIn(
      email,
      `wrong guess no ${at}`,
    );
    statuses.push(status);
  }
  return statuses;
}

const allWrong = Array.from({ length: guessesMax }, () => 401);

describe('failed sign-ins for one user', () => {
  test('are limited across addresses, except for a known browser', async () => {
    const service = await startService();
    const known = await signedIn(service, ada, 'owner', { from: '192.0.2.1' });
    await known.ask({ path: '/api/sign-out', body: {} }, 204);
    const other = await signedIn(service, bob, 'viewer', { from: '192.0.2.2' });
    expect(await guessPasswords(service, ada, guessesMax + 2)).toEqual([...allWrong, 429, 429]);
    const right = await new Browser(service, addressOf(99)).signIn(ada);
    expect([right.status, right.cookies]).toEqual([429, []]);
    expect(errorOf(right)).toMatch(/^Too many failed attempts\. Try again in 15 min, or from a browser/);
    const seconds = Number(right.headers['retry-after']);
    expect(seconds).toBeGreaterThan(guessWindowSeconds - 120);
    expect(seconds).toBeLessThanOrEqual(guessWindowSeconds);
    // Another spelling of the same address.
    expect((await new Browser(service, addressOf(98)).signIn('ADA@Example.org ')).status).toBe(429);
    expect((await known.signIn(ada)).status).toBe(200);
    expect((await new Browser(service, addressOf(1)).signIn(bob)).status).toBe(200);
    expect((await other.send({ path: '/api/sessions' })).status).toBe(200);
  });

  test.each(['known', 'new'])('do not keep out a %s browser that opens a reset link', async (kind) => {
    const service = await startService();
    const known = await signedIn(service, ada, 'owner');
    const browser = kind === 'known' ? known : new Browser(service, addressOf(50));
    for (let at = 0; at <= guessesMax; at++) await browser.signIn(ada, `wrong guess no ${at}`);
    expect((await browser.signIn(ada)).status).toBe(429);
    const token = await usersOf(service.store).credentials.startPasswordReset(ada);
    const password = 'another long passphrase';
    await browser.ask({ path: '/api/password-reset', body: { token, password } }, 204);
    expect((await browser.signIn(ada, password)).status).toBe(200);
    if (kind === 'new')
      expect((await new Browser(service, addressOf(51)).signIn(ada, password)).status).toBe(429);
  });

  test('are counted without the successful ones', async () => {
    const service = await startService();
    await signedIn(service, ada, 'owner');
    for (let at = 0; at < guessesMax + 2; at++)
      expect((await new Browser(service, addressOf(at)).signIn(ada)).status).toBe(200);
    expect(await guessPasswords(service, ada, guessesMax + 1)).toEqual([...allWrong, 429]);
  });

  test('are counted separately for a known browser', async () => {
    const service = await startService();
    const known = await signedIn(service, ada, 'owner');
    for (let at = 0; at < guessesMax; at++)
      expect((await known.signIn(ada, `wrong guess no ${at}`)).status).toBe(401);
    expect((await known.signIn(ada)).status).toBe(429);
    expect((await new Browser(service, known.from).signIn(ada)).status).toBe(200);
  });

  test('get the same responses if the user does not exist', async () => {
    const service = await startService();
    await signedIn(service, ada, 'owner');
    const wrong = await new Browser(service).signIn(ada, 'not the passphrase');
    const unknown = await new Browser(service).signIn(bob, 'not the passphrase');
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
    expect(await guessPasswords(service, bob, guessesMax + 1)).toEqual([...allWrong.slice(1), 429, 429]);
  });

  test('include wrong passwords in the account settings', async () => {
    const service = await startService();
    const browser = await signedIn(service, ada, 'owner');
    const change = (password: string) =>
      browser.send({
        path: '/api/account/password',
        body: { password, newPassword: 'another long passphrase' },
      });
    const start = (password: string) =>
      browser.send({ path: '/api/account/second-factor/start', body: { password } });
    for (let at = 0; at < guessesMax; at++)
      expect((await (at % 2 === 0 ? change : start)(`wrong guess ${at}`)).status).toBe(401);
    expect((await change(PASSWORD)).status).toBe(429);
    expect((await start(PASSWORD)).status).toBe(429);
  });
});

test('an address that fails for many users is blocked, except for known browsers', async () => {
  const service = await startService();
  await signedIn(service, ada, 'owner', { from: '192.0.2.1' });
  const from = addressOf(7);
  const known = new Browser(service, from);
  expect((await known.signIn(ada)).status).toBe(200);
  const nobodies = Array.from({ length: addressFailuresMax }, (_, at) => `nobody${at}@example.org`);
  for (const one of nobodies) expect((await new Browser(service, from).signIn(one, 'x')).status).toBe(401);
  expect((await new Browser(service, from).signIn(bob, 'x')).status).toBe(429);
  expect((await new Browser(service, from).signIn(ada)).status).toBe(429);
  expect((await new Browser(service, addressOf(8)).signIn(ada)).status).toBe(200);
  expect((await known.signIn(ada)).status).toBe(200);
});

test('addresses of IPv6 are blocked by /64, and by /48 after ten times as many failures', async () => {
  const service = await startService();
  const tryFrom = async (from: string, number: number) =>
    (await new Browser(service, from).signIn(`nobody${number}@example.org`, 'x')).status;
  // The counts as if so many had failed: a thousand sign-ins take too long.
  const take = service.store.throttles.take.bind(service.store.throttles);
  const weigh = vi.spyOn(service.store.throttles, 'take');
  weigh.mockImplementation((key, { attemptsMax, windowMs }, nowMs) =>
    take(key, { attemptsMax: Math.ceil(attemptsMax / 25), windowMs }, nowMs),
  );
  const times = addressFailuresMax / 25;
  for (let host = 1; host <= times; host++) expect(await tryFrom(`2001:db8:1:1::${host}`, host)).toBe(401);
  expect(await tryFrom('2001:db8:1:1::ffff', 50)).toBe(429);
  for (let at = times; at < times * wideNetworkFactor; at++)
    expect(await tryFrom(`2001:db8:1:${100 + Math.floor(at / times)}::1`, 100 + at)).toBe(401);
  expect(await tryFrom('2001:db8:1:ffff::1', 50)).toBe(429);
  expect(await tryFrom('2001:db8:2:1::1', 50)).toBe(401);
});

describe('the limit of failed sign-ins', () => {
  test('includes concurrent attempts at several servers of a database', async () => {
    const one = await startService();
    await signedIn(one, ada, 'owner', { from: '192.0.2.1' });
    const other = await startService({ database: one.databaseUrl, keys: one.keys });
    const guess = async (at: number): Promise<number> => {
      const service = at % 2 === 0 ? one : other;
      const { status } = await new Browser(service, addressOf(at)).signIn(ada, `wrong guess number ${at}`);
      // Too many strangers at once: this one is not counted.
      return status === 503 ? guess(at) : status;
    };
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, at) => guess(at)));
    expect(statuses.toSorted()).toEqual([...allWrong, ...Array<number>(30 - guessesMax).fill(429)]);
    for (const service of [one, other])
      expect((await new Browser(service, addressOf(99)).signIn(ada)).status).toBe(429);
  });

  test('survives a restart and ends after 15 minutes', async () => {
    const before = await startService({ ownFile: true });
    const known = await signedIn(before, ada, 'owner', { from: '192.0.2.1' });
    expect(await guessPasswords(before, ada, guessesMax - 1)).toEqual(allWrong.slice(1));
    await before.close();
    await before.store.close();
    const after = await startService({ database: before.databaseUrl, keys: before.keys });
    expect(await guessPasswords(after, ada, 2)).toEqual([401, 429]);
    const device = new Browser(after, addressOf(50));
    device.setCookie('caller-stats.device', known.cookie('caller-stats.device') ?? '');
    expect((await device.signIn(ada)).status).toBe(200);
    after.clock.nowMs += guessWindowSeconds * 1000 - 1;
    expect((await new Browser(after, addressOf(60)).signIn(ada)).status).toBe(429);
    after.clock.nowMs += 1;
    expect((await new Browser(after, addressOf(60)).signIn(ada)).status).toBe(200);
  });

  test('returns 503 while the store is unavailable', async () => {
    const service = await startService();
    await signedIn(service, ada, 'owner');
    const away = new CallerStatsError('unavailable', 'The store is away.');
    const take = vi.spyOn(service.store.throttles, 'take').mockRejectedValue(away);
    for (const password of [PASSWORD, 'not the passphrase']) {
      const answer = await new Browser(service, addressOf(1)).signIn(ada, password);
      expect([answer.status, answer.cookies]).toEqual([503, []]);
    }
    take.mockRestore();
    expect((await new Browser(service, addressOf(1)).signIn(ada)).status).toBe(200);
  });

  test('does not store addresses', async () => {
    const service = await startService();
    const take = vi.spyOn(service.store.throttles, 'take');
    await guessPasswords(service, ada, 1, '192.0.2.77');
    expect(take.mock.calls.map(([key]) => key)).toEqual([
      expect.stringMatching(/^[\w-]{43}$/),
      expect.stringMatching(/^[\w-]{43}$/),
      // The entry in the audit log.
      expect.stringMatching(/^[\w-]{43}$/),
    ]);
  });
});

describe('a cookie of a known browser', () => {
  const device = 'caller-stats.device';

  test('is ignored if it was forged or belongs to another user', async () => {
    const service = await startService();
    const own = (await signedIn(service, ada, 'owner')).cookie(device) ?? '';
    const [id = '', signature = ''] = own.split('.');
    const useless = [
      (await signedIn(service, bob, 'owner')).cookie(device) ?? '',
      `${'a'.repeat(22)}.${'b'.repeat(43)}`,
      `${'a'.repeat(22)}.${signature}`,
      own.slice(0, -1),
      id,
      '',
    ];
    await guessPasswords(service, ada, guessesMax);
    const stranger = new Browser(service, addressOf(50));
    for (const cookie of useless) {
      stranger.setCookie(device, cookie);
      expect((await stranger.signIn(ada)).status, cookie.length.toString()).toBe(429);
    }
    stranger.setCookie(device, own);
    expect((await stranger.signIn(ada)).status).toBe(200);
  });
});

test('ids of other organizations can be tried a few times, and tell nothing but that they are not free', async () => {
  const service = await startService();
  const editor = await signedIn(service, ada, 'editor');
  await service.store.directory.createProject(projectOf('theirs', { organizationId: 'rival' }), by);
  const create = (id?: string) =>
    editor.send({ path: '/api/organizations/default/projects', body: { name: 'Mine', id } });
  expect(errorOf(await create('theirs'))).toBe(
    'The id theirs is not free on this server. Choose another one.',
  );
  expect((await create('mine')).status).toBe(201);
  expect(errorOf(await create('mine'))).toBe('There is a project mine already.');
  const answers = await Promise.all(Array.from({ length: takenIdsMax }, () => create('theirs')));
  const statuses = answers.map(({ status }) => status).toSorted();
  expect(statuses).toEqual([...Array(takenIdsMax - 2).fill(409), ...Array(2).fill(429)]);
  const blocked = await create('free');
  expect([blocked.status, Number(blocked.headers['retry-after'])]).toEqual([429, takenIdsWindowSeconds]);
  expect((await create()).status).toBe(201);
  service.clock.nowMs += takenIdsWindowSeconds * 1000;
  expect((await create('free')).status).toBe(201);
});
