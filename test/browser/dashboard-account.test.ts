/** Sessions, passwords and two-factor authentication, for a user with two browsers. */
import { createHash } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import { expectAccessible } from '../support/browser/accessible.js';
import type { Visit } from '../support/browser/browser.js';
import { dashboardStarters } from '../support/browser/dashboard-server.js';
import { type Person, person, Session } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { readDownload } from '../support/browser/download.js';
import { sharedByTests } from '../support/cleanup.js';

const open = dashboardVisits();

/** Expects that the server refused at least one read of a page whose session has ended: whichever came first. */
async function expectRefusals({ troubles }: Pick<Visit, 'troubles'>): Promise<void> {
  const refused = (await troubles.unexpected()).filter((one) => /^GET \/api\/.*: 401$/.test(one));
  expect(refused).not.toEqual([]);
  troubles.expect(...refused);
}

describe.each(dashboardStarters)('on %s', (_kind, start) => {
  const shared = sharedByTests(startSetUp(start));

  /**
   * Opens several browsers of the same user. Waits until the account page has loaded its sessions: a page that is
   * still loading would notice the end of its session before the test clicks anything.
   */
  async function openAs(someone: Person, paths: readonly string[]) {
    const { server, session } = shared();
    await session.bring(someone, 'editor');
    const visits: Visit[] = [];
    for (const path of paths) {
      const visit = await open({ server, session: await Session.signIn(server, someone) }, path);
      if (path === '/account') await visit.page.getByText('This one').waitFor();
      await visit.page.waitForLoadState('networkidle');
      visits.push(visit);
    }
    return visits as [Visit, Visit];
  }

  test('visitors are sent to sign-in and then to the page they wanted', async () => {
    const { server } = shared();
    const { page, troubles } = await open({ server, session: null }, '/');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    // Masked, open to password managers and to pasting.
    const password = page.getByLabel('Password', { exact: true });
    expect(await password.getAttribute('type')).toBe('password');
    expect(await password.getAttribute('autocomplete')).toBe('current-password');
    expect(await allowsPasting(page, '[autocomplete=current-password]')).toBe(true);
    await page.goto('/audit?action=project.create');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    troubles.expect('POST /api/sign-in: 401');
    await signIn(page, { ...person('Ada'), password: 'not the right one' });
    await page.getByText('The e-mail address or the password is wrong.').waitFor();
    expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.com');
    await signIn(page, person('Ada'));
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    expect(new URL(page.url()).search).toBe('?action=project.create');
    // The pages of other users are not accessible.
    for (const to of ['//example.com', '/\\example.com', 'https://example.com/']) {
      await page.goto(`/sign-in?to=${encodeURIComponent(to)}`);
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(new URL(page.url()).origin).toBe(server.url);
    }
  });

  test('an application reads only after a click, until another, and the browser follows no address by itself', async () => {
    const { server, session } = shared();
    const returnTo = `${server.url}/account`;
    const registered = await fetch(`${server.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Chat', redirect_uris: [returnTo] }),
    });
    const { client_id } = (await registered.json()) as { readonly client_id: string };
    const verifier = 'v'.repeat(43);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const asks = (more: Readonly<Record<string, string>>) =>
      `/connect?${new URLSearchParams({ client_id, redirect_uri: returnTo, code_challenge: challenge, code_challenge_method: 'S256', ...more })}`;
    const { page } = await open({ server, session }, asks({ response_type: 'token' }));
    const giveBack = page.getByRole('button', { name: 'Return to' });
    await giveBack.waitFor();
    await page.waitForLoadState('networkidle');
    expect(new URL(page.url()).pathname).toBe('/connect');
    await expectAccessible(page);
    await giveBack.click();
    await page.waitForURL(/error=unsupported_response_type/);
    const answers: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && new URL(request.url()).pathname === '/api/applications')
        answers.push(request.postData() ?? '');
    });
    await page.goto(asks({ response_type: 'code', state: 'first' }));
    const allow = page.getByRole('button', { name: 'Allow', exact: true });
    await allow.waitFor();
    await expectAccessible(page);
    const { host } = new URL(server.url);
    for (const said of [
      'Chat wants to read the counts of your projects as ada@example.com.',
      'It can change nothing',
      'It may do so for at most a year, or until you disconnect it on your account page.',
      `you return to ${host}`,
      'anybody can choose a name',
    ])
      expect(await page.getByRole('main').innerText()).toContain(said);
    // Nobody allows it by a key that was meant for the page before.
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    await page.waitForLoadState('networkidle');
    expect([new URL(page.url()).pathname, answers]).toEqual(['/connect', []]);
    await page.getByRole('button', { name: 'Do not allow' }).click();
    await page.waitForURL(/error=access_denied/);
    expect(new URL(page.url()).searchParams.get('code')).toBeNull();
    await page.getByRole('heading', { name: 'Connected applications' }).waitFor();
    await page.getByText('There are none.').waitFor();
    // Another request, although it is the same application.
    await page.goto(asks({ response_type: 'code', state: 'second' }));
    await allow.click();
    await page.waitForURL(/code=/);
    expect(answers.map((body) => JSON.parse(body) as object)).toMatchObject([
      { query: expect.stringContaining('state=first'), allow: false },
      { query: expect.stringContaining('state=second'), allow: true },
    ]);

    // The person ends the connection, once it is one.
    const code = new URL(page.url()).searchParams.get('code') ?? '';
    const fields = { client_id, code, redirect_uri: returnTo, code_verifier: verifier };
    const exchanged = await fetch(`${server.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'authorization_code', ...fields }),
    });
    const { access_token } = (await exchanged.json()) as { readonly access_token: string };
    const ping = async () => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${access_token}` };
      const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
      return (await fetch(`${server.url}/mcp`, { method: 'POST', headers, body })).status;
    };
    expect(await ping()).toBe(200);
    await page.goto('/account');
    const connected = page.getByRole('list', { name: 'Connected applications' });
    await connected.getByRole('paragraph').filter({ hasText: 'Chat' }).waitFor();
    expect(await connected.innerText()).toMatch(/connected from 127\.0\.0\.1, last renewed/);
    await page.getByRole('button', { name: 'Disconnect Chat' }).click();
    await page.getByText('The application is disconnected').waitFor();
    await page.getByText('There are none.').waitFor();
    expect(await ping()).toBe(401);
  });

  test('a browser that blocks cookies is told so after the right password', async () => {
    const { page } = await open({ ...shared(), session: null }, '/sign-in');
    await page.route('**/api/sign-in', async (route) => {
      const response = await route.fetch();
      await page.context().clearCookies();
      const { 'set-cookie': _, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    await signIn(page, person('Ada'));
    await page.getByText('Allow cookies for this site, then sign in again.').waitFor();
  });

  test('a session revoked elsewhere ends with the next action', async () => {
    const [here, there] = await openAs(person('Grace'), ['/account', '/account']);
    const sessions = here.page.getByRole('region', { name: 'Sessions' });
    await sessions.getByRole('button', { name: 'End all others…' }).click();
    const dialog = here.page.getByRole('dialog', { name: 'End all other sessions?' });
    here.troubles.expect('POST /api/sessions/end-others: 401');
    await dialog.getByLabel('Your password').fill('not the right one');
    await dialog.getByRole('button', { name: 'End all others' }).click();
    await dialog.getByText('The password is wrong.').waitFor();
    await dialog.getByLabel('Your password').fill(person('Grace').password);
    await dialog.getByRole('button', { name: 'End all others' }).click();
    await here.page.getByText('All other sessions are ended').waitFor();
    expect(await sessions.getByRole('listitem').count()).toBe(1);

    await there.page.getByRole('link', { name: 'API keys' }).click();
    await there.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(there.page, person('Grace'));
    await there.page.getByRole('heading', { name: 'API keys' }).waitFor();
    await expectRefusals(there);
    await here.page.getByRole('heading', { name: 'Your account' }).waitFor();
  });

  test('signing out affects every tab, and going back shows nothing', async () => {
    const [{ page, context, troubles }] = await openAs(person('Alan'), ['/projects/demo/keys']);
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    const tab = await context.newPage();
    await tab.goto('/members');
    await tab.getByRole('heading', { name: 'Members' }).waitFor();
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await tab.getByRole('link', { name: 'Audit log' }).click();
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectRefusals({ troubles });
    const answer = await context.request.get('/api/organizations/default/keys');
    expect(answer.status()).toBe(401);
  });

  test('the next user of a page sees none of the data that it loaded', async () => {
    const [{ page, troubles }] = await openAs(person('Dorothy'), ['/account']);
    const { server, session } = shared();
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByText('dorothy@example.com').waitFor();
    await page.context().clearCookies();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectRefusals({ troubles });
    // Nothing but the page's own memory answers.
    const held = /\/api\/(sessions|organizations\/\w+\/members)$/;
    await page.route(held, () => {});
    const joan = person('Joan');
    await session.bring(joan, 'viewer');
    await signIn(page, joan);
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { name: 'Members' }).waitFor();
    expect(await page.getByText('dorothy@example.com').count()).toBe(0);
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Your account' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    expect(await page.getByText('This one').count()).toBe(0);
    await page.unroute(held);

    // The same if they sign in on another page of the browser.
    await page.goto('/account');
    await page.getByText('This one').waitFor();
    const { signedIn } = await Session.signIn(server, person('Dorothy'));
    await page.context().addCookies(signedIn.cookies);
    await page.route(held, () => {});
    await page.getByLabel('Your name').fill('Another');
    await page.getByRole('button', { name: 'Save name' }).click();
    await page.getByText('dorothy@example.com').waitFor();
    expect(await page.getByText('This one').count()).toBe(0);
  });

  test('a page that was left keeps nothing, and is loaded again if the browser shows it once more', async () => {
    const { page } = await open(shared(), '/members');
    await page.getByText('ada@example.com').waitFor();
    // Browsers that keep pages for their Back button send these; the one of the tests keeps none.
    const happens = (what: string) =>
      page.evaluate(`dispatchEvent(new PageTransitionEvent('${what}', { persisted: true }))`);
    await happens('pagehide');
    expect(await page.evaluate('document.body.innerText')).toBe('');
    const loaded = page.waitForEvent('load');
    await happens('pageshow');
    await loaded;
    await page.getByText('ada@example.com').waitFor();
  });

  test('a new password ends the other sessions and invalidates the old password', async () => {
    const barbara = person('Barbara');
    const { server } = shared();
    const [here, there] = await openAs(barbara, ['/account', '/account']);
    const form = here.page.getByRole('form', { name: 'Password' });
    const change = async (current: string, next: string) => {
      await form.getByLabel('Current password').fill(current);
      await form.getByLabel('New password').fill(next);
      await form.getByRole('button', { name: 'Change password' }).click();
    };
    here.troubles.expect('POST /api/account/password: 401');
    await change('not the right one', 'another good passphrase');
    await form.getByText('The password is wrong.').waitFor();
    await change(barbara.password, 'another good passphrase');
    await here.page.getByText('Your password is changed.').waitFor();

    there.troubles.expect('PATCH /api/account: 401');
    await there.page.getByLabel('Your name').fill('Ada there');
    await there.page.getByRole('button', { name: 'Save name' }).click();
    await there.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    there.troubles.expect('POST /api/sign-in: 401');
    await signIn(there.page, barbara);
    await there.page.getByText('The e-mail address or the password is wrong.').waitFor();
    await signIn(there.page, { ...barbara, password: 'another good passphrase' });
    await there.page.getByRole('heading', { name: 'Your account' }).waitFor();
    expect((await here.context.request.get('/api/sessions')).status()).toBe(200);
    expect(await Session.signIn(server, barbara).catch(({ message }) => message)).toMatch('401');
  });

  test('two-factor authentication is set up, required, passed with a backup code and turned off', async () => {
    const hedy = person('Hedy');
    const { server } = shared();
    const [{ page, troubles }] = await openAs(hedy, ['/account']);
    await page.getByRole('button', { name: 'Set up…' }).click();
    await page.getByRole('dialog').getByLabel('Your password').fill(hedy.password);
    await page.getByRole('button', { name: 'Continue' }).click();
    const store = page.getByRole('dialog', { name: 'Step 1 of 2: Store the backup codes' });
    const shown = await store.locator('pre').innerText();
    const { text: saved } = await readDownload(page, () =>
      store.getByRole('button', { name: 'Download codes' }).click(),
    );
    expect(saved).toBe(`${shown}\n`);
    const [firstCode = '', secondCode = '', thirdCode = '', fourthCode = ''] = shown.split('\n');
    await store.getByLabel('I have stored the backup codes').check();
    await store.getByRole('button', { name: 'Continue' }).click();
    const pair = page.getByRole('dialog', { name: 'Step 2 of 2: Pair your app' });
    const secret = await pair.locator('.copied code').innerText();
    const codes = new Codes(secret);
    troubles.expect('POST /api/account/second-factor/confirm: 401');
    await pair.getByLabel('Code from the app').fill(codes.wrong());
    await pair.getByRole('button', { name: 'Turn on' }).click();
    await pair.getByText('This is not the code that the app shows now.').waitFor();
    await pair.getByLabel('Code from the app').fill(await codes.current());
    await pair.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('Two-factor authentication is on').waitFor();
    expect(await page.content()).not.toContain(secret);

    const other = await open({ server, session: null }, '/account');
    await signIn(other.page, hedy);
    await other.page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor();
    // The password alone is not enough.
    expect((await other.context.request.get('/api/sessions')).status()).toBe(401);
    other.troubles.expect('POST /api/sign-in/second-factor: 401');
    await give(other.page, 'Code', codes.wrong());
    await other.page.getByText('The code is wrong or too old').waitFor();
    await other.page.getByRole('button', { name: 'Use a backup code' }).click();
    // The app shows the same code for half a minute, and each works once.
    await other.page.getByLabel('Trust this device').check();
    await give(other.page, 'Backup code', thirdCode);
    await other.page.getByRole('heading', { name: 'Your account' }).waitFor();
    const stop = other.page.getByRole('button', { name: /^Stop trusting/ });
    await stop.click();
    await other.page.getByText('The device is not trusted any more').waitFor();
    await stop.waitFor({ state: 'detached' });

    for (const backup of [firstCode, secondCode]) {
      const lost = await open({ server, session: null }, '/sign-in');
      await signIn(lost.page, hedy);
      await lost.page.getByRole('button', { name: 'Use a backup code' }).click();
      if (backup === secondCode) {
        lost.troubles.expect('POST /api/sign-in/second-factor: 401');
        await give(lost.page, 'Backup code', firstCode);
        await lost.page.getByRole('alert').waitFor();
      }
      await give(lost.page, 'Backup code', backup);
      await lost.page.getByRole('heading', { name: 'Overview' }).waitFor();
    }

    await page.getByRole('button', { name: 'Turn off…' }).click();
    const off = page.getByRole('dialog', { name: 'Turn off two-factor authentication?' });
    await off.getByLabel('Your password').fill(hedy.password);
    await off.getByLabel('Code', { exact: true }).fill(codes.wrong());
    troubles.expect('POST /api/account/second-factor/stop: 401');
    await off.getByRole('button', { name: 'Turn off' }).click();
    await off.getByText('The code is wrong or too old').waitFor();
    await expectAccessible(page);
    await off.getByLabel('Code', { exact: true }).fill(fourthCode);
    await off.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Two-factor authentication is off').waitFor();
    const after = await open({ server, session: null }, '/sign-in');
    await signIn(after.page, hedy);
    await after.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
});

async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Submits a code in the second step. */
async function give(page: Page, field: 'Code' | 'Backup code', code: string): Promise<void> {
  await page.getByLabel(field, { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** An authenticator app that knows only SHA-1. */
class Codes {
  readonly #totp: TOTP;

  constructor(secret: string) {
    this.#totp = new TOTP({ secret: Secret.fromBase32(secret) });
  }

  /** A code that works for five more seconds: the page is another process, with a clock of its own. */
  async current(): Promise<string> {
    const left = () => this.#totp.remaining();
    await vi.waitFor(() => expect(left()).toBeGreaterThan(5000), { timeout: 10_000 });
    return this.#totp.generate();
  }

  /** The code of an hour ago. */
  wrong(): string {
    return this.#totp.generate({ timestamp: Date.now() - 3_600_000 });
  }
}

/** Whether the page lets the browser insert what the user pastes. */
function allowsPasting(page: Page, selector: string): Promise<boolean> {
  const event = "new ClipboardEvent('paste', { bubbles: true, cancelable: true })";
  return page.evaluate(`document.querySelector('${selector}').dispatchEvent(${event})`);
}
