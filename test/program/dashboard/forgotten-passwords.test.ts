/** Links by e-mail for people who forgot their password: who gets one, who learns what, and how often. */
import { expect, test, vi } from 'vitest';
import {
  guessesMax,
  resetLinkSeconds,
  resetMailAgainSeconds,
  resetMailsMax,
  resetRequestsMax,
  resetRequestsWaitingMax,
} from '../../../src/domain/limits.js';
import { auditOf, Browser, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { detailsOf, errorOf, type Service, startService } from '../../support/http/http.js';
import { startMailServer } from '../../support/http/receivers.js';
import { by } from '../../support/storage/store.js';
import { codeNow, travel, usersOf } from '../../support/users/visitor.js';

const [ada, bob] = ['ada@example.org', 'bob@example.org'] as const;
const newPassword = 'another long passphrase';
const pagesUrl = 'https://stats.example.org';

async function start(
  mail: Parameters<typeof startMailServer>[0] = {},
  onEnd?: Parameters<typeof startService>[1],
  more: Parameters<typeof startService>[0] = {},
) {
  travel(Date.now());
  const server = await startMailServer(mail);
  const mailed = { smtpUrl: server.url, mailFrom: 'stats@example.org' };
  const options = {
    notifications: { mail: mailed },
    users: { publicUrl: pagesUrl },
    nowMs: Date.now(),
    ...more,
  };
  const service = await startService(options, onEnd);
  return { ...server, service };
}

let visitors = 0;
function stranger(service: Service): Browser {
  visitors++;
  return new Browser(service, `192.0.2.${visitors}`);
}
const ask = (browser: Browser, email: string) =>
  browser.send({ path: '/api/password-reset/mail', body: { email } });
const reset = (browser: Browser, token: string, password = newPassword) =>
  browser.send({ path: '/api/password-reset', body: { token, password } });

type Mails = Awaited<ReturnType<typeof start>>['received'];
const arrived = (received: Mails, count: number) =>
  vi.waitFor(() => expect(received).toHaveLength(count), { timeout: 20_000 });

function tokenOf(service: Service, received: Mails, at = -1): string {
  // Lines of a mail are wrapped with "=" at their ends.
  const source = received.at(at)?.source.replaceAll('=\r\n', '') ?? '';
  const token = source.match(/https:\/\/stats\.example\.org\/reset#([\w-]+)/)?.[1] ?? 'none';
  service.hide(token);
  return token;
}

function hold(): { readonly held: Promise<void>; readonly release: () => void } {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { held, release };
}

/** Lets no statement of the accounts that matches end until the result is called: by default, no look at them. */
function holdAccounts({ store }: Service, matches = /^/): () => void {
  const { held, release } = hold();
  const run = store.users.run.bind(store.users);
  vi.spyOn(store.users, 'run').mockImplementation(async (statement) => {
    if (matches.test(statement.sql)) await held;
    return run(statement);
  });
  return release;
}

/** How many mails do not count any more for their person, from now on. */
function givenBack({ store }: Service): () => number {
  const { mock } = vi.spyOn(store.users, 'run');
  const isOfMail = (parameter: unknown) => String(parameter).startsWith('mailed-reset-');
  return () =>
    mock.calls.filter(([{ sql, parameters }]) => /^delete/i.test(sql) && parameters.some(isOfMail)).length;
}

const passwordEntries = async (service: Service) =>
  (await auditOf(service))
    .filter(({ action }) => action === 'user.password')
    .map(({ actor, address, targetId, detail }) => [actor, address, targetId, detail]);

test.each([
  ['e-mail server', { notifications: {}, users: { publicUrl: pagesUrl } }],
  [
    'public address',
    { notifications: { mail: { smtpUrl: 'smtp://127.0.0.1:1', mailFrom: 'stats@example.org' } }, users: {} },
  ],
])('a server without an %s offers none', async (_what, options) => {
  const service = await startService(options);
  await signedIn(service, ada, 'owner');
  const refused = await ask(new Browser(service), ada);
  expect([refused.status, errorOf(refused)]).toEqual([
    404,
    'This server sends no links by e-mail; ask your administrator for one.',
  ]);
  expect(await new Browser(service).ask({ path: '/api/session' })).toMatchObject({ resetMails: false });
});

test('what is not an address is refused', async () => {
  const { service, received } = await start();
  expect(detailsOf(await ask(stranger(service), 'ada'))).toEqual(['email: is not an e-mail address']);
  expect(detailsOf(await ask(stranger(service), `${ada}\r\nBcc: ${bob}`))).toEqual([
    'email: is not an e-mail address',
  ]);
  expect(received).toEqual([]);
});

test('the answer is the same whoever has an account, and waits for no look at it', async () => {
  const { service, received } = await start();
  await signedIn(service, ada, 'owner');
  const release = holdAccounts(service);
  const answers: object[] = [];
  for (const email of [ada, bob]) {
    const { status, text, headers } = await ask(stranger(service), email);
    answers.push({ status, text, names: Object.keys(headers).toSorted() });
  }
  expect(answers[0]).toMatchObject({ status: 204, text: '' });
  expect(answers[1]).toEqual(answers[0]);
  release();
  await arrived(received, 1);
  expect(received[0]?.to).toEqual([ada]);
});

test('nobody sees from the time of the next answer that a mail is sent', async () => {
  const ends: (() => Promise<void>)[] = [];
  const onEnd = (end: () => Promise<void>) => void ends.unshift(end);
  const { service, received } = await start({}, onEnd, { resetDelayMsMax: 2 ** 31 - 1 });
  await signedIn(service, ada, 'owner');
  const { mock } = vi.spyOn(service.store.users, 'run');
  expect((await ask(stranger(service), ada)).status).toBe(204);
  expect((await service.send({ path: '/livez', key: null })).status).toBe(200);
  expect(mock.calls).toEqual([]);
  // A server that stops does not wait.
  for (const end of ends) await end();
  expect(received).toHaveLength(1);
});

test('an account without a password gets none: its provider decides who gets in', async () => {
  const { service, received } = await start();
  await signedIn(service, ada, 'owner');
  await signedIn(service, bob, 'viewer');
  await service.store.users.run({
    sql: 'DELETE FROM user_credential WHERE user_id = (SELECT id FROM user_account WHERE email = ?)',
    parameters: [bob],
  });
  expect((await ask(stranger(service), bob)).status).toBe(204);
  expect((await ask(stranger(service), ada)).status).toBe(204);
  await arrived(received, 1);
  expect(received.map(({ to }) => to)).toEqual([[ada]]);
});

test('a link sets a new password once, within an hour, and ends all sessions', async () => {
  const { service, received } = await start();
  const before = await signedIn(service, ada, 'owner');
  expect((await ask(stranger(service), ' ADA@example.org')).status).toBe(204);
  await arrived(received, 1);
  expect(received[0]).toMatchObject({ from: 'stats@example.org', to: [ada] });
  expect(received[0]?.source).toContain('works once, within an hour:');
  const asked = stranger(service);
  expect((await ask(asked, ada)).status).toBe(204);
  await arrived(received, 2);
  const [token, other] = [tokenOf(service, received, 0), tokenOf(service, received, 1)];
  // Its end is the same in all links of an address.
  const ownEnd = [...token].findLastIndex((character, at) => character !== other[at]) + 1;
  expect(ownEnd * 6).toBeGreaterThanOrEqual(240);
  service.hide(newPassword);
  expect((await reset(stranger(service), `${token}x`)).status).toBe(404);
  expect((await before.send({ path: '/api/sessions' })).status).toBe(200);
  const browser = stranger(service);
  expect((await reset(browser, token)).status).toBe(204);
  for (const dead of [token, other]) expect((await reset(browser, dead)).status).toBe(404);
  expect((await before.send({ path: '/api/sessions' })).status).toBe(401);
  expect((await browser.send({ path: '/api/sessions' })).status).toBe(401);
  expect((await browser.signIn(ada, PASSWORD)).status).toBe(401);
  expect((await browser.signIn(ada, newPassword)).status).toBe(200);
  expect(await passwordEntries(service)).toEqual([
    [ada, browser.from, ada, 'set with a reset link; all sessions ended'],
    ['not signed in', asked.from, ada, 'reset link sent by e-mail'],
    ['not signed in', expect.any(String), ada, 'reset link sent by e-mail'],
  ]);

  expect((await ask(stranger(service), ada)).status).toBe(204);
  await arrived(received, 3);
  travel(Date.now() + resetLinkSeconds * 1000);
  expect((await reset(browser, tokenOf(service, received), 'a third long passphrase')).status).toBe(404);
});

test('a link ends with the address that it was sent to', async () => {
  const { service, received } = await start();
  await signedIn(service, ada, 'owner');
  await ask(stranger(service), ada);
  await arrived(received, 1);
  const rename = 'UPDATE user_account SET email = ? WHERE email = ?';
  await service.store.users.run({ sql: rename, parameters: ['eve@example.org', ada] });
  const token = tokenOf(service, received);
  expect((await reset(stranger(service), token)).status).toBe(404);
  await service.store.users.run({ sql: rename, parameters: [ada, 'eve@example.org'] });
  expect((await reset(stranger(service), token)).status).toBe(204);
});

test('a link lets the browser in after ten wrong passwords, but not past the second factor', async () => {
  const { service, received } = await start();
  const owner = await signedIn(service, ada, 'owner');
  const begin = { path: '/api/account/second-factor/start', body: { password: PASSWORD } };
  const { uri } = await owner.ask<{ uri: string }>(begin);
  await owner.ask({ path: '/api/account/second-factor/confirm', body: { code: codeNow(uri) } }, 204);
  const browser = stranger(service);
  for (let at = 0; at < guessesMax; at++) await browser.signIn(ada, `wrong guess no ${at}`);
  expect((await browser.signIn(ada)).status).toBe(429);
  await ask(browser, ada);
  await arrived(received, 1);
  expect((await reset(browser, tokenOf(service, received))).status).toBe(204);
  const entered = await browser.signIn(ada, newPassword);
  expect([entered.status, JSON.parse(entered.text)]).toEqual([200, { secondFactor: true }]);
  expect((await browser.send({ path: '/api/sessions' })).status).toBe(401);
});

test('strangers who ask for links fill a mailbox slowly, and use up none of them', async () => {
  const { service, received } = await start();
  await signedIn(service, ada, 'owner');
  const goOn = (ms: number): void => {
    travel(Date.now() + ms);
    service.clock.nowMs += ms;
  };
  const given = givenBack(service);
  const asksInVain = async (times: number) => {
    goOn(1);
    expect((await ask(stranger(service), ada)).status).toBe(204);
    await vi.waitFor(() => expect(given()).toBe(times));
  };
  const getsOne = async () => {
    const before = received.length;
    expect((await ask(stranger(service), ada)).status).toBe(204);
    await arrived(received, before + 1);
  };
  for (let at = 0; at < resetMailsMax; at++) await getsOne();
  await asksInVain(1);
  // Whoever asks has a link that is not older than this, or gets one.
  goOn(resetMailAgainSeconds * 1000 - 1000);
  await asksInVain(2);
  goOn(1000);
  await getsOne();
  await asksInVain(3);
  expect(received).toHaveLength(resetMailsMax + 1);
  // Shortly before the limit ends, the link that was mailed first still works.
  goOn((resetLinkSeconds - resetMailAgainSeconds) * 1000 - 60_000);
  await getsOne();
  await asksInVain(4);
  expect((await reset(stranger(service), tokenOf(service, received, 0))).status).toBe(204);
  // The used one ended the others: the next mail comes at once.
  await getsOne();
  expect((await reset(stranger(service), tokenOf(service, received))).status).toBe(204);
});

test('of many who ask at once for one who has got many, one gets a mail', async () => {
  const { service, received } = await start();
  await signedIn(service, ada, 'owner');
  for (let at = 0; at < resetMailsMax; at++) {
    await ask(stranger(service), ada);
    await arrived(received, at + 1);
  }
  travel(Date.now() + resetMailAgainSeconds * 1000);
  service.clock.nowMs += resetMailAgainSeconds * 1000;
  // None looks at the others before all are noted.
  const release = holdAccounts(service, /^select .* like /i);
  const { mock } = vi.mocked(service.store.users.run);
  const looking = () => mock.calls.filter(([{ sql }]) => /^select .* like /i.test(sql)).length;
  const given = givenBack(service);
  await Promise.all(Array.from({ length: 20 }, () => ask(stranger(service), ada)));
  await vi.waitFor(() => expect(looking()).toBe(20), { timeout: 20_000 });
  release();
  await vi.waitFor(() => expect(given()).toBe(19), { timeout: 20_000 });
  await arrived(received, resetMailsMax + 1);
});

test.each([
  ['one address', () => '198.51.100.7'],
  ['one network of IPv6', (at: number) => `2001:db8::${at + 1}`],
])('visitors of %s may ask so often, for whomever', async (_what, from) => {
  const { service } = await start();
  for (let at = 0; at < resetRequestsMax; at++)
    expect((await ask(new Browser(service, from(at)), `nobody-${at}@example.org`)).status).toBe(204);
  const refused = await ask(new Browser(service, from(resetRequestsMax)), ada);
  expect([refused.status, errorOf(refused)]).toEqual([
    429,
    'Too many links were asked for from your network. Try again in an hour.',
  ]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await ask(new Browser(service, '198.51.100.8'), ada)).status).toBe(204);
  service.clock.nowMs += resetLinkSeconds * 1000;
  expect((await ask(new Browser(service, from(0)), ada)).status).toBe(204);
});

test('a mail that the mail server refuses counts for nobody, and the log says why, but not whose it is', async () => {
  const { service } = await start({ refuses: true });
  await signedIn(service, ada, 'owner');
  const given = givenBack(service);
  for (let at = 0; at <= resetMailsMax; at++) {
    expect((await ask(stranger(service), ada)).status).toBe(204);
    await vi.waitFor(() => expect(given()).toBe(at + 1), { timeout: 20_000 });
  }
  await vi.waitFor(() => expect(service.log()).toMatch(/"problem":"[^"]*451[^"]*".*was not sent/));
  expect(service.log()).not.toContain(ada);
  expect(await passwordEntries(service)).toEqual([]);
});

test('no more requests wait than one process works on', async () => {
  const { service } = await start();
  const release = holdAccounts(service);
  for (let at = 0; at < resetRequestsWaitingMax; at++)
    expect((await ask(new Browser(service, `10.0.${at}.1`), `nobody-${at}@example.org`)).status).toBe(204);
  const refused = await ask(new Browser(service, '10.1.0.1'), ada);
  release();
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, expect.any(String)]);
});

