/** Guessing is slowed, and whoever signed in before at a browser is not locked out by it. */
import { describe, expect, test, vi } from 'vitest';
import { CallerStatsError } from '../../src/domain/errors.js';
import { addressFailuresMax, guessesMax, guessWindowSeconds } from '../../src/domain/limits.js';
import { Browser, PASSWORD, signedIn } from '../support/dashboard.js';
import { errorOf, type Service, startService } from '../support/http.js';

const [ada, bob] = ['ada@example.org', 'bob@example.org'] as const;
const addressOf = (number: number) => `198.51.100.${number}`;

/** So many wrong guesses, each from an address of its own where none is named; what was answered. */
async function guess(service: Service, email: string, times: number, from?: string): Promise<number[]> {
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

describe("guesses at one user's password", () => {
  test('by strangers end after a few, from wherever they come; a browser that is known goes on', async () => {
    const service = await startService();
    const known = await signedIn(service, ada, 'owner', { from: '192.0.2.1' });
    await known.ask({ path: '/api/sign-out', body: {} }, 204);
    const other = await signedIn(service, bob, 'viewer', { from: '192.0.2.2' });
    expect(await guess(service, ada, guessesMax + 2)).toEqual([...allWrong, 429, 429]);
    const right = await new Browser(service, addressOf(99)).signIn(ada);
    expect([right.status, right.cookies]).toEqual([429, []]);
    expect(errorOf(right)).toMatch(/^Too many failed attempts\. Try again in 15 min, or from a browser/);
    const seconds = Number(right.headers['retry-after']);
    expect(seconds).toBeGreaterThan(guessWindowSeconds - 120);
    expect(seconds).toBeLessThanOrEqual(guessWindowSeconds);
    // Spelled in another way it is the same user.
    expect((await new Browser(service, addressOf(98)).signIn('ADA@Example.org ')).status).toBe(429);
    expect((await known.signIn(ada)).status).toBe(200);
    expect((await new Browser(service, addressOf(1)).signIn(bob)).status).toBe(200);
    expect((await other.send({ path: '/api/sessions' })).status).toBe(200);
  });

  test('that come all at once are no more than one after the other', async () => {
    const service = await startService();
    await signedIn(service, ada, 'owner');
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        new Browser(service, addressOf(at)).signIn(ada, `wrong guess number ${at}`),
      ),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(guessesMax);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30 - guessesMax);
  });

  test('do not add up with those that were right', async () => {
    const service = await startService();
    await signedIn(service, ada, 'owner');
    for (let at = 0; at < guessesMax + 2; at++)
      expect((await new Browser(service, addressOf(at)).signIn(ada)).status).toBe(200);
    expect(await guess(service, ada, guessesMax + 1)).toEqual([...allWrong, 429]);
  });

  test('at a browser that is known are counted for themselves', async () => {
    const service = await startService();
    const known = await signedIn(service, ada, 'owner');
    for (let at = 0; at < guessesMax; at++)
      expect((await known.signIn(ada, `wrong guess no ${at}`)).status).toBe(401);
    expect((await known.signIn(ada)).status).toBe(429);
    expect((await new Browser(service, known.from).signIn(ada)).status).toBe(200);
  });

  test('of whom nobody knows are answered in the same words', async () => {
    const service = await startService();
    await signedIn(service, ada, 'owner');
    const wrong = await new Browser(service).signIn(ada, 'not the passphrase');
    const unknown = await new Browser(service).signIn(bob, 'not the passphrase');
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
    expect(await guess(service, bob, guessesMax + 1)).toEqual([...allWrong.slice(1), 429, 429]);
  });

  test('by whoever has a session are no way around', async () => {
    const service = await startService();
    const browser = await signedIn(service, ada, 'owner');
    const change = (currentPassword: string) =>
      browser.send({
        path: '/api/account/password',
        body: { currentPassword, newPassword: 'another long passphrase' },
      });
    const start = (password: string) =>
      browser.send({ path: '/api/account/second-factor/start', body: { password } });
    for (let at = 0; at < guessesMax; at++)
      expect((await (at % 2 === 0 ? change : start)(`wrong guess ${at}`)).status).toBe(401);
    expect((await change(PASSWORD)).status).toBe(429);
    expect((await start(PASSWORD)).status).toBe(429);
  });
});

