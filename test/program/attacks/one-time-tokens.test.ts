/** Everything that works once, used many times at once through two servers of one database: exactly one use succeeds. */
import { describe, expect, test } from 'vitest';
import { newInvitation } from '../../../src/domain/people/invitation.js';
import { Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { type Service, startService } from '../../support/http/http.js';
import { by, databases } from '../../support/storage/store.js';
import { codeNow, codesOf, travel, usersOf } from '../../support/users/visitor.js';
import { isDeep } from '../../support/volume.js';

const ada = 'ada@example.org';
const times = isDeep ? 32 : 4;

/**
 * Sends a request `times` times at once, from different browsers; returns those that it succeeded for. Before that, each
 * browser runs `prepare`, one after the other, because few may sign in at once.
 */
async function race(
  servers: readonly Service[],
  send: (browser: Browser, at: number) => Promise<{ readonly status: number }>,
  prepare: (browser: Browser) => Promise<void> = async () => {},
): Promise<Browser[]> {
  const browsers = Array.from(
    { length: times },
    (_, at) => new Browser(servers[at % 2] as Service, `192.0.2.${at}`),
  );
  for (const browser of browsers) await prepare(browser);
  const statuses = await Promise.all(browsers.map(async (browser, at) => (await send(browser, at)).status));
  for (const status of statuses) expect(status).toBeLessThan(500);
  return browsers.filter((_, at) => (statuses[at] ?? 0) < 300);
}

const isSignedIn = async (browser: Browser) => (await browser.ask({ path: '/api/session' }))['user'] !== null;

/** The deep run uses all databases. */
const some = isDeep ? databases : databases.slice(0, 1);

describe.each(some)('on %s, one of many gets in with', (_kind, newDatabase) => {
  const startTwo = async () => {
    const first = await startService({ database: newDatabase() });
    return [first, await startService({ database: first.databaseUrl, keys: first.keys })] as const;
  };
  /** A user with a second factor, and browsers in which the password was right. */
  const withFactor = async (servers: readonly [Service, Service]) => {
    const browser = await signedIn(servers[0], ada, 'owner');
    const start = { path: '/api/account/second-factor/start', body: { password: PASSWORD } };
    const { uri, backupCodes } = await browser.ask<{ uri: string; backupCodes: string[] }>(start);
    const confirm = { path: '/api/account/second-factor/confirm', body: { code: codeNow(uri) } };
    await browser.ask(confirm, 204);
    return { code: codesOf(uri), backupCodes };
  };
  const enter = (code: string) => (browser: Browser) =>
    browser.send({ path: '/api/sign-in/second-factor', body: { code } });
  const enterPassword = async (browser: Browser) => {
    expect((await browser.signIn(ada)).status).toBe(200);
  };

  test('an invitation', async () => {
    const servers = await startTwo();
    const token = await invite(servers[0], ada, 'editor');
    const winners = await race(servers, (browser, at) =>
      browser.send({
        path: '/api/invitations/accept',
        body: { token, name: `Name ${at}`, password: PASSWORD },
      }),
    );
    expect(winners).toHaveLength(1);
    expect((await servers[1].store.directory.listMembers('default')).map(({ email }) => email)).toEqual([
      ada,
    ]);
  });

  test('a set-up link', async () => {
    const servers = await startTwo();
    const { store, clock } = servers[0];
    const wanted = { organizationId: 'default', email: null, role: 'owner', projects: [] } as const;
    const { invitation, token } = newInvitation(wanted, {
      by: { ...by, at: clock.nowMs },
      randomInt: (max) => max - 1,
    });
    await store.directory.createInvitation(invitation, { ...by, at: clock.nowMs });
    const addresses = Array.from({ length: times }, (_, at) => `person${at}@example.org`);
    const winners = await race(servers, (browser, at) =>
      browser.send({
        path: '/api/set-up',
        body: { token, name: 'N', email: addresses[at], password: PASSWORD },
      }),
    );
    expect(winners).toHaveLength(1);
    expect(await store.directory.listMembers('default')).toHaveLength(1);
    expect([...(await store.directory.findUsers(addresses)).keys()]).toHaveLength(1);
  });

  test('a link that sets a new password', async () => {
    const servers = await startTwo();
    await signedIn(servers[0], ada, 'owner');
    const token = await usersOf(servers[0].store).credentials.startPasswordReset(ada);
    const passwords = new Map<Browser, string>();
    const winners = await race(servers, (browser, at) => {
      const password = `a new passphrase, number ${at}`;
      passwords.set(browser, password);
      return browser.send({ path: '/api/password-reset', body: { token, password } });
    });
    expect(winners).toHaveLength(1);
    // Only a few of the others, because there is a limit of wrong passwords.
    const others = [...passwords.keys()].filter((browser) => !winners.includes(browser)).slice(0, 3);
    for (const browser of [...others, ...winners]) {
      const { status } = await new Browser(servers[1], '198.51.100.1').signIn(ada, passwords.get(browser));
      expect(status).toBe(winners.includes(browser) ? 200 : 401);
    }
  });

  test('a code of an authenticator app', async () => {
    travel(Math.floor(Date.now() / 30_000) * 30_000 + 15_000);
    const servers = await startTwo();
    const { code } = await withFactor(servers);
    travel(Date.now() + 30_000);
    const winners = await race(servers, enter(code(Date.now())), enterPassword);
    expect(winners).toHaveLength(1);
    expect(await isSignedIn(winners[0] as Browser)).toBe(true);
  });

  test('a backup code', async () => {
    const servers = await startTwo();
    const { backupCodes } = await withFactor(servers);
    const winners = await race(servers, enter(backupCodes[0] ?? ''), enterPassword);
    expect(winners).toHaveLength(1);
    expect(await isSignedIn(winners[0] as Browser)).toBe(true);
  });

  test('the rotation of a key', async () => {
    const servers = await startTwo();
    const owner = await signedIn(servers[0], ada, 'owner');
    const before = await servers[0].store.directory.listKeys('default');
    const winners = await race(servers, (browser) => {
      for (const [name, value] of owner.cookies) browser.setCookie(name, value);
      return browser.send({ path: '/api/organizations/default/keys/admin/rotate', body: { graceHours: 1 } });
    });
    expect(winners).toHaveLength(1);
    expect(await servers[1].store.directory.listKeys('default')).toHaveLength(before.length + 1);
  });
});