test('mails that wait for the mail server refuse nobody, so they do not tell who has an account', async () => {
  const { service, received } = await start();
  const people = Math.ceil(resetRequestsWaitingMax / resetMailsMax) + 1;
  for (let at = 0; at < people; at++) await signedIn(service, `${at}-${ada}`, 'viewer');
  // A mail server would give up.
  const release = holdAccounts(service, /^insert/i);
  const statuses = new Set<number>();
  for (let at = 0; at < people * resetMailsMax; at++)
    statuses.add((await ask(stranger(service), `${at % people}-${ada}`)).status);
  for (const email of [`0-${ada}`, bob]) statuses.add((await ask(stranger(service), email)).status);
  expect([...statuses]).toEqual([204]);
  await vi.waitFor(() => expect(service.log()).toMatch(/"too many mails are on their way".*was not sent/), {
    timeout: 20_000,
  });
  release();
  await arrived(received, resetRequestsWaitingMax);
  // Those that were not sent count for nobody.
  expect((await ask(stranger(service), `${people - 1}-${ada}`)).status).toBe(204);
  await arrived(received, resetRequestsWaitingMax + 1);
});

test('whatever ends the links lets the person have others at once', async () => {
  const { service, received } = await start();
  const owner = await signedIn(service, ada, 'owner');
  const fill = async () => {
    for (let at = 0; at < resetMailsMax; at++) {
      const before = received.length;
      await ask(stranger(service), ada);
      await arrived(received, before + 1);
    }
  };
  service.hide(newPassword);
  const { users } = usersOf(service.store);
  const ends = [
    () => owner.ask({ path: '/api/account/password', body: { password: PASSWORD, newPassword } }, 204),
    () => users.endAllSessions(ada),
  ];
  for (const end of ends) {
    await fill();
    await end();
  }
  await fill();
});

test('a member of nothing gets a link all the same: what they may open is not the question', async () => {
  const { service, received } = await start();
  await signedIn(service, ada, 'owner');
  await signedIn(service, bob, 'viewer');
  await service.store.directory.removeMember('default', bob, by);
  await ask(stranger(service), bob);
  await arrived(received, 1);
  expect(received[0]?.to).toEqual([bob]);
});

test('a server that stops sends what it was asked for first', async () => {
  const { held, release } = hold();
  const ends: (() => Promise<void>)[] = [];
  const { service, received } = await start({ held }, (end) => void ends.unshift(end));
  await signedIn(service, ada, 'owner');
  expect((await ask(stranger(service), ada)).status).toBe(204);
  const [stop, ...others] = ends;
  const stopped = stop?.();
  release();
  await stopped;
  expect(received.map(({ to }) => to)).toEqual([[ada]]);
  for (const end of others) await end();
});
