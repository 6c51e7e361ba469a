/** What the audit log and the metrics say of sign-ins. */
import { QueryClient } from '@tanstack/react-query';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { auditQuery, readAllEntries } from '../../../dashboard/src/api/audit.js';
import { ACCOUNT_EVENTS } from '../../../src/auth/sign-in-log.js';
import { auditEntriesMax, guessesMax, guessWindowSeconds } from '../../../src/domain/limits.js';
import { Metrics } from '../../../src/observability/metrics/metrics.js';
import { auditOf, Browser, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { type Service, sharedService, startService } from '../../support/http/http.js';
import { by } from '../../support/storage/store.js';
import { runOnUsers } from '../../support/users/people.js';
import { codeNow, travel, usersOf } from '../../support/users/visitor.js';

const ada = 'ada@example.org';
const addressOf = (number: number) => `198.51.100.${number}`;

/** The entries about users, oldest first. */
async function entriesOf(service: Service): Promise<string[]> {
  return (await auditOf(service))
    .filter(({ action }) => action.startsWith('user.'))
    .map(({ actor, address, action, detail }) => `${actor} ${address} ${action} ${detail}`)
    .toReversed();
}

async function startMeasured() {
  const metrics = new Metrics(() => 0, { version: '0', database: 'sqlite' });
  const service = await startService({ metrics });
  const events = async () => {
    const page = await metrics.show();
    const found = page.matchAll(/^caller_stats_account_events_total\{event="(\w+)"\} (\d+)$/gm);
    return Object.fromEntries([...found].map(([, event, count]) => [event, Number(count)]));
  };
  const none = Object.fromEntries(ACCOUNT_EVENTS.map((event) => [event, 0]));
  return { service, events, none };
}

test('a flood of failures has one entry of each kind in a window, and is counted', async () => {
  const { service, events, none } = await startMeasured();
  const known = await signedIn(service, ada, 'owner', { from: '192.0.2.1' });
  expect(await events()).toEqual({ ...none, sign_in: 1 });
  const guess = (at: number) => new Browser(service, addressOf(at)).signIn(ada, 'not the passphrase');
  for (let at = 1; at <= guessesMax + 5; at++) await guess(at);
  for (let at = 1; at <= 3; at++) await new Browser(service, addressOf(at)).signIn('nobody@example.org', 'x');
  await known.signIn(ada, 'not the passphrase');
  const window = [
    `not signed in ${addressOf(1)} user.sign_in_failure passwords, from an unknown browser`,
    `not signed in ${addressOf(guessesMax + 1)} user.lockout passwords, from an unknown browser`,
    `not signed in 192.0.2.1 user.sign_in_failure passwords, from a known browser`,
  ];
  expect(await entriesOf(service)).toEqual(window);
  expect(await events()).toEqual({ ...none, sign_in: 1, failure: guessesMax + 4, lockout: 5 });
  service.clock.nowMs += guessWindowSeconds * 1000;
  await guess(50);
  expect(await entriesOf(service)).toEqual([
    ...window,
    `not signed in ${addressOf(50)} user.sign_in_failure passwords, from an unknown browser`,
  ]);
  const { rows } = await runOnUsers(service.store, 'SELECT key FROM {login_throttle}');
  expect(JSON.stringify(rows)).not.toContain('example');
});

test('wrong codes, and being locked out by them, are recorded', async () => {
  const { service, events } = await startMeasured();
  const browser = await signedIn(service, ada, 'owner');
  const start = { path: '/api/account/second-factor/start', body: { password: PASSWORD } };
  const { uri } = await browser.ask<{ uri: string }>(start);
  const body = { code: codeNow(uri) };
  await browser.ask({ path: '/api/account/second-factor/confirm', body }, 204);
  for (let at = 0; at <= guessesMax; at++) {
    const stranger = new Browser(service, addressOf(at));
    await stranger.signIn(ada);
    const code = at % 2 === 0 ? '000000' : 'no-backup-code';
    await stranger.send({ path: '/api/sign-in/second-factor', body: { code } });
  }
  expect((await entriesOf(service)).slice(1)).toEqual([
    `not signed in ${addressOf(0)} user.sign_in_failure codes`,
    `not signed in ${addressOf(guessesMax)} user.lockout codes`,
  ]);
  expect(await events()).toMatchObject({ failure: guessesMax, lockout: 1 });
});

test('each sign-in is recorded with its kind of proof, and no failed one', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  await new Browser(service).signIn(ada);
  await new Browser(service).signIn(ada, 'not the passphrase');
  const { uri, backupCodes } = await browser.ask<{ uri: string; backupCodes: string[] }>({
    path: '/api/account/second-factor/start',
    body: { password: PASSWORD },
  });
  for (const code of backupCodes) service.hide(code);
  await browser.ask({ path: '/api/account/second-factor/confirm', body: { code: codeNow(uri) } }, 204);
  travel(Date.now() + 30_000);
  for (const code of ['wrong', codeNow(uri), backupCodes[0]]) {
    const other = new Browser(service, addressOf(1));
    await other.signIn(ada);
    await other.send({ path: '/api/sign-in/second-factor', body: { code } });
  }
  expect((await entriesOf(service)).filter((entry) => entry.includes('user.sign_in '))).toEqual([
    `${ada} ${browser.from} user.sign_in with a password`,
    `${ada} ${addressOf(1)} user.sign_in with a code as the second factor`,
    `${ada} ${addressOf(1)} user.sign_in with a backup code as the second factor`,
  ]);
});