test('an address that fails for many users is refused for all that it does not know', async () => {
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

describe('the limit', () => {
  const startTwo = async () => {
    const one = await startService();
    await signedIn(one, ada, 'owner', { from: '192.0.2.1' });
    return { one, other: await startService({ database: one.databaseUrl, keys: one.keys }) };
  };

  test('holds for all servers of a database together', async () => {
    const { one, other } = await startTwo();
    const statuses: number[] = [];
    for (let at = 0; at < guessesMax + 4; at++)
      statuses.push(...(await guess(at % 2 === 0 ? one : other, ada, 1, addressOf(at))));
    expect(statuses).toEqual([...allWrong, 429, 429, 429, 429]);
    for (const service of [one, other])
      expect((await new Browser(service, addressOf(99)).signIn(ada)).status).toBe(429);
  });

  test('holds for guesses at several servers at once', async () => {
    const { one, other } = await startTwo();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        new Browser(at % 2 === 0 ? one : other, addressOf(at)).signIn(ada, `wrong guess number ${at}`),
      ),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(guessesMax);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30 - guessesMax);
  });

  test('survives a restart, and ends with its window', async () => {
    const before = await startService();
    const known = await signedIn(before, ada, 'owner', { from: '192.0.2.1' });
    expect(await guess(before, ada, guessesMax - 1)).toEqual(allWrong.slice(1));
    await before.close();
    await before.store.close();
    const after = await startService({ database: before.databaseUrl, keys: before.keys });
    expect(await guess(after, ada, 2)).toEqual([401, 429]);
    const device = new Browser(after, addressOf(50));
    device.setCookie('caller-stats.device', known.cookie('caller-stats.device') ?? '');
    expect((await device.signIn(ada)).status).toBe(200);
    after.clock.nowMs += guessWindowSeconds * 1000 - 1;
    expect((await new Browser(after, addressOf(60)).signIn(ada)).status).toBe(429);
    after.clock.nowMs += 1;
    expect((await new Browser(after, addressOf(60)).signIn(ada)).status).toBe(200);
  });

  test('refuses everybody while the store cannot count', async () => {
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

  test('keeps no address of anybody', async () => {
    const service = await startService();
    const take = vi.spyOn(service.store.throttles, 'take');
    await guess(service, ada, 1, '192.0.2.77');
    expect(take.mock.calls.map(([key]) => key)).toEqual([
      expect.stringMatching(/^[\w-]{43}$/),
      expect.stringMatching(/^[\w-]{43}$/),
    ]);
  });
});

describe('the cookie of a known browser', () => {
  const device = 'caller-stats.device';

  test.each([
    ["another user's", async (service: Service) => (await signedIn(service, bob, 'owner')).cookie(device)],
    ['one of no server', async () => `${'a'.repeat(22)}.${'b'.repeat(43)}`],
    [
      'one with another id',
      async (_service: Service, own: string) => `${'a'.repeat(22)}.${own.split('.')[1]}`,
    ],
    ['one that is cut', async (_service: Service, own: string) => own.slice(0, -1)],
    ['one without a signature', async (_service: Service, own: string) => own.split('.')[0]],
    ['an empty one', async () => ''],
  ])('is worth nothing where it is %s', async (_what, make) => {
    const service = await startService();
    const own = (await signedIn(service, ada, 'owner')).cookie(device) ?? '';
    const forged = (await make(service, own)) ?? '';
    await guess(service, ada, guessesMax);
    const stranger = new Browser(service, addressOf(50));
    stranger.setCookie(device, forged);
    expect((await stranger.signIn(ada)).status).toBe(429);
    stranger.setCookie(device, own);
    expect((await stranger.signIn(ada)).status).toBe(200);
  });
});