test('used resets, ended sessions and granted trust are recorded', async () => {
  const { service, events, none } = await startMeasured();
  const browser = await signedIn(service, ada, 'owner');
  const token = await usersOf(service.store).credentials.startPasswordReset(ada);
  const reset = { path: '/api/password-reset', body: { token, password: PASSWORD } };
  await browser.ask(reset, 204);
  await browser.ask(reset, 404);
  const [one, other] = [new Browser(service), new Browser(service)];
  for (const each of [browser, one, other]) await each.signIn(ada);
  const { sessions } = await browser.ask<{ sessions: { id: string; current: boolean }[] }>({
    path: '/api/sessions',
  });
  const id = sessions.find(({ current }) => !current)?.id;
  const body = { password: PASSWORD };
  await browser.ask({ path: `/api/sessions/${id}/end`, body }, 204);
  await browser.ask({ path: '/api/sessions/end-others', body }, 204);
  await browser.ask({ path: '/api/sessions/end-others', body }, 204);
  const { uri } = await browser.ask<{ uri: string }>({
    path: '/api/account/second-factor/start',
    body: { password: PASSWORD },
  });
  const code = () => codeNow(uri);
  await browser.ask({ path: '/api/account/second-factor/confirm', body: { code: code() } }, 204);
  travel(Date.now() + 30_000);
  await one.signIn(ada);
  await one.ask({ path: '/api/sign-in/second-factor', body: { code: code(), trustDevice: true } }, 204);
  await one.ask({ path: '/api/sign-out', body: {} }, 204);
  await one.ask({ path: '/api/sign-out', body: {} }, 204);
  const by = `${ada} ${browser.from}`;
  expect(await entriesOf(service)).toEqual([
    `${by} user.password set with a reset link; all sessions ended`,
    ...new Array(3).fill(`${by} user.sign_in with a password`),
    `${by} user.session_end one, from another`,
    `${by} user.session_end all others: 1`,
    `${by} user.second_factor on`,
    `${by} user.sign_in with a code as the second factor`,
    `${by} user.trust granted to a device`,
    `${by} user.session_end signed out`,
  ]);
  expect(await events()).toEqual({ ...none, sign_in: 5, password_reset: 1, session_end: 3, trust: 1 });
});

describe('the dashboard reads a log that no single response has', () => {
  const service = sharedService();
  let numbers: readonly number[] = [];
  beforeAll(async () => {
    const owner = await signedIn(service(), ada, 'owner');
    for (let at = 0; at <= auditEntriesMax; at++)
      await service().store.directory.changeProject('default', 'docs', { name: `Docs ${at}` }, by);
    const all = await service().store.directory.readAudit('default', { limit: 2 * auditEntriesMax });
    numbers = all.map(({ number }) => number);
    expect(numbers.length).toBeGreaterThan(auditEntriesMax);
    // The browser's, which sends the cookies of the session.
    vi.stubGlobal('fetch', async (path: string) => {
      const { status, text } = await owner.send({ path });
      return new Response(text, { status });
    });
  });
  afterAll(() => vi.unstubAllGlobals());

  test('for the CSV, with every entry once', async () => {
    const entries = await readAllEntries('default', {});
    expect(entries.map(({ number }) => number)).toEqual(numbers);
  });

  test('a page at a time, with Load more', async () => {
    const { pages } = await new QueryClient().fetchInfiniteQuery({ ...auditQuery('default', {}), pages: 3 });
    const entries = pages.flatMap((page) => page.entries);
    expect(entries.map(({ number }) => number)).toEqual(numbers.slice(0, 150));
  });
});
